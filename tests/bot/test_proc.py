"""Running what is not ours: bounded, and nothing left behind."""

import asyncio
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.sandbox import proc

ENV = {"PATH": os.environ["PATH"]}


async def bash(script: str, tmp_path: Path, **options: object) -> proc.Done:
    settings = {"limit_s": 20.0, **options}
    return await proc.run("bash", "-c", script, cwd=tmp_path, env=ENV, **settings)  # type: ignore[arg-type]


def is_dead(pid: str) -> bool:
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] == "Z"  # nobody buried it yet


async def test_output_and_exit_code_come_back(tmp_path: Path) -> None:
    lines: list[str] = []
    done = await bash("echo one; echo two >&2; exit 3", tmp_path, on_line=lines.append)
    assert (done.exit_code, done.output, lines) == (3, "one\ntwo\n", ["one", "two"])


async def test_stdin_is_fed(tmp_path: Path) -> None:
    assert (await bash("cat", tmp_path, stdin=b"hello")).output == "hello"


@pytest.mark.parametrize(
    ("options", "cut"), [({"limit_s": 0.3}, "timed_out"), ({"silence_s": 0.3}, "silent")], ids=["limit", "silence"]
)
async def test_a_process_that_hangs_is_ended(tmp_path: Path, options: dict[str, float], cut: str) -> None:
    done = await bash("trap '' TERM; sleep 60", tmp_path, **options)
    assert (done.exit_code, getattr(done, cut)) == (None, True)


async def test_a_cancelled_process_is_gone_within_a_second(tmp_path: Path) -> None:
    cancelled = asyncio.Event()
    asyncio.get_running_loop().call_later(0.2, cancelled.set)
    began = time.monotonic()
    done = await bash("sleep 60", tmp_path, cancelled=cancelled)
    assert done.cancelled
    assert time.monotonic() - began < 1.2


async def test_a_grandchild_in_a_session_of_its_own_does_not_survive(tmp_path: Path) -> None:
    await bash("setsid bash -c 'echo $$ > pid; sleep 60' >/dev/null 2>&1 & until [ -s pid ]; do :; done", tmp_path)
    assert is_dead((tmp_path / "pid").read_text().strip())


async def test_a_flood_of_output_stays_bounded_and_is_whole_in_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = await bash("yes | head -c 20000000", tmp_path, keep_bytes=1000, log=log)
    assert len(done.output) < 1100
    assert log.stat().st_size == 20_000_000


async def test_more_processes_than_allowed_end_it_all(tmp_path: Path) -> None:
    done = await bash("for i in $(seq 60); do sleep 300 & done; wait", tmp_path, processes=40)

    assert (done.crowded, done.exit_code, done.seconds < 20) == (True, None, True)


async def test_even_of_our_own_programs_nothing_outlives_a_limit(tmp_path: Path) -> None:
    script = "setsid bash -c 'echo $$ > pid; sleep 60' >/dev/null 2>&1 & sleep 60"
    done = await bash(script, tmp_path, ours=True, limit_s=1.0)
    assert (done.timed_out, is_dead((tmp_path / "pid").read_text().strip())) == (True, True)


async def test_no_thread_waits_for_a_child(tmp_path: Path) -> None:
    before = threading.active_count()
    started = await proc.start("cat", cwd=tmp_path, env=ENV)
    there = threading.active_count()
    await proc.end(started)
    assert (there, started.process.returncode) == (before, -9)


def test_each_loop_hears_of_its_own_children(tmp_path: Path) -> None:
    def ends() -> int | None:
        return asyncio.run(bash("exit 3", tmp_path)).exit_code

    with ThreadPoolExecutor(2) as pool:
        others = [pool.submit(ends) for _ in range(4)]
        assert [ends(), *(other.result() for other in others)] == [3] * 5
