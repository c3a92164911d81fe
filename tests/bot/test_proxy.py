"""Out of a box only to named hosts."""

import asyncio
import socket
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.sandbox import box as boxes
from bot.sandbox import proc, proxy, reach
from bot.sandbox.box import Box
from bot.sandbox.out import way_out
from bot.sandbox.proxy import Rule
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


@dataclass
class Far:
    """The internet: every address of it is one server on loopback, and what was asked of it is kept."""

    names: dict[str, list[list[str]]]  # what a name is said to be, answer by answer
    connected: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    port: int = 0

    async def resolve(self, host: str) -> list[str]:
        answers = self.names.get(host, [[host] if host[0].isdigit() else []])
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async def connect(self, address: str, port: int) -> proxy.Streams:
        self.connected.append(f"{address}:{port}")
        if address == PUBLIC_DOWN:
            raise ConnectionRefusedError("refused")
        return await asyncio.open_connection("127.0.0.1", self.port)

    def rule(self, hosts: tuple[str, ...] | None, *, private: tuple[str, ...] = ()) -> Rule:
        return Rule(
            hosts, private, resolve=self.resolve, connect=self.connect, own=lambda: ["203.0.113.9"],
            on_refused=self.refused.append,
        )  # fmt: skip

    async def ask(self, rule: Rule, asked: bytes) -> tuple[str, str]:
        """Return the proxy's status and the last line of what came back."""
        with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
            async with proxy.serve(Path(folder, "p"), rule):
                reader, writer = await asyncio.open_unix_connection(Path(folder, "p"))
                writer.write(asked)
                answer = (await asyncio.wait_for(reader.read(), 10)).decode()
                writer.close()
        return answer.split()[1], answer.rstrip().split("\n")[-1].rstrip()


PUBLIC, PUBLIC_DOWN = "203.0.113.1", "203.0.113.2"  # documentation addresses: no machine has them


@pytest.fixture
async def far() -> AsyncIterator[Far]:
    server = await asyncio.start_server(_shout, "127.0.0.1", 0)
    names = {
        "registry.npmjs.org": [[PUBLIC]], "x.pythonhosted.org": [[PUBLIC_DOWN]], "two.test": [[PUBLIC_DOWN, PUBLIC]],
        "inside.test": [["10.0.0.5"]], "mixed.test": [["127.0.0.1", PUBLIC]], "npm.corp.test": [["10.0.0.5"]],
        "rebinds.test": [[PUBLIC], ["127.0.0.1"]], "this-host.test": [["203.0.113.9"]],
    }  # fmt: skip
    yield Far(names, port=server.sockets[0].getsockname()[1])
    server.close()


@pytest.mark.parametrize(
    ("ask", "answer", "refused"),
    [
        (b"CONNECT registry.npmjs.org:443 HTTP/1.1\r\n\r\nhello\n", ("200", "HELLO"), []),
        (b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n",
         ("403", "evil.test:443 is not among the hosts that this repository may reach"), ["evil.test:443"]),
        (b"GET http://registry.npmjs.org/ HTTP/1.1\r\n\r\n", ("405", "only CONNECT is served: use https"), []),
        (b"CONNECT registry.npmjs.org:443@evil.test:443 HTTP/1.1\r\n\r\n",
         ("405", "only CONNECT is served: use https"), []),
        (b"CONNECT x.pythonhosted.org:443 HTTP/1.1\r\n\r\n",
         ("502", "x.pythonhosted.org cannot be reached: refused"), []),
        (b"CONNECT y.pythonhosted.org:443 HTTP/1.1\r\n\r\n",
         ("502", "y.pythonhosted.org cannot be reached: nobody knows that name"), []),
    ],
    ids=["allowed", "another host", "not a tunnel", "a name that confuses", "a host that is down", "an unknown name"],
)  # fmt: skip
async def test_a_tunnel_is_opened_or_refused_with_the_reason(
    far: Far, ask: bytes, answer: tuple[str, str], refused: list[str]
) -> None:
    assert (await far.ask(far.rule(HOSTS), ask), far.refused) == (answer, refused)


@pytest.mark.parametrize(
    ("ask", "answer", "connected"),
    [
        (b"CONNECT two.test:22 HTTP/1.1\r\n\r\nhello\n", ("200", "HELLO"), [f"{PUBLIC_DOWN}:22", f"{PUBLIC}:22"]),
        (b"CONNECT 203.0.113.1:443 HTTP/1.1\r\n\r\nhello\n", ("200", "HELLO"), [f"{PUBLIC}:443"]),
        (b"POST http://two.test:8000/a?b HTTP/1.1\r\nProxy-Connection: x\r\nHost: two.test\r\n\r\n",
         ("/A?B", "POST /A?B HTTP/1.1"), [f"{PUBLIC_DOWN}:8000", f"{PUBLIC}:8000"]),
        (b"CONNECT mixed.test:443 HTTP/1.1\r\n\r\nhello\n", ("200", "HELLO"), [f"{PUBLIC}:443"]),
        (b"CONNECT npm.corp.test:443 HTTP/1.1\r\n\r\nhello\n", ("200", "HELLO"), ["10.0.0.5:443"]),
        (b"CONNECT inside.test:443 HTTP/1.1\r\n\r\n",
         ("403", "inside.test:443 leads to this machine or its network, not out of it"), []),
        (b"CONNECT this-host.test:443 HTTP/1.1\r\n\r\n",
         ("403", "this-host.test:443 leads to this machine or its network, not out of it"), []),
        (b"CONNECT two.test:99999 HTTP/1.1\r\n\r\n", ("400", "expected a port of 1 to 65535, got 99999"), []),
    ],
    ids=["the next address", "an address", "plain http", "of two the public one", "what the operator lets in", "private",
         "this machine", "no port"],
)  # fmt: skip
async def test_an_open_network_leads_out_and_never_inside(
    far: Far, ask: bytes, answer: tuple[str, str], connected: list[str]
) -> None:
    assert (await far.ask(far.rule(None, private=("npm.corp.test",)), ask), far.connected) == (answer, connected)


