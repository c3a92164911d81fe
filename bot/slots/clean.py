"""Take everything out of a worktree that is neither tracked nor kept, without ever following a link out of it."""

import contextlib
import errno
import itertools
import os
import re
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum, IntFlag
from pathlib import Path
from typing import Literal, NamedTuple

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
DEEPEST = 400  # levels of tracked folders; one descriptor each
OURS = 0o700
KEPT_FILES = frozenset({".pnp.cjs", ".pnp.loader.mjs", "install-state.gz"})  # among what installs leave: no folders
What = Literal["file", "link", "folder", "other"]
_FILE: What = "file"
_OCTAL = re.compile(r"\\([0-7]{3})")  # how the kernel writes blanks in the names of mount points


class Unclean(Exception):
    """The slot could not be brought to a known state; the text is why. It goes into quarantine."""


class Kind(IntEnum):
    """What may stand at a path of the worktree."""

    FILE = 0  # tracked: anything but a folder, for git itself mends it
    FOLDER = 1  # holds tracked or kept paths: entered
    KEPT = 2  # a folder of the job's tools: must be a real folder, is not entered
    KEPT_FILE = (
        3  # a file that an install made beside the folders: a link in its place stays for the comparison to find
    )


class Wanted(NamedTuple):
    """What may stand in a worktree: tracked files, the folders above them, and what is kept."""

    files: Collection[str]
    folders: frozenset[str]
    kept: Mapping[str, Kind]

    def kind(self, path: str) -> Kind | None:
        """Return what may stand at a path, None for nothing."""
        if path in self.folders:
            return Kind.FOLDER
        return Kind.FILE if path in self.files or path == ".git" else self.kept.get(path)


def wanted(tracked: Collection[str], kept: Sequence[str], *, modules: Iterable[str] = ()) -> Wanted:
    """Return what may stand in a worktree; `modules` are those of `tracked` that are submodules' empty folders."""
    folders = {path.rpartition("/")[0] for path in tracked}
    folders.update(modules)
    folders.update(path.rpartition("/")[0] for path in kept)
    for folder in tuple(folders):
        above = folder.rpartition("/")[0]
        while above not in folders:
            folders.add(above)
            above = above.rpartition("/")[0]
    # a folder of tracked files is cleaned like any other, whatever its name
    kinds = {path: Kind.KEPT_FILE if path.rpartition("/")[2] in KEPT_FILES else Kind.KEPT for path in kept}
    return Wanted(tracked, frozenset(folders), kinds)


class Found(IntFlag):
    """What a sweep met, that git must be told of."""

    NOTHING = 0
    IN_THE_WAY = 1  # something stood in place of a tracked path
    ATTRIBUTES = 2  # not of the commit, but git may have written files as they say: other line ends, other encodings


def sweep(root: Path, tree: Wanted, *, trash: Path) -> Found:
    """Rename all that may not stay into the trash; return what of it git must be told.

    Raises Unclean where something can be neither kept nor moved, or another file system is mounted in the worktree.
    """
    mounted = mounts_under(root)
    if mounted:
        raise Unclean(f"a file system is mounted in the slot: {mounted[0]}")
    trash.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        bin_fd = os.open(trash, FOLDER_FLAGS)
        stack.callback(os.close, bin_fd)
        try:
            return _Sweep(tree, bin_fd).run(os.open(root, FOLDER_FLAGS))
        except OSError as error:
            name = errno.errorcode.get(error.errno or 0, "")
            raise Unclean(f"{name}: {error.strerror}: {error.filename!r}") from error


class _Sweep:
    def __init__(self, tree: Wanted, trash_fd: int) -> None:
        self._tree = tree
        self._trash_fd = trash_fd
        self._names = (f"{secrets.token_hex(6)}-{n}" for n in itertools.count())
        self._found = Found.NOTHING
        self._mode = 0o777 & ~_umask()

    def run(self, root_fd: int) -> Found:
        """Go down by descriptors, one open a level, and never by a path that could lead elsewhere."""
        levels: list[tuple[int, str, Iterator[str]]] = []
        try:
            levels.append((root_fd, "", iter(())))
            levels[0] = (root_fd, "", iter(self._tidy(root_fd, "")))
            while levels:
                fd, path, folders = levels[-1]
                name = next(folders, None)
                if name is None:
                    levels.pop()
                    os.close(fd)
                    continue
                if len(levels) > DEEPEST:
                    raise Unclean(f"tracked folders are more than {DEEPEST} levels deep")
                child, below = open_folder(name, fd), f"{path}/{name}" if path else name
                levels.append((child, below, iter(())))
                levels[-1] = (child, below, iter(self._tidy(child, below)))
        finally:
            for fd, _, _ in levels:
                os.close(fd)
        return self._found

    def _tidy(self, fd: int, path: str) -> list[str]:
        """Move what may not stay in one folder; return the folders in it to enter."""
        mode = os.fstat(fd).st_mode
        if mode & 0o5777 != self._mode:
            os.fchmod(fd, mode & 0o2000 | self._mode)  # git does not keep modes of folders: as it makes them
        _drop_attributes(fd)
        above, files, enter = f"{path}/" if path else "", self._tree.files, []
        with os.scandir(fd) as found:
            entries = [(entry.name, _FILE if entry.is_file(follow_symlinks=False) else _what(entry)) for entry in found]
        for name, what in entries:
            if what is _FILE and above + name in files:  # nearly everything, in most trees
                continue
            match self._tree.kind(above + name), what:
                case (Kind.FILE | Kind.KEPT_FILE, "file" | "link") | (Kind.KEPT, "folder"):
                    pass
                case Kind.FOLDER, "folder":
                    enter.append(name)
                case kind, _:
                    if kind in (Kind.FILE, Kind.FOLDER):
                        self._found |= Found.IN_THE_WAY
                    if name == ".gitattributes":
                        self._found |= Found.ATTRIBUTES
                    move(name, fd, next(self._names), self._trash_fd, is_folder=what == "folder")
        return enter


