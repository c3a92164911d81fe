"""The only way out of a box with `network = "registries"`: tunnels to named hosts, and to nothing else.

It listens on a Unix socket that the box can see; inside, the bridge turns a loopback port into that socket.
"""

import asyncio
import contextlib
import ipaddress
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

# Where the well-known package managers fetch from; nothing that takes uploads without an account
REGISTRIES = (
    "registry.npmjs.org", "registry.yarnpkg.com", "repo.yarnpkg.com", "pypi.org", "files.pythonhosted.org",
    "index.crates.io", "static.crates.io", "proxy.golang.org", "sum.golang.org", "rubygems.org", "index.rubygems.org",
    "repo.packagist.org", "packagist.org", "codeload.github.com", "repo.maven.apache.org", "repo1.maven.org",
    "plugins.gradle.org", "plugins-artifacts.gradle.org", "services.gradle.org", "downloads.gradle.org",
    "api.nuget.org", "globalcdn.nuget.org",
)  # fmt: skip
PORT = 3128  # on the loopback of the box
HEAD_BYTES = 16_384
HEAD_S = 10.0
CONNECT_S = 20.0
IDLE_S = 300.0
_CHUNK_BYTES = 65_536
_CONNECT = re.compile(rb"CONNECT ([A-Za-z0-9.-]{1,253}):(\d{1,5}) HTTP/1\.[01]\r\n")


def environment(port: int = PORT) -> dict[str, str]:
    """Return what programs inside must know to use the proxy; tools disagree about upper and lower case."""
    url = f"http://127.0.0.1:{port}"
    names = ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy", "npm_config_https_proxy", "npm_config_proxy")
    return {**dict.fromkeys(names, url), "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}


def is_allowed(host: str, port: int, hosts: Iterable[str]) -> bool:
    """Return whether a tunnel may be opened: TLS to a name of the list; `*.example.org` stands for any name below."""
    name = host.rstrip(".").lower()
    if port != 443 or _is_address(name):
        return False
    for entry in hosts:
        wanted = entry.lower()
        if name == wanted or (wanted.startswith("*.") and name.endswith(wanted[1:])):
            return True
    return False


def _is_address(name: str) -> bool:
    with contextlib.suppress(ValueError):
        ipaddress.ip_address(name)
        return True
    return name.replace(".", "").isdigit()  # the short forms that resolvers take for addresses too


@asynccontextmanager
async def serve(
    socket: Path,
    hosts: Iterable[str],
    *,
    on_refused: Callable[[str], None] = lambda _: None,
    reach: Mapping[str, tuple[str, int]] | None = None,
) -> AsyncIterator[None]:
    """Listen on a Unix socket until the block ends; `reach` sends a name elsewhere, to a mirror of the operator's."""
    proxy = _Proxy(tuple(hosts), on_refused, reach or {})
    server = await asyncio.start_unix_server(proxy.take, socket, limit=HEAD_BYTES)
    try:
        yield
    finally:
        server.close()
        for task in tuple(proxy.tasks):
            task.cancel()
        await asyncio.gather(*proxy.tasks, return_exceptions=True)
        await server.wait_closed()
        socket.unlink(missing_ok=True)


class _Proxy:
    def __init__(
        self, hosts: tuple[str, ...], on_refused: Callable[[str], None], reach: Mapping[str, tuple[str, int]]
    ) -> None:
        self._hosts = hosts
        self._on_refused = on_refused
        self._reach = reach
        self.tasks: set[asyncio.Task[None]] = set()

    def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                await self._tunnel(reader, writer)
        finally:
            writer.close()

    async def _tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HEAD_S)
        asked = _CONNECT.match(head)
        if asked is None:
            await _answer(writer, "405 Method Not Allowed", "only CONNECT is served: use https")
            return
        host, port = asked[1].decode().lower(), int(asked[2])
        if not is_allowed(host, port, self._hosts):
            self._on_refused(f"{host}:{port}")
            await _answer(
                writer, "403 Forbidden", f"{host}:{port} is not among the hosts that this repository may reach"
            )
            return
        try:
            where = self._reach.get(host, (host, port))
            far_reader, far_writer = await asyncio.wait_for(asyncio.open_connection(*where), CONNECT_S)
        except (OSError, TimeoutError) as error:
            await _answer(writer, "502 Bad Gateway", f"{host} cannot be reached: {error or 'it took too long'}")
            return
        try:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))
        finally:
            far_writer.close()


async def _answer(writer: asyncio.StreamWriter, status: str, why: str) -> None:
    body = f"{why}\n".encode()
    writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
    await writer.drain()


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while chunk := await asyncio.wait_for(source.read(_CHUNK_BYTES), IDLE_S):
        sink.write(chunk)
        await sink.drain()
    if sink.can_write_eof():
        sink.write_eof()
