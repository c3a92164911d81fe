"""What jobs leave behind: nothing of it stays in the slot, nothing outside of the slot changes; as root and as not."""

import asyncio
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.slots import clean
from bot.slots.pool import Pool
from bot.slots.slot import Slot
from bot.tickets.store import open_store, sqlite_url
from tests.bot.slots.origin import make_origin, run

NOBODY = 65534
PLAIN = [".git", ".gitignore", "a.txt", "src", "src/b.txt", "src/deep", "src/deep/c.txt"]

FILES = ["a.txt", "src/b.txt", "src/deep/c.txt"]


def listing(root: Path) -> list[str]:
    """Return all paths, with what files hold and where links lead, following none."""
    found = []
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = Path(folder, name)
            kind = f" -> {path.readlink()}" if path.is_symlink() else ""
            if not kind and path.is_file() and root.name == "outside":
                kind = f" = {path.read_text()!r} {path.stat().st_mode:o}"
            found.append(str(path.relative_to(root)) + kind)
    return sorted(found)


def as_user(uid: int, function: Callable[[Path], Any], folder: Path) -> Any:
    """Run a function in a child of another user, and return what it returned (of JSON's types)."""
    result = folder / "result.json"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            result.write_text(json.dumps(function(folder)))
        except BaseException:
            result.write_text(json.dumps(traceback.format_exc()))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    return json.loads(result.read_text())


@pytest.fixture(params=["as this user", "as nobody"])
def act(request: pytest.FixtureRequest) -> Iterator[Callable[[Callable[[Path], Any]], Any]]:
    nobody = request.param == "as nobody"
    if nobody and os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    folder = Path(tempfile.mkdtemp(prefix="slots-"))
    if nobody:
        os.chown(folder, NOBODY, NOBODY)
    yield lambda function: as_user(NOBODY, function, folder) if nobody else function(folder)
    subprocess.run(["chmod", "-R", "u+rwx", str(folder)], check=False)
    subprocess.run(["rm", "-rf", str(folder)], check=True)


def after(plant: Callable[[Slot, Path], None]) -> Callable[[Path], Any]:
    """Return a function that makes a slot, lets a job plant something, and gives the slot back."""

    async def life(folder: Path) -> Any:
        origin, outside = make_origin(folder / "origin"), folder / "outside"
        (outside / "folder").mkdir(parents=True)
        (outside / "folder" / "precious").write_text("precious")
        (outside / "file").write_text("precious")
        pool = Pool(folder / "slots", open_store(sqlite_url(folder / "s.db")), host="h", slots=1)
        await pool.open()
        slot = await pool.lease("acme/app", ticket=1, epoch=1)
        assert slot is not None
        sha = run("git", "rev-parse", "HEAD", cwd=origin)
        await pool.prepare(slot, url=str(origin), token=None, sha=sha, install=None, on_part=lambda *_: None)
        before = listing(outside)
        plant(slot, outside)
        proof = await pool.release(slot)
        await pool.close()
        unchanged = listing(outside) == before
        shown = listing(slot.path) if proof.clean else "quarantined"
        held = (
            {(slot.path / name).read_text(): f"{(slot.path / name).stat().st_mode:o}" for name in FILES}
            if proof.clean
            else {}
        )
        told = (slot.path, slot.path / "src", slot.path / "a.txt", slot.path / "src" / "b.txt")
        noted = [os.listxattr(path) for path in told] if proof.clean else []
        if any(noted):
            shown = f"not as committed: {noted}"
        if proof.clean and held != {"one\n": "100644", "b\n": "100644", "c\n": "100644"}:
            shown = f"not as committed: {held}"
        return [proof.clean, unchanged, shown, [p.name for p in slot.trash.iterdir()]]

    return lambda folder: asyncio.run(life(folder))


def _links(slot: Slot, outside: Path) -> None:
    for name, target in {
        "l1": outside,
        "l2": outside / "file",
        "l3": "nowhere",
        "l4": "l4",
        "l5": "/",
        "l6": "..",
    }.items():
        (slot.path / name).symlink_to(target)
        (slot.path / "src" / name).symlink_to(target)


def _tracked_folder_is_a_link(slot: Slot, outside: Path) -> None:
    shutil.rmtree(slot.path / "src")
    (outside / "folder" / "deep").mkdir()
    (slot.path / "src").symlink_to(outside / "folder")
    (outside / "folder" / "deep").rmdir()