def _what(entry: os.DirEntry[str]) -> What:
    """Return what stands there; git waits for ever for what is neither file, folder nor link, such as a FIFO."""
    if entry.is_symlink():
        return "link"
    return "folder" if entry.is_dir(follow_symlinks=False) else "other"


def _drop_attributes(fd: int) -> None:
    """Take away what a job wrote onto a folder that stays: notes, and rights that new files would inherit."""
    try:
        names = os.listxattr(fd)
    except (OSError, AttributeError):  # a file system, or a system, that has none
        return
    for name in names:
        if name.startswith(("user.", "system.posix_acl_")):
            os.removexattr(fd, name)


def _umask() -> int:
    """Return the mask without setting it, which other threads would feel."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    return 0o022


def open_folder(name: str, parent_fd: int) -> int:
    """Open a folder below another one, readable or not; fails where it is a link."""
    try:
        return os.open(name, FOLDER_FLAGS, dir_fd=parent_fd)
    except PermissionError:
        _make_named_ours(name, parent_fd)
        return os.open(name, FOLDER_FLAGS, dir_fd=parent_fd)


def make_ours(fd: int) -> None:
    """Make an open folder one that its owner may read, write and enter."""
    mode = os.fstat(fd).st_mode
    if mode & OURS != OURS:
        os.fchmod(fd, mode & 0o7777 | OURS)


def move(name: str, from_fd: int, to: str, to_fd: int, *, is_folder: bool) -> None:
    """Rename across folders; a folder of a job must be writable for that, a file is never touched."""
    try:
        os.rename(name, to, src_dir_fd=from_fd, dst_dir_fd=to_fd)
    except PermissionError:
        if not is_folder:
            raise
        _make_named_ours(name, from_fd)
        os.rename(name, to, src_dir_fd=from_fd, dst_dir_fd=to_fd)


def throw(path: Path, trash: Path) -> None:
    """Rename something into the trash, a link as a link; fine where there is nothing."""
    trash.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        parent, to = os.open(path.parent, FOLDER_FLAGS), os.open(trash, FOLDER_FLAGS)
        stack.callback(os.close, parent)
        stack.callback(os.close, to)
        with contextlib.suppress(FileNotFoundError):
            is_folder = path.is_dir() and not path.is_symlink()
            move(path.name, parent, f"{path.name}-{secrets.token_hex(6)}", to, is_folder=is_folder)


def _make_named_ours(name: str, parent_fd: int) -> None:
    """Change the mode of exactly the folder that was opened: a link in its place is refused, not followed."""
    fd = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent_fd)
    try:
        Path(f"/proc/self/fd/{fd}").chmod(os.fstat(fd).st_mode & 0o7777 | OURS)
    finally:
        os.close(fd)


def mounts_under(root: Path) -> list[str]:
    """Return what is mounted at or below a folder; a bind mount of the same file system shows nowhere else."""
    inside, found = f"{root}/", []
    with contextlib.suppress(OSError):  # no such file off Linux
        for line in Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines():
            point = _OCTAL.sub(lambda code: chr(int(code[1], 8)), line.split(" ")[4])
            if f"{point}/".startswith(inside):
                found.append(point)
    return found


def empty(trash: Path) -> list[str]:
    """Delete what is in the trash, however deep and wide; return what cannot be deleted."""
    left: list[str] = []
    if not trash.is_dir() or mounts_under(trash):
        return mounts_under(trash)
    fd = os.open(trash, FOLDER_FLAGS)
    try:
        make_ours(fd)
        names = (f"{secrets.token_hex(6)}-{n}" for n in itertools.count())
        with os.scandir(fd) as found:
            todo = [entry.name for entry in found]
        while todo:
            name = todo.pop()
            try:
                todo += _flatten(name, fd, names)
            except OSError as error:
                left.append(f"{name}: {error.strerror}")
    finally:
        os.close(fd)
    return left


def _flatten(name: str, fd: int, names: Iterator[str]) -> list[str]:
    """Delete one thing of the trash; a folder's folders come up beside it first, so that no depth is too deep."""
    try:
        folder = open_folder(name, fd)
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise
        os.unlink(name, dir_fd=fd)
        return []
    up: list[str] = []
    try:
        make_ours(folder)
        with os.scandir(folder) as found:
            entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]
        for inner, is_folder in entries:
            if is_folder:
                up.append(next(names))
                move(inner, folder, up[-1], fd, is_folder=True)
            else:
                os.unlink(inner, dir_fd=folder)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=fd)
    return up
