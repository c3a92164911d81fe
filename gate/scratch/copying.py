"""Copy a worktree as it is: with what is not committed, with what is installed in it, without caches.

Links that stay inside lead to the copy's own files; those that lead out still lead where they led.
"""

import contextlib
import os
import shutil
import stat
import threading
from collections.abc import Sequence
from pathlib import Path

from gate.errors import Interrupted, UsageError

# what tools keep from run to run: an answer of yesterday would hide what is broken today
CACHES = frozenset({
    "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".turbo", ".nx", ".parcel-cache",
    ".sass-cache", ".eslintcache", ".stylelintcache", ".gradle", ".phpunit.cache", ".phpunit.result.cache",
    ".rubocop_cache", ".tsbuildinfo", "tsconfig.tsbuildinfo",
})  # fmt: skip
_IN_PACKAGES = frozenset({".cache", ".vite", ".vitest"})  # below node_modules
_FICLONE = 0x40049409  # linux/fs.h: share the blocks of another file until one of the two is written to


class Copy:
    """Copies a folder; `environments` are the virtual environments of Python in it, from the root."""

    def __init__(self, root: Path, tree: Path, stop: threading.Event, *, without: Sequence[Path] = ()) -> None:
        self.environments: list[str] = []
        self._root, self._tree, self._stop = root, tree, stop
        self._without = {os.fspath(path) for path in without}
        self._clones = True
        try:
            self._folder("")
        except OSError as error:
            where = error.filename2 or error.filename or tree
            raise UsageError(f"expected room for a copy of {root}, got: {error.strerror or error}: {where}") from error

    def _folder(self, path: str, *, installed: bool = False) -> None:
        """Copy a folder; what an environment's packages were compiled to is no answer about the repository's files."""
        source, target = self._root / path, self._tree / path
        os.mkdir(target)  # noqa: PTH102 hot
        if os.path.exists(f"{source}/pyvenv.cfg"):  # noqa: PTH110 hot
            self.environments.append(path)
            installed = True
        with contextlib.suppress(PermissionError), os.scandir(source) as entries:  # nobody here can read it
            for entry in entries:
                if entry.name == ".git" or entry.path in self._without:
                    continue
                if installed or not self._is_cache(path, entry.name):
                    self._entry(entry, f"{path}/{entry.name}" if path else entry.name, installed=installed)
        shutil.copystat(source, target)
        target.chmod(stat.S_IMODE(target.stat().st_mode) | stat.S_IRWXU)

    def _is_cache(self, folder: str, name: str) -> bool:
        if name in _IN_PACKAGES:
            return folder.rpartition("/")[2] == "node_modules"
        if name == "target":
            return (self._root / folder / "Cargo.toml").exists()
        return name in CACHES

    def _entry(self, entry: os.DirEntry[str], path: str, *, installed: bool) -> None:
        if self._stop.is_set():
            raise Interrupted
        if entry.is_symlink():
            if entry.name == "node_modules" and not os.path.realpath(entry.path).startswith(f"{self._root}{os.sep}"):
                check_packages(Path(entry.path), self._root)
            os.symlink(_led(self._root, path, os.readlink(entry.path)), self._tree / path)  # noqa: PTH115, PTH211
        elif entry.is_dir():
            self._folder(path, installed=installed)
        elif entry.is_file():
            with contextlib.suppress(PermissionError):
                self._file(entry.path, os.fspath(self._tree / path))

    def _file(self, source: str, target: str) -> None:
        if not self._clone(source, target):
            shutil.copyfile(source, target)
        shutil.copystat(source, target)

    def _clone(self, source: str, target: str) -> bool:
        """Share the file's blocks where the file system can do that; it is asked until it refuses once."""
        if not self._clones:
            return False
        try:
            import fcntl  # noqa: PLC0415 not on Windows

            with open(source, "rb") as old, open(target, "wb") as new:  # noqa: PTH123 hot
                fcntl.ioctl(new, _FICLONE, old.fileno())
        except PermissionError:
            raise
        except (OSError, ImportError):
            self._clones = False
        return self._clones


def _led(root: Path, path: str, target: str) -> str:
    """Return where a link of the copy leads: inside, from where it stands; outside, to the same place as ever."""
    whole = os.path.normpath(root / os.path.dirname(path) / target)  # noqa: PTH120 hot
    if whole == os.fspath(root) or whole.startswith(f"{root}{os.sep}"):
        if not os.path.isabs(target) and not _leaves(path, target):  # noqa: PTH117
            return target
        return os.path.relpath(whole[len(os.fspath(root)) + 1 :] or ".", os.path.dirname(path) or ".")  # noqa: PTH120
    return whole


def _leaves(path: str, target: str) -> bool:
    """Return whether a relative link goes out of the repository on its way, so that the root's own name matters."""
    depth = path.count("/")
    for part in target.split("/"):
        depth += -1 if part == ".." else 0 if part in ("", ".") else 1
        if depth < 0:
            return True
    return False


def link_packages(root: Path, folder: Path) -> Path:
    """Return the folder for the copy: below `folder`, beside links to the packages that the original finds above it.

    Raises UsageError where one of those leads back to the original.
    """
    for parent in root.parents:
        packages = parent / "node_modules"
        if packages.is_dir():
            check_packages(packages, root)
            (folder / "node_modules").symlink_to(packages)
            folder = folder / "in"
            folder.mkdir()
    return folder / (root.name or "root")


def check_packages(packages: Path, root: Path) -> None:
    """Raise UsageError for a folder of packages outside of the repository in which one is a link back into it."""
    inside = os.path.realpath(root)
    for entry in (*_links(packages), *(link for scope in packages.glob("@*/") for link in _links(scope))):
        leads = os.path.realpath(entry)
        if leads == inside or leads.startswith(f"{inside}{os.sep}"):
            raise UsageError(
                f"{entry}: expected packages that a copy can use, got a link back to {leads}: checks of the copy would "
                "look at the original there. Mend: install the packages inside the repository"
            )


def _links(folder: Path) -> list[Path]:
    with contextlib.suppress(OSError):
        return [path for path in folder.iterdir() if path.is_symlink()]
    return []