def _tracked_file_is_a_folder(slot: Slot, outside: Path) -> None:
    (slot.path / "a.txt").unlink()
    (slot.path / "a.txt" / "x").mkdir(parents=True)
    (slot.path / "a.txt" / "x" / "y").write_text("y")
    shutil.rmtree(slot.path / "src")
    (slot.path / "src").write_text("a file now")


def _odd_files(slot: Slot, outside: Path) -> None:
    os.mkfifo(slot.path / "fifo")
    (slot.path / "a.txt").unlink()
    os.mkfifo(slot.path / "a.txt")
    here = Path.cwd()
    os.chdir(slot.path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    os.chdir(here)
    os.link(outside / "file", slot.path / "hard")
    os.link(outside / "file", slot.path / "src" / "hard")


def _what_git_would_wait_for(slot: Slot, outside: Path) -> None:
    """Leave FIFOs where git looks for its own files: it would open them and wait for somebody to write."""
    (slot.path / ".gitignore").unlink()
    (slot.git_dir / "index").unlink()
    for path in (".gitattributes", "src/.gitattributes", ".gitignore", "src/deep/.gitignore", ".gitmodules"):
        os.mkfifo(slot.path / path)
    os.mkfifo(slot.git_dir / "index")


def _closed_folders(slot: Slot, outside: Path) -> None:
    for mode in (0o000, 0o555, 0o333):
        inner = slot.path / f"closed{mode:o}" / "in"
        inner.mkdir(parents=True)
        (inner / "file").write_text("x")
        (inner / "file").chmod(0o000)
        inner.chmod(mode)
        inner.parent.chmod(mode)
    (slot.path / "src" / "deep" / "new").mkdir()
    (slot.path / "src" / "deep" / "c.txt").write_text("changed")
    (slot.path / "src" / "deep" / "new").chmod(0o000)
    (slot.path / "src" / "deep").chmod(0o000)
    (slot.path / "src").chmod(0o555)


def _repositories(slot: Slot, outside: Path) -> None:
    run("git", "init", "-q", "nested", cwd=slot.path)
    run("git", "init", "-q", "--bare", "bare.git", cwd=slot.path)
    run("git", "init", "-q", "src/deep/inner", cwd=slot.path)
    (slot.path / "pointer").mkdir()
    (slot.path / "pointer" / ".git").write_text(f"gitdir: {outside}\n")


def _odd_names(slot: Slot, outside: Path) -> None:
    for name in (
        b"\xff\xfe",
        b"new\nline",
        b"-rf",
        b"*",
        b'quo"te',
        b"back\\slash",
        b"  ",
        b"\x1b[31m",
        "ünï".encode(),
    ):
        (slot.path / os.fsdecode(name)).mkdir()
        (slot.path / "src" / os.fsdecode(name)).touch()


def _very_deep(slot: Slot, outside: Path) -> None:
    fd = os.open(slot.path, os.O_DIRECTORY)
    for _ in range(4000):
        os.mkdir("d", dir_fd=fd)
        below = os.open("d", os.O_DIRECTORY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)


def _very_wide(slot: Slot, outside: Path) -> None:
    (slot.path / "src" / "wide").mkdir()
    for n in range(10_000):
        (slot.path / "src" / "wide" / str(n)).touch()


def _flags_in_the_index(slot: Slot, outside: Path) -> None:
    git = ("git", f"--git-dir={slot.git_dir}", f"--work-tree={slot.path}", "update-index")
    run(*git, "--skip-worktree", "a.txt", cwd=slot.path)
    run(*git, "--assume-unchanged", "src/b.txt", cwd=slot.path)
    (slot.path / "a.txt").write_text("left")
    (slot.path / "src" / "b.txt").write_text("left")
    (slot.git_dir / "index.lock").touch()


def _attributes(slot: Slot, outside: Path) -> None:
    for folder in (slot.path, slot.path / "src"):
        (folder / ".gitattributes").write_text("* text eol=crlf\n")  # how git is to write what it mends
    (slot.path / "a.txt").write_text("changed")
    (slot.path / "src" / "b.txt").write_text("changed")


def _notes_on_folders(slot: Slot, outside: Path) -> None:
    """Plant an attribute, and the rights that new files in a folder inherit: everybody may write them."""
    for folder in (slot.path, slot.path / "src"):
        os.setxattr(folder, "user.note", b"from the last job")
        everybody = struct.pack("<I" + "HHI" * 3, 2, 0x01, 7, 0xFFFFFFFF, 0x04, 7, 0xFFFFFFFF, 0x20, 7, 0xFFFFFFFF)
        os.setxattr(folder, "system.posix_acl_default", everybody)


def _notes_on_files(slot: Slot, outside: Path) -> None:
    """Plant attributes on a file that stays as it is, and on one that is changed; times are set back where they can be."""
    (slot.path / "a.txt").write_text("changed\n")
    for name in ("a.txt", "src/b.txt"):
        before = (slot.path / name).stat()
        os.setxattr(slot.path / name, "user.note", b"from the last job")
        os.utime(slot.path / name, ns=(before.st_atime_ns, before.st_mtime_ns))


CLEANED = (
    _links, _notes_on_folders, _notes_on_files, _tracked_folder_is_a_link, _tracked_file_is_a_folder, _odd_files,
    _what_git_would_wait_for, _closed_folders, _repositories,
    _attributes, _odd_names, _very_deep, _very_wide, _flags_in_the_index,
)  # fmt: skip


@pytest.mark.parametrize("plant", CLEANED, ids=lambda f: f.__name__.strip("_"))
def test_nothing_of_a_job_stays_and_nothing_outside_changes(
    act: Callable[..., Any], plant: Callable[..., None]
) -> None:
    assert act(after(plant)) == [True, True, PLAIN, []]


def _pointer(slot: Slot, outside: Path) -> None:
    (slot.path / ".git").write_text(f"gitdir: {outside}\n")


def _pointer_is_a_folder(slot: Slot, outside: Path) -> None:
    (slot.path / ".git").unlink()
    (slot.path / ".git").mkdir()


def _root_is_a_link(slot: Slot, outside: Path) -> None:
    slot.path.rename(slot.path.with_name("away"))
    slot.path.symlink_to(outside)


def _another_folder(slot: Slot, outside: Path) -> None:
    shutil.copytree(slot.path, slot.path.with_name("copy"), symlinks=True)
    slot.path.rename(slot.path.with_name("away"))
    slot.path.with_name("copy").rename(slot.path)


def _hook(slot: Slot, outside: Path) -> None:
    (slot.mirror / "hooks").mkdir(exist_ok=True)
    (slot.mirror / "hooks" / "post-checkout").write_text("#!/bin/sh\ntouch /x\n")


def _hooks_and_configuration(slot: Slot, outside: Path) -> None:
    (slot.mirror / "config").write_text((slot.mirror / "config").read_text() + '[filter "x"]\n\tclean = touch /x\n')


def _git_file(name: str, text: str) -> Callable[[Slot, Path], None]:
    def plant(slot: Slot, outside: Path) -> None:
        for folder in (slot.mirror, slot.git_dir):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)

    plant.__name__ = name
    return plant


