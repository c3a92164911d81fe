"""The text editor tool: views and changes files of the worktree, and cannot leave it.

Paths are walked folder by folder through open descriptors, so no link that a command plants in between leads outside.
"""

import contextlib
import os
import secrets
import stat
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_LARGEST_BYTES = 10_000_000
_LISTED = 400  # entries of a folder's view
_LINKS = 40  # as many as the kernel follows
_SKIPPED = frozenset({".git", "node_modules", ".venv", "__pycache__"})


class EditError(Exception):
    """The model asked for what cannot be done; becomes the tool's answer."""


@dataclass(frozen=True, slots=True)
class Editor:
    """Edits files below `root`."""

    root: Path
    keep_chars: int = 30_000

    def use(self, asked: Mapping[str, Any]) -> str:
        """Run one command of the tool and return its answer; raises EditError."""
        command, path = _want(asked, "command", str), _want(asked, "path", str)
        try:
            match command:
                case "view":
                    return self._view(path, asked.get("view_range"))
                case "create":
                    return self._create(path, _want(asked, "file_text", str))
                case "str_replace":
                    new = asked.get("new_str") or ""
                    return self._replace(path, _want(asked, "old_str", str), str(new))
                case "insert":
                    return self._insert(path, _want(asked, "insert_line", int), _want(asked, "insert_text", str))
                case _:
                    raise EditError(f"command: expected view, create, str_replace or insert, got {command!r}")
        except OSError as error:
            raise EditError(f"{path}: {error.strerror or error}") from error

    def _view(self, path: str, lines: Any) -> str:
        with self._walk(path) as (folder, name):
            if name == "." or stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                return "\n".join(_list(folder, name, depth=2)) or "(an empty folder)"
            text = _read(folder, name).decode("utf-8", "replace")
        numbered = [f"{number:6}\t{line}" for number, line in enumerate(text.split("\n"), 1)]
        if lines is not None:
            first, last = _read_range(lines, len(numbered))
            numbered = numbered[first - 1 : last]
        shown = "\n".join(numbered)
        if len(shown) > self.keep_chars:
            cut = f"\n[... cut at {self.keep_chars:,} characters of {len(shown):,}; view a range ...]"
            shown = shown[: self.keep_chars] + cut
        return shown

    def _create(self, path: str, text: str) -> str:
        with self._walk(path, make=True) as (folder, name):
            there = _write(folder, name, text.encode("utf-8", "surrogateescape"))
        return f"{'Overwrote' if there else 'Created'} {path}."

    def _replace(self, path: str, old: str, new: str) -> str:
        with self._walk(path) as (folder, name):
            text = _read(folder, name).decode("utf-8", "surrogateescape")
            found = text.count(old) if old else 0
            if found != 1:
                why = "is not in the file" if not found else f"is in the file {found} times; give more of its context"
                raise EditError(f"{path}: old_str {why}; nothing was changed")
            _write(folder, name, text.replace(old, new).encode("utf-8", "surrogateescape"))
        line = text[: text.index(old)].count("\n")
        return f"Changed {path}:\n" + _around(text.replace(old, new), line, line + new.count("\n"))

    def _insert(self, path: str, line: int, text: str) -> str:
        with self._walk(path) as (folder, name):
            lines = _read(folder, name).decode("utf-8", "surrogateescape").splitlines(keepends=True)
            if not 0 <= line <= len(lines):
                raise EditError(f"insert_line: expected 0 to {len(lines)}, got {line}")
            if line and not lines[line - 1].endswith("\n"):
                lines[line - 1] += "\n"
            added = text if text.endswith("\n") or line == len(lines) else text + "\n"
            lines.insert(line, added)
            _write(folder, name, "".join(lines).encode("utf-8", "surrogateescape"))
        return f"Inserted into {path}:\n" + _around("".join(lines), line, line + added.count("\n") - 1)

    @contextmanager
    def _walk(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """Give the open folder that holds the path's last part, and that part's name."""
        with contextlib.ExitStack() as opened:
            stack = [_enter(str(self.root), None, opened)]
            parts, links = deque(self._parts(path)), 0
            while parts:
                part = parts.popleft()
                target = _link(part, stack[-1])
                if part == "..":
                    stack.pop()
                    if not stack:
                        raise EditError(f"{path}: leads out of {self.root}")
                elif target is not None:
                    links += 1
                    self._follow(target, parts, stack, links=links)
                elif parts:
                    stack.append(_enter(part, stack[-1], opened, make=make))
                else:
                    yield stack[-1], part
                    return
            yield stack[-1], "."

    def _follow(self, target: str, parts: deque[str], stack: list[int], *, links: int) -> None:
        if links > _LINKS:
            raise EditError(f"too many links, the last to {target}")
        parts.extendleft(reversed(self._parts(target)))
        if target.startswith("/"):
            del stack[1:]

    def _parts(self, path: str) -> list[str]:
        if path.startswith("/"):
            root = str(self.root)
            if path != root and not path.startswith(root + "/"):
                raise EditError(f"{path}: is outside of {root}, the only place for edits")
            path = path[len(root) :]
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if ".git" in parts:
            raise EditError(f"{path}: .git is not yours to edit")
        return parts


def _enter(name: str, above: int | None, opened: contextlib.ExitStack, *, make: bool = False) -> int:
    if make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=above)
    descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
    opened.callback(os.close, descriptor)
    return descriptor


