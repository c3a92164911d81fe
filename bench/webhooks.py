"""Durable deliveries a second beside Probot and bare Starlette, one pinned core each; latency at 200/s; a burst."""

import argparse
import asyncio
import hashlib
import hmac
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
SECRET = "bench"
BODY = json.dumps(
    {
        "action": "labeled", "label": {"name": "bot"}, "repository": {"full_name": "acme/app"},
        "sender": {"login": "ann", "id": 1, "type": "User"}, "issue": {"number": 1, "title": "Bug", "body": "x" * 600},
        "more": [{"id": n, "url": f"https://api.example.com/repos/acme/app/{n:08}"} for n in range(360)],
    }
).encode()  # fmt: skip
SIGNATURE = "sha256=" + hmac.new(SECRET.encode(), BODY, hashlib.sha256).hexdigest()
LUA = """
local file = io.open("BODY", "rb"); local body = file:read("*a"); file:close()
local n = 0
local headers = {["content-type"] = "application/json", ["x-github-event"] = "issues",
                 ["x-hub-signature-256"] = "SIGNATURE"}
request = function()
  n = n + 1; headers["x-github-delivery"] = "RUN-" .. n
  return wrk.format("POST", "/webhook", headers, body)
end
"""
PROBOT = 'import { run } from "probot";\nrun((app) => { app.on("issues.labeled", async () => {}); });\n'


def serve(kind: str, port: int, data: Path, sync_s: float) -> None:
    """Run one of our servers in this process."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    async def bare(request: Request) -> PlainTextResponse:
        await request.body()
        return PlainTextResponse("ok", 202)

    routes = [Route("/webhook", bare, methods=["POST"])]
    if kind == "ours":
        routes = _ours(data, sync_s)
    uvicorn.run(Starlette(routes=routes), port=port, log_level="error", access_log=False, loop="asyncio")


def _ours(data: Path, sync_s: float) -> list:
    from bot.inbox.webhook import Receiver
    from bot.tickets.store import Store, open_store, sqlite_url

    class SlowDisk(Store):
        """A store whose commits take longer, as on a disk with slow syncs: the thread waits, the lock is given up."""

        @contextmanager
        def write(self) -> Iterator[object]:
            with super().write() as c:
                yield c
            time.sleep(sync_s)

    store = open_store(sqlite_url(data / "bench.db"))
    slow = SlowDisk(store.engine) if sync_s else store
    return Receiver(slow, [SECRET], now=time.time, stored=lambda: None).routes()


@contextmanager
def running(argv: list[str], port: int, env: dict[str, str], cwd: Path) -> Iterator[int]:
    """Run a server on the first core until it is not needed; yield its process id."""
    process = subprocess.Popen(["taskset", "-c", "0", *argv], env={**os.environ, **env}, cwd=cwd,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        else:
            raise SystemExit(f"{argv[0]} did not start listening")
        yield process.pid
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def hammer(port: int, folder: Path, seconds: int) -> tuple[float, str, str]:
    """Return requests a second, median and 99th percentile, as wrk on the second core measures them."""
    (folder / "body").write_bytes(BODY)
    lua = LUA.replace("BODY", str(folder / "body")).replace("SIGNATURE", SIGNATURE).replace("RUN", str(time.time_ns()))
    (folder / "post.lua").write_text(lua)
    argv = [
        "wrk",
        "-t1",
        "-c64",
        f"-d{seconds}s",
        "--latency",
        "-s",
        str(folder / "post.lua"),
        f"http://127.0.0.1:{port}",
    ]
    out = subprocess.run(["taskset", "-c", "1", *argv], capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in out:
        raise SystemExit(f"deliveries were refused:\n{out}")
    words = {line.split()[0]: line.split()[1] for line in out.splitlines() if len(line.split()) >= 2}
    return float(words["Requests/sec:"]), words["50%"], words["99%"]


def memory_mb(pid: int) -> float:
    """Return the most memory that a process ever had."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


async def post(port: int, guids: list[str], *, rate: float | None, connections: int) -> list[float]:
    """Post one delivery a guid over kept connections, at a rate or as fast as they go; return the seconds of each."""
    began, took = time.perf_counter(), []
    todo = iter(enumerate(guids))

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for n, guid in todo:
            at = began + n / rate if rate else time.perf_counter()
            if rate:
                await asyncio.sleep(max(0.0, at - time.perf_counter()))
            head = (
                f"POST /webhook HTTP/1.1\r\nhost: bench\r\ncontent-length: {len(BODY)}\r\nx-github-event: issues\r\n"
                f"x-github-delivery: {guid}\r\nx-hub-signature-256: {SIGNATURE}\r\n\r\n"
            )
            writer.write(head.encode() + BODY)
            answer = await reader.readuntil(b"\r\n\r\n")
            if b" 202 " not in answer.split(b"\r\n", 1)[0]:
                raise SystemExit(f"refused: {answer!r}")
            length = next(int(h.split(b":")[1]) for h in answer.split(b"\r\n") if h.startswith(b"content-length"))
            await reader.readexactly(length)
            took.append(time.perf_counter() - at)  # from when it was due: a late start counts too
        writer.close()

    await asyncio.gather(*(one() for _ in range(connections)))
    return sorted(took)