def _grafts_to_wait_for(slot: Slot, outside: Path) -> None:
    (slot.mirror / "info").mkdir(exist_ok=True)
    os.mkfifo(slot.mirror / "info" / "grafts")


def _head_to_wait_for(slot: Slot, outside: Path) -> None:
    (slot.git_dir / "HEAD").unlink()
    os.mkfifo(slot.git_dir / "HEAD")


def _git_s_files_are_folders(slot: Slot, outside: Path) -> None:
    for path in (slot.mirror / "shallow", slot.mirror / "hooks" / "post-checkout"):
        path.mkdir(parents=True)


QUARANTINED = (
    _git_s_files_are_folders, _grafts_to_wait_for, _head_to_wait_for,
    _pointer, _pointer_is_a_folder, _root_is_a_link, _another_folder, _hook, _hooks_and_configuration,
    _git_file("info/attributes", "* filter=x\n"), _git_file("info/exclude", "*.py\n"),
    _git_file("info/sparse-checkout", "/*\n"), _git_file("info/grafts", "\n"),
    _git_file("objects/info/alternates", "/tmp\n"), _git_file("commondir", "/tmp\n"), _git_file("shallow", "\n"),
)  # fmt: skip


@pytest.mark.parametrize("plant", QUARANTINED, ids=lambda f: f.__name__.strip("_"))
def test_a_slot_that_is_not_as_it_was_made_is_not_used_again(
    act: Callable[..., Any], plant: Callable[..., None]
) -> None:
    assert act(after(plant))[:3] == [False, True, "quarantined"]