def _want(asked: Mapping[str, Any], key: str, kind: type[Any]) -> Any:
    found = asked.get(key)
    if not isinstance(found, kind) or isinstance(found, bool):
        raise EditError(f"{key}: expected {'a text' if kind is str else 'a whole number'}, got {found!r}")
    return found


def _link(name: str, folder: int) -> str | None:
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError:
        return None  # no link, or nothing there: opening tells


def _read(folder: int, name: str) -> bytes:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)  # a pipe must not hang us
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise EditError(f"{name}: is not a plain file")
        if found.st_size > _LARGEST_BYTES:
            raise EditError(f"{name}: has {found.st_size:,} bytes, more than {_LARGEST_BYTES:,}; use the shell")
        return file.read(_LARGEST_BYTES + 1)


def _write(folder: int, name: str, content: bytes) -> bool:
    """Replace a file in one move, keeping its mode; return whether it was there."""
    mode = None
    with contextlib.suppress(FileNotFoundError):
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode):
            raise EditError(f"{name}: is not a plain file")
        mode = stat.S_IMODE(found.st_mode)
    draft = f".{secrets.token_hex(8)}.draft"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(draft, flags, 0o666, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if mode is not None:
                os.fchmod(descriptor, mode)
            file.write(content)
        os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=folder)
        raise
    return mode is not None


def _list(folder: int, name: str, *, depth: int, prefix: str = "") -> list[str]:
    descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
    try:
        lines: list[str] = []
        for entry in sorted(os.listdir(descriptor)):  # noqa: PTH208 of a descriptor
            if len(lines) >= _LISTED:
                return [*lines[:_LISTED], f"[... more than {_LISTED} entries; use the shell ...]"]
            is_folder = stat.S_ISDIR(os.stat(entry, dir_fd=descriptor, follow_symlinks=False).st_mode)
            lines.append(f"{prefix}{entry}{'/' if is_folder else ''}")
            if is_folder and depth > 1 and entry not in _SKIPPED:
                lines += _list(descriptor, entry, depth=depth - 1, prefix=f"{prefix}{entry}/")
        return lines
    finally:
        os.close(descriptor)


def _read_range(asked: Any, total: int) -> tuple[int, int]:
    match asked:
        case [int(first), int(last)] if 1 <= first <= total and (last == -1 or last >= first):
            return first, total if last == -1 else last
        case _:
            raise EditError(f"view_range: expected [first, last] within 1 to {total}, or last -1, got {asked!r}")


def _around(text: str, first: int, last: int) -> str:
    lines = text.split("\n")
    low, high = max(first - 3, 0), min(last + 4, len(lines), first + 60)
    return "\n".join(f"{number + 1:6}\t{lines[number]}" for number in range(low, high))