def probot(cache: Path) -> list[str] | None:
    """Return how to start Probot with an empty handler, installed once; None without node and npm."""
    if shutil.which("npm") is None:
        return None
    cache.mkdir(parents=True, exist_ok=True)
    if not (cache / "node_modules/probot").exists():
        (cache / "package.json").write_text('{"private": true, "type": "module"}')
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "probot@14"], cwd=cache, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    (cache / "serve.js").write_text(PROBOT)
    subprocess.run(["openssl", "genrsa", "-traditional", "-out", str(cache / "key.pem"), "2048"], check=True,
                   capture_output=True)  # fmt: skip
    return ["node", "serve.js"]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--burst", type=int, default=10_000)
    parser.add_argument("--serve", nargs=4, metavar=("KIND", "PORT", "DATA", "SYNC"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        kind, port, data, sync = given.serve
        serve(kind, int(port), Path(data), float(sync))
        return
    if shutil.which("wrk") is None:
        print("needs wrk: apt-get install wrk")
        return
    with tempfile.TemporaryDirectory() as folder:
        compare(Path(folder), given.seconds)
        paced(Path(folder), given.burst)


def compare(folder: Path, seconds: int) -> None:
    """Print deliveries a second of each server."""
    cache = ROOT / ".venv/bench/probot"
    node = probot(cache)
    rows: list[tuple[str, str, list[str] | None, float]] = [
        ("ours", "on disk", None, 0.0), ("ours, syncs 4 ms slower", "on disk", None, 0.004),
        ("bare Starlette, unsigned", "nowhere", None, 0.0), ("Probot 14, empty handler", "nowhere", node, 0.0),
    ]  # fmt: skip
    print(f"{len(BODY) / 1000:.0f} KB signed deliveries, 64 connections, one core each for server and wrk\n")
    print(f"{'server':28}{'stored':10}{'per second':>12}{'median':>10}{'99 %':>10}{'memory MB':>11}")
    for n, (name, stored, argv, sync_s) in enumerate(rows):
        if name.startswith("Probot") and argv is None:
            print(f"{name:28}needs node and npm: apt-get install nodejs npm")
            continue
        port, data = free_port(), folder / str(n)
        data.mkdir()
        env = {
            "APP_ID": "1", "PRIVATE_KEY_PATH": str(cache / "key.pem"), "WEBHOOK_SECRET": SECRET, "PORT": str(port),
            "WEBHOOK_PATH": "/webhook", "LOG_LEVEL": "fatal", "NODE_ENV": "production", "PYTHONPATH": str(ROOT),
        }  # fmt: skip
        kind = "ours" if name.startswith("ours") else "bare"
        ours = [sys.executable, __file__, "--serve", kind, str(port), str(data), str(sync_s)]
        with running(argv or ours, port, env, cache if argv else ROOT) as pid:
            rate, half, most = hammer(port, data, seconds)
            print(f"{name:28}{stored:10}{rate:12,.0f}{half:>10}{most:>10}{memory_mb(pid):11.0f}", flush=True)


def paced(folder: Path, burst: int) -> None:
    """Print the latency at 200 a second, and what a burst costs."""
    port, data = free_port(), folder / "paced"
    data.mkdir()
    argv = [sys.executable, __file__, "--serve", "ours", str(port), str(data), "0"]
    with running(argv, port, {"PYTHONPATH": str(ROOT)}, ROOT) as pid:
        os.sched_setaffinity(0, {1})
        took = asyncio.run(post(port, [f"paced-{n}" for n in range(1000)], rate=200, connections=16))
        before = memory_mb(pid)
        half, most, last = (took[n] * 1e3 for n in (500, 990, -1))
        print(f"\nat 200 a second: median {half:.1f} ms, 99 % {most:.1f} ms, most {last:.1f} ms")
        began = time.perf_counter()
        asyncio.run(post(port, [f"burst-{n}" for n in range(burst)], rate=None, connections=200))
        seconds = time.perf_counter() - began
        grown = memory_mb(pid) - before
    with sqlite3.connect(data / "bench.db") as db:
        (kept,) = db.execute("SELECT count(*) FROM deliveries WHERE guid LIKE 'burst-%'").fetchone()
    print(f"a burst of {burst:,}: {kept:,} stored in {seconds:.1f} s, memory grew by {grown:.0f} MB")


if __name__ == "__main__":
    main()