IN_MEMORY = """
import ctypes, os, time
mmap = ctypes.CDLL(None).mmap
mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
handle = os.open("a.txt", os.O_RDWR)
mmap(None, 4, 3, 1, handle, 0)  # readable, writable, shared; Python's own would keep the file open
os.close(handle)
os.chdir("/")
print("held", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("how", ["stands in it", "has a file in memory"])
def test_a_process_left_in_the_slot_keeps_it_from_use(act: Callable[..., Any], how: str) -> None:
    left: list[subprocess.Popen[bytes]] = []

    def plant(slot: Slot, outside: Path) -> None:
        if how == "stands in it":
            left.append(subprocess.Popen(["sleep", "60"], cwd=slot.path / "src"))
            return
        words = ["/usr/bin/python3", "-I", "-c", IN_MEMORY]
        left.append(subprocess.Popen(words, cwd=slot.path, stdout=subprocess.PIPE))
        assert left[0].stdout is not None
        assert left[0].stdout.readline() == b"held\n"

    def and_end(folder: Path) -> Any:
        found = after(plant)(folder)
        left[0].kill()
        left[0].communicate()
        return found

    assert act(and_end)[:3] == [False, True, "quarantined"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount and to make files immutable")
@pytest.mark.parametrize("what", ["bind mount", "immutable file"])
def test_what_cannot_be_moved_keeps_the_slot_from_use(tmp_path: Path, what: str) -> None:
    undo: list[list[str]] = []

    def plant(slot: Slot, outside: Path) -> None:
        place = slot.path / "src" / "x"
        if what == "bind mount":
            place.mkdir()
            start, end = ["mount", "--bind", str(outside), str(place)], ["umount", str(place)]
        else:
            place.touch()
            start, end = ["chattr", "+i", str(place)], ["chattr", "-i", str(place)]
        if subprocess.run(start, check=False, capture_output=True).returncode:
            pytest.skip(f"this system lets nobody make a {what}")
        undo.append(end)

    try:
        found = after(plant)(tmp_path)
    finally:
        for end in undo:
            subprocess.run(end, check=True)
    assert found[:3] == [False, True, "quarantined"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount and to make devices")
def test_what_is_mounted_in_the_trash_is_left_alone(tmp_path: Path) -> None:
    trash, outside = tmp_path / "trash", tmp_path / "outside"
    for folder in (trash / "x" / "y", trash / "z", outside):
        folder.mkdir(parents=True)
    (outside / "precious").touch()
    if subprocess.run(["mount", "--bind", outside, trash / "x" / "y"], check=False, capture_output=True).returncode:
        pytest.skip("this system lets nobody mount")
    try:
        left = clean.empty(trash)
    finally:
        subprocess.run(["umount", trash / "x" / "y"], check=True)
    assert (left, listing(outside)) == ([str(trash / "x" / "y")], ["precious = '' 100644"])


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount and to make devices")
def test_a_device_is_taken_away(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    try:
        os.mknod(tmp_path / "root" / "null", 0o20666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("this system lets nobody make a device")
    clean.sweep(tmp_path / "root", clean.wanted([], []), trash=tmp_path / "trash")
    assert (listing(tmp_path / "root"), clean.empty(tmp_path / "trash"), listing(tmp_path / "trash")) == ([], [], [])


def test_a_kept_folder_is_kept_only_while_it_is_a_real_folder(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "app" / "node_modules", root / "src", outside / "precious"):
        folder.mkdir(parents=True)
    (root / "src" / "a").write_text("a")
    (root / "app" / "node_modules" / "dep").write_text("dep")
    (root / ".venv").symlink_to(outside)
    tree = clean.wanted(["src/a"], ["app/node_modules", ".venv", "src"])
    (root / "src" / "b").write_text("b")
    in_the_way = clean.sweep(root, tree, trash=tmp_path / "trash")
    assert (in_the_way, listing(root), listing(outside)) == (
        clean.Found.NOTHING, ["app", "app/node_modules", "app/node_modules/dep", "src", "src/a"], ["precious"]
    )  # fmt: skip
