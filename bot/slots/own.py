"""What git obeys in a mirror and we wrote ourselves, noted beside it: what anybody else writes is seen, and mended."""

import contextlib
import json
import re
import secrets
from collections.abc import Iterable
from pathlib import Path

WRITTEN = ("config", "info/exclude")
# what git obeys in a git folder: https://git-scm.com/docs/gitrepository-layout
GIT_FILES = (
    "config", "config.worktree", "commondir", "gitdir", "shallow", "info/attributes", "info/exclude", "info/grafts",
    "info/sparse-checkout", "objects/info/alternates", "objects/info/http-alternates",
)  # fmt: skip


def hooks(folder: Path) -> list[Path]:
    """Return the hooks of a git folder that git would run."""
    return sorted(path for path in (folder / "hooks").glob("*") if path.suffix != ".sample")


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
        (mirror / name).unlink(missing_ok=True)
        if name in ours:
            _write(mirror / name, ours[name])
    planted = hooks(mirror)
    for path in planted:
        path.unlink()
    return [*other, *(f"hooks/{path.name}" for path in planted)]


def hide(mirror: Path, kept: Iterable[str]) -> None:
    """Keep dependencies and caches out of commits where the repository does not ignore them itself."""
    ours = noted(mirror) or {}
    have = ours.get("info/exclude", "").splitlines()
    lines = ("/" + re.sub(r"([\\*?\[ ])", r"\\\1", path) for path in kept if "\n" not in path)
    new = [line for line in lines if line not in have]
    if new:
        text = "\n".join([*have, *new]) + "\n"
        _keep(mirror, {**ours, "info/exclude": text})
        _write(mirror / "info" / "exclude", text)


def _record(mirror: Path) -> Path:
    return mirror.with_name("mirror.json")


def _keep(mirror: Path, files: dict[str, str]) -> None:
    _write(_record(mirror), json.dumps(files))


def _text(path: Path) -> str | None:
    with contextlib.suppress(OSError):
        return path.read_text(errors="surrogateescape")
    return None


def _write(path: Path, text: str) -> None:
    """Write a file whole at once: another slot's git may read it now."""
    path.parent.mkdir(exist_ok=True)
    new = path.with_name(f"{path.name}-{secrets.token_hex(6)}")
    new.write_text(text, errors="surrogateescape")
    new.replace(path)
