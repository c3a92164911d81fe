"""The only way out of a box: with `network = "registries"` tunnels to named hosts, with `open` to the whole internet.

It listens on a Unix socket that the box can see; inside, the bridge turns a loopback port into that socket. Whatever a
name says, it never leads to this machine or its network: the address that was checked is the one that is connected to,
so a name that changes its address in between gains nothing.
"""

import asyncio
import contextlib
import ipaddress
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bot.sandbox import reach

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
_HOST = rb"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])"
_CONNECT = re.compile(rb"CONNECT " + _HOST + rb":(\d{1,5}) HTTP/1\.[01]\r\n")
_PLAIN = re.compile(rb"([A-Z]{3,12}) http://" + _HOST + rb"(?::(\d{1,5}))?(/[^ \r\n]*)? (HTTP/1\.[01])\r\n")
_HOP = re.compile(rb"(?im)^(?:proxy-[a-z-]*|connection|keep-alive):[^\r\n]*\r\n")

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True, slots=True)
class Rule:
    """What a box may reach: named hosts over TLS, or with `hosts` None everything but this machine and its network."""

    hosts: tuple[str, ...] | None = None
    private: tuple[str, ...] = ()  # names that the operator lets lead into its own network, such as a mirror's
    resolve: Callable[[str], Awaitable[Sequence[str]]] = reach.resolve
    connect: Callable[[str, int], Awaitable[Streams]] = asyncio.open_connection
    own: Callable[[], Sequence[str]] = reach.own_addresses
    on_refused: Callable[[str], None] = field(default=lambda _: None)


def environment(port: int = PORT) -> dict[str, str]:
    """Return what programs inside must know to use the proxy; tools disagree about upper and lower case."""
    url = f"http://127.0.0.1:{port}"
    names = (
        "HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy", "ALL_PROXY", "all_proxy", "npm_config_https_proxy",
        "npm_config_proxy",
    )  # fmt: skip
    java = " ".join(f"-D{kind}.proxyHost=127.0.0.1 -D{kind}.proxyPort={port}" for kind in ("http", "https"))
    return {
        **dict.fromkeys(names, url), "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost",
        "NODE_USE_ENV_PROXY": "1", "MAVEN_OPTS": java, "GRADLE_OPTS": java,
    }  # fmt: skip


def is_allowed(host: str, port: int, hosts: Iterable[str]) -> bool:
    """Return whether a tunnel may be opened: TLS to a name of the list; `*.example.org` stands for any name below."""
    name = host.rstrip(".").lower()
    return port == 443 and not _is_address(name) and _is_named(name, hosts)


def _is_named(name: str, hosts: Iterable[str]) -> bool:
    for entry in hosts:
        wanted = entry.lower()
        if name == wanted or (wanted.startswith("*.") and name.endswith(wanted[1:])):
            return True
    return False


def _is_address(name: str) -> bool:
    with contextlib.suppress(ValueError):
        ipaddress.ip_address(name.strip("[]"))
        return True
    return name.replace(".", "").isdigit()  # the short forms that resolvers take for addresses too


@asynccontextmanager
async def serve(socket: Path, rule: Rule) -> AsyncIterator[None]:
    """Listen on a Unix socket until the block ends, and lead where the rule allows."""
    proxy = _Proxy(rule)
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


class _Refused(Exception):
    """The answer to who asked, and where to; `rule` says that the rule forbids it and people should hear of it."""

    def __init__(self, status: str, why: str, *, rule: str = "") -> None:
        super().__init__(why)
        self.status = status
        self.rule = rule


@dataclass(frozen=True, slots=True)
class _Asked:
    """Where a request wants to go, and what is passed on of its head: nothing of a tunnel's."""

    host: str
    port: int
    head: bytes = b""


class _Proxy:
    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self.tasks: set[asyncio.Task[None]] = set()

    def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                await self._lead(reader, writer)
        finally:
            writer.close()

    async def _lead(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(HEAD_S):
            head = await reader.readuntil(b"\r\n\r\n")
        try:
            asked = _read_head(head, plain=self._rule.hosts is None)
            far_reader, far_writer = await self._open(asked)
        except _Refused as refused:
            if refused.rule:
                self._rule.on_refused(refused.rule)
            await _answer(writer, refused.status, str(refused))
            return
        try:
            if asked.head:
                far_writer.write(asked.head)
            else:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))
        finally:
            far_writer.close()

    async def _open(self, asked: _Asked) -> Streams:
        """Connect to an address that was checked; of a name's several, to the first that answers."""
        rule, host, port = self._rule, asked.host, asked.port
        where = f"{host}:{port}"
        if rule.hosts is not None and not is_allowed(host, port, rule.hosts):
            raise _Refused(
                "403 Forbidden", f"{where} is not among the hosts that this repository may reach", rule=where
            )
        found = await rule.resolve(host.strip("[]"))
        if not found:
            raise _Refused("502 Bad Gateway", f"{host} cannot be reached: nobody knows that name")
        if not _is_named(host.rstrip("."), rule.private):
            own = rule.own()
            found = [address for address in found if reach.is_public(address, own=own)]
        if not found:
            raise _Refused("403 Forbidden", f"{where} leads to this machine or its network, not out of it", rule=where)
        failed = ""
        for address in found:
            try:
                async with asyncio.timeout(CONNECT_S):
                    return await rule.connect(address, port)
            except (OSError, TimeoutError) as error:
                failed = str(error) or "it took too long"
        raise _Refused("502 Bad Gateway", f"{host} cannot be reached: {failed}")


def _read_head(head: bytes, *, plain: bool) -> _Asked:
    """Return what the first request of a connection asks for; plain HTTP is sent on as its last request."""
    if asked := _CONNECT.match(head):
        return _checked(asked[1], asked[2])
    asked = _PLAIN.match(head) if plain else None
    if asked is None:
        raise _Refused("405 Method Not Allowed", "only CONNECT is served: use https")
    method, host, port, path, version = asked.groups()
    rest = _HOP.sub(b"", head[asked.end() :])
    line = b"%s %s %s\r\nConnection: close\r\n" % (method, path or b"/", version)
    return _checked(host, port or b"80", line + rest)


def _checked(host: bytes, port: bytes, head: bytes = b"") -> _Asked:
    if not 0 < int(port) < 65536:
        raise _Refused("400 Bad Request", f"expected a port of 1 to 65535, got {int(port)}")
    return _Asked(host.decode().lower(), int(port), head)


async def _answer(writer: asyncio.StreamWriter, status: str, why: str) -> None:
    body = f"{why}\n".encode()
    writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
    await writer.drain()


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while True:
        async with asyncio.timeout(IDLE_S):
            chunk = await source.read(_CHUNK_BYTES)
        if not chunk:
            break
        sink.write(chunk)
        await sink.drain()
    if sink.can_write_eof():
        sink.write_eof()
