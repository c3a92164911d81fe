"""What a boxed command can and cannot do. Needs bubblewrap."""

import asyncio
import os
import tempfile
from pathlib import Path

import pytest

from bot.sandbox import box as boxes
from bot.sandbox import bridge, proc
from bot.sandbox.box import Box
from tests.needs import needs

pytestmark = needs("bwrap", package="bubblewrap")


def slot(tmp_path: Path, **options: object) -> Box:
    for name in ("slot", "home", "secrets"):
        (tmp_path / name).mkdir()
    (tmp_path / "secrets" / "key").write_text("s3cret")
    return Box(mode="bubblewrap", workdir=tmp_path / "slot", home=tmp_path / "home", **options)  # type: ignore[arg-type]


async def inside(box: Box, script: str) -> proc.Done:
    argv, env = boxes.wrap(box, ["bash", "-c", script], env={})
    return await proc.run(*argv, cwd=box.workdir, env=env, limit_s=20)


async def test_the_slot_is_writable_and_where_commands_start(tmp_path: Path) -> None:
    box = slot(tmp_path)
    done = await inside(box, "pwd; echo hi > made; cat made")
    assert (done.output, (box.workdir / "made").read_text()) == (f"{box.workdir}\nhi\n", "hi\n")


@pytest.mark.parametrize(
    "script",
    [
        "cat ../secrets/key",
        "ls /root/.ssh /home",
        "cat /etc/shadow",
        "echo x > /usr/share/planted",
        "echo x > /etc/planted",
        "exec 3<>/dev/tcp/127.0.0.1/22",
        "ls /proc/1/root/root",
        "mount -t tmpfs none /mnt",
    ],
)
async def test_nothing_else_is_within_reach(tmp_path: Path, script: str) -> None:
    done = await inside(slot(tmp_path), f"{script} 2>/dev/null && echo REACHED")
    assert "REACHED" not in done.output


async def test_no_process_of_the_host_is_seen(tmp_path: Path) -> None:
    done = await inside(slot(tmp_path), "ls -d /proc/[0-9]* | wc -l")
    assert int(done.output) < 6


async def test_the_environment_is_minimal(tmp_path: Path) -> None:
    done = await inside(slot(tmp_path), "env | cut -d= -f1 | sort | tr '\\n' ' '")
    assert done.output == "HOME LANG PATH PWD SHLVL SLUICE_PROCESS TMPDIR _ "


async def test_the_user_inside_has_a_name_and_the_home_that_the_box_gives_it(tmp_path: Path) -> None:
    done = await inside(slot(tmp_path), "whoami; id -gn; getent passwd 1000 | cut -d: -f6; getent passwd | wc -l")
    assert done.output == f"sluice\nsluice\n{tmp_path}/home\n3\n"


async def test_the_git_file_of_a_worktree_cannot_be_rewritten(tmp_path: Path) -> None:
    box = slot(tmp_path)
    (box.workdir / ".git").write_text("gitdir: /x\n")
    await inside(box, "echo gitdir: /evil > .git; rm -f .git; mv .git other")
    assert (box.workdir / ".git").read_text() == "gitdir: /x\n"


async def test_a_background_process_dies_with_the_command(tmp_path: Path) -> None:
    box = slot(tmp_path)
    await inside(box, "setsid sleep 300 & echo started")
    alive = [p for p in Path("/proc").glob("[0-9]*/environ") if _mentions(p, str(box.home))]
    assert alive == []


async def test_a_file_cannot_grow_past_its_limit(tmp_path: Path) -> None:
    box = slot(tmp_path, file_bytes=100_000)
    await inside(box, "head -c 1000000 /dev/zero > big")
    assert (box.workdir / "big").stat().st_size == 100_000


def _mentions(path: Path, text: str) -> bool:
    try:
        return text.encode() in path.read_bytes() and path.parent.name != str(os.getpid())
    except OSError:
        return False


async def test_a_link_in_place_of_tmp_does_not_open_the_host(tmp_path: Path) -> None:
    box = slot(tmp_path)
    await inside(box, f"rm -rf ~/tmp ../tmp; ln -s {tmp_path}/secrets ~/tmp; ln -s {tmp_path}/secrets ../tmp")
    done = await inside(box, "cat /tmp/key ~/tmp/key; echo evil > /tmp/key")

    assert ("s3cret" in done.output, (tmp_path / "secrets/key").read_text()) == (False, "s3cret")


async def test_a_readable_folder_below_tmp_is_seen(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        Path(folder, "x").write_text("seen")
        done = await inside(slot(tmp_path, readable=(Path(folder),)), f"cat {folder}/x")

    assert done.output == "seen"


async def test_a_port_inside_leads_to_a_socket_outside_and_nowhere_else(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        server = await asyncio.start_unix_server(_answer, Path(folder, "s"))
        box = slot(tmp_path, readable=(Path(folder), *bridge.needs()))
        ask = "exec 3<>/dev/tcp/127.0.0.1/8081; echo hi >&3; cat <&3; exec 3<>/dev/tcp/127.0.0.1/8082 || exit 7"
        argv, env = boxes.wrap(box, bridge.through(["bash", "-c", ask], ports={8081: Path(folder, "s")}), env={})
        done = await proc.run(*argv, cwd=box.workdir, env=env, limit_s=20)
        server.close()

    assert (done.output.splitlines()[0], done.exit_code) == ("you said hi", 7)


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"you said " + await reader.readline())
    writer.close()