async def test_a_name_that_changes_its_address_is_connected_to_where_it_was_checked(far: Far) -> None:
    rule, ask = far.rule(None), b"CONNECT rebinds.test:443 HTTP/1.1\r\n\r\nhello\n"
    first, second = await far.ask(rule, ask), await far.ask(rule, ask)
    assert (first, second[0], far.connected) == (("200", "HELLO"), "403", [f"{PUBLIC}:443"])


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True), ("2606:4700::1111", True), ("64:ff9b::808:808", True),
        ("127.0.0.1", False), ("127.8.8.8", False), ("0.0.0.0", False), ("10.1.2.3", False), ("172.20.0.1", False),
        ("192.168.1.1", False), ("100.64.0.1", False), ("169.254.169.254", False), ("192.0.0.192", False),
        ("168.63.129.16", False), ("224.0.0.1", False), ("255.255.255.255", False), ("1.1.1.1", False),
        ("::1", False), ("::", False), ("fe80::1%eth0", False), ("fd00:ec2::254", False), ("ff02::1", False),
        ("::ffff:127.0.0.1", False), ("::127.0.0.1", False), ("64:ff9b::7f00:1", False), ("2002:7f00:1::", False),
        ("2001:0:4136:e378:8000:63bf:80ff:fffe", False), ("fec0::1", False), ("not an address", False),
    ],
)  # fmt: skip
def test_what_leads_inside_is_known_in_every_spelling(address: str, public: bool) -> None:
    assert reach.is_public(address, own=["1.1.1.1", "fe80::9%eth0"]) is public


@needs("bwrap", package="bubblewrap")
@needs("curl", package="curl")
async def test_a_boxed_program_reaches_what_is_named_and_nothing_else(tmp_path: Path, far: Far) -> None:
    for name in ("slot", "home"):
        (tmp_path / name).mkdir()
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        socket = Path(folder, "p")
        box = Box(mode="bubblewrap", workdir=tmp_path / "slot", home=tmp_path / "home", network="registries",
                  proxy=socket)  # fmt: skip
        script = (
            "for host in registry.npmjs.org evil.test; do curl -sv https://$host/ 2>&1 | grep -o 'HTTP/1.1 [0-9]*'; done;"
            "curl -s --noproxy '*' https://registry.npmjs.org/ || echo no way around"
        )
        argv, env = boxes.wrap(box, ["bash", "-c", script], env={})
        async with proxy.serve(socket, far.rule(HOSTS)):
            done = await proc.run(*argv, cwd=box.workdir, env=env, limit_s=20)
    assert done.output.split("\n") == ["HTTP/1.1 200", "HTTP/1.1 403", "no way around", ""]


@needs("bwrap", package="bubblewrap")
@needs("curl", package="curl")
async def test_an_open_box_does_not_reach_a_server_of_this_machine_by_any_name(tmp_path: Path) -> None:
    for name in ("slot", "home"):
        (tmp_path / name).mkdir()
    reached: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append(await reader.readline())
        writer.close()

    server = await asyncio.start_server(serve, "0.0.0.0", 0)
    port = server.sockets[0].getsockname()[1]
    names = ["127.0.0.1", "localhost", "0.0.0.0", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", socket.gethostname(),
             *(a for a in reach.own_addresses() if a.count(".") == 3)]  # fmt: skip
    asks = "; ".join(f"curl -sg -m 5 --noproxy '' http://{name}:{port}/; curl -sg -m 5 --noproxy '*' http://{name}:{port}/"
                     f"; curl -sgp -m 5 --noproxy '' http://{name}:{port}/" for name in names)  # fmt: skip
    refused: list[str] = []
    box = Box(mode="bubblewrap", workdir=tmp_path / "slot", home=tmp_path / "home", network="open")
    async with way_out(box, on_refused=refused.append) as opened:
        argv, env = boxes.wrap(opened, ["bash", "-c", asks], env={})
        await proc.run(*argv, cwd=box.workdir, env=env, limit_s=60)
    server.close()
    assert (reached, {where.rpartition(":")[0] for where in refused} >= {"127.0.0.1", "localhost"}) == ([], True)
