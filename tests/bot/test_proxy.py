"""Out of a box only to named hosts."""

import asyncio
import tempfile
from pathlib import Path

import pytest

from bot.sandbox import box as boxes
from bot.sandbox import proc, proxy
from bot.sandbox.box import Box
from tests.needs import needs

HOSTS = ("registry.npmjs.org", "*.pythonhosted.org")


@pytest.mark.parametrize(
    ("host", "port", "allowed"),
    [
        ("registry.npmjs.org", 443, True),
        ("REGISTRY.npmjs.org.", 443, True),
        ("files.pythonhosted.org", 443, True),
        ("pythonhosted.org", 443, False),
        ("evilpythonhosted.org", 443, False),
        ("registry.npmjs.org.evil.test", 443, False),
        ("registry.npmjs.org", 22, False),
        ("registry.npmjs.org", 80, False),
        ("127.0.0.1", 443, False),
        ("2130706433", 443, False),
        ("localhost", 443, False),
    ],
)
def test_only_tls_to_a_named_host_is_allowed(host: str, port: int, allowed: bool) -> None:
    assert proxy.is_allowed(host, port, HOSTS) is allowed


async def _shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write((await reader.readline()).upper())
    writer.close()


async def _ask(socket: Path, *lines: bytes) -> bytes:
    reader, writer = await asyncio.open_unix_connection(socket)
    writer.write(b"".join(lines))
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return answer


@pytest.mark.parametrize(
    ("ask", "status", "refused"),
    [
        (b"CONNECT registry.npmjs.org:443 HTTP/1.1\r\n\r\nhello\n", b"200", []),
        (b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n", b"403", ["evil.test:443"]),
        (b"GET http://registry.npmjs.org/ HTTP/1.1\r\n\r\n", b"405", []),
        (b"CONNECT registry.npmjs.org:443@evil.test:443 HTTP/1.1\r\n\r\n", b"405", []),
        (b"CONNECT x.pythonhosted.org:443 HTTP/1.1\r\n\r\n", b"502", []),
    ],
    ids=["allowed", "another host", "not a tunnel", "a name that confuses", "a host that is down"],
)
async def test_a_tunnel_is_opened_or_refused_with_the_reason(ask: bytes, status: bytes, refused: list[str]) -> None:
    said: list[str] = []
    server = await asyncio.start_server(_shout, "127.0.0.1", 0)
    reach = {"registry.npmjs.org": server.sockets[0].getsockname()[:2], "x.pythonhosted.org": ("127.0.0.1", 1)}
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        async with proxy.serve(Path(folder, "p"), HOSTS, on_refused=said.append, reach=reach):
            answer = await _ask(Path(folder, "p"), ask)
    server.close()
    assert (answer.split()[1], said, answer.endswith(b"HELLO\n")) == (status, refused, status == b"200")


@needs("bwrap", package="bubblewrap")
@needs("curl", package="curl")
async def test_a_boxed_program_reaches_what_is_named_and_nothing_else(tmp_path: Path) -> None:
    for name in ("slot", "home"):
        (tmp_path / name).mkdir()
    server = await asyncio.start_server(_shout, "127.0.0.1", 0)
    reach = {"registry.npmjs.org": server.sockets[0].getsockname()[:2]}
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        socket = Path(folder, "p")
        box = Box(mode="bubblewrap", workdir=tmp_path / "slot", home=tmp_path / "home", network="registries",
                  proxy=socket)  # fmt: skip
        script = (
            "for host in registry.npmjs.org evil.test; do curl -sv https://$host/ 2>&1 | grep -o 'HTTP/1.1 [0-9]*'; done;"
            "curl -s --noproxy '*' https://registry.npmjs.org/ || echo no way around"
        )
        argv, env = boxes.wrap(box, ["bash", "-c", script], env={})
        async with proxy.serve(socket, HOSTS, reach=reach):
            done = await proc.run(*argv, cwd=box.workdir, env=env, limit_s=20)
    server.close()
    assert done.output.split("\n") == ["HTTP/1.1 200", "HTTP/1.1 403", "no way around", ""]
