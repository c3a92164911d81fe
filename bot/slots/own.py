"""What git obeys in a mirror and we wrote ourselves, noted beside it: what anybody else writes is seen, and mended."""

import json
import os
import re
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path

from bot.slots.plain import read

EXCLUDE = "info/exclude"
WRITTEN = ("config", EXCLUDE)
# what git obeys in a git folder: https://git-scm.com/docs/gitrepository-layout
GIT_FILES = (
    "config", "config.worktree", "commondir", "gitdir", "shallow", "info/attributes", "info/exclude", "info/grafts",
    "info/sparse-checkout", "objects/info/alternates", "objects/info/http-alternates",
)  # fmt: skip


def hooks(folder: Path) -> list[str]:
    """Return the hooks of a git folder that git would run, relative to it."""
    try:
        with os.scandir(folder / "hooks") as found:
            return sorted(f"hooks/{entry.name}" for entry in found if not entry.name.endswith(".sample"))
    except (FileNotFoundError, NotADirectoryError):
        return []


def note(mirror: Path) -> None:
    """Note what stands in a mirror now as ours."""
    _keep(mirror, {name: text for name in WRITTEN if (text := _text(mirror / name)) is not None})


def noted(mirror: Path) -> dict[str, str] | None:
    """Return each file that we wrote with its text; None where nothing legible was noted."""
    try:
        found = json.loads(_record(mirror).read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def is_ours(mirror: Path, name: str) -> bool:
    """Return whether a file of a mirror holds what we wrote."""
    ours = noted(mirror)
    return ours is not None and ours.get(name) == _text(mirror / name)


def mend(mirror: Path) -> list[str]:
    """Bring back what we wrote, and take away what we did not; return what was not ours."""
    ours = noted(mirror)
    if ours is None:
        note(mirror)
        return []
    other = [name for name in GIT_FILES if _text(mirror / name) != ours.get(name)]
    for name in other:
        _remove(mirror / name)
        if name in ours:
            _write(mirror / name, ours[name])
    planted = hooks(mirror)
    for name in planted:
        _remove(mirror / name)
    return [*other, *planted]


def hide(mirror: Path, kept: Iterable[str]) -> None:
    """Keep dependencies and caches out of commits where the repository does not ignore them itself."""
    ours = noted(mirror) or {}
    have = ours.get(EXCLUDE, "").splitlines()
    lines = ("/" + re.sub(r"([\\*?\[ ])", r"\\\1", path) for path in kept if "\n" not in path)
    new = [line for line in lines if line not in have]
    if new:
        text = "\n".join([*have, *new]) + "\n"
        _keep(mirror, {**ours, EXCLUDE: text})
        _write(mirror / EXCLUDE, text)


def _record(mirror: Path) -> Path:
    return mirror.with_name("mirror.json")


def _keep(mirror: Path, files: dict[str, str]) -> None:
    _write(_record(mirror), json.dumps(files))


def _text(path: Path) -> str | None:
    data = read(path)
    return None if data is None else data.decode(errors="surrogateescape")


def _remove(path: Path) -> None:
    """Remove whatever stands in place of a file; a link as a link."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _write(path: Path, text: str) -> None:
    """Write a file whole at once: another slot's git may read it now."""
    path.parent.mkdir(exist_ok=True)
    new = path.with_name(f"{path.name}-{secrets.token_hex(6)}")
    new.write_text(text, errors="surrogateescape")
    new.replace(path)
