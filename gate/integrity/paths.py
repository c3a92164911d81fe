"""Edits of what is protected: the policy's own list, and the workflows that call the gate."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from gate.globs import matches
from gate.integrity.change import MOST_BYTES, Change, error
from gate.patterns import later
from gate.policy import Policy
from gate.report import Finding

_CALLS_GATE = later(r"uses:\s*\./\s*$|(?:^|[\s;&|`/\"'])gate(?:/__main__\.py)?\s+run\b", re.MULTILINE)
_USES = later(r"uses:\s*([^\s#]*)")
_JOB = later(r"^  ([\w-]+):\s*$|^    name:\s*(\S(?:.*\S)?)[^\S\n]*$", re.MULTILINE)


def look(change: Change, policy: Policy) -> Iterator[Finding]:
    """Yield each protected file that the change touches."""
    names = {name: path for path, text in workflows(change) for name in _jobs(text)}
    for file in change.files:
        what = "removed" if file.now is None else "added" if file.before is None else "changed"
        glob = next((g for g in policy.protected if matches(file.path, g)), None)
        if glob is not None:
            yield error("protected-path", f"{file.path} is protected by {glob!r} and was {what}", file.path)
        elif _is_workflow(file.path) and file.before is not None and _calls_gate(file.before):
            yield error("gate-workflow", f"{file.path} calls the gate and was {what}", file.path)
        elif _is_workflow(file.path) and file.now is not None and names:
            for name in sorted((_jobs(file.now) - _jobs(file.before or "")) & names.keys()):
                if names[name] != file.path:
                    message = f"a job {name!r} like that of {names[name]}, which calls the gate: the newest of one name counts"
                    yield error("gate-workflow", message, file.path, _line(file.now, name))
        target = _leads_out(change.root, file.path)
        if target:
            yield error(
                "link-outside", f"{file.path} is a link that leads out of the repository, to {target}", file.path
            )


def workflows(change: Change) -> Iterator[tuple[str, str]]:
    """Yield path and text of each workflow that calls the gate, as it is in the worktree."""
    if not any(_is_workflow(file.path) for file in change.files):
        return
    folder = change.root / ".github" / "workflows"
    for path in sorted(folder.glob("*.y*ml")) if folder.is_dir() and not folder.is_symlink() else ():
        if path.is_file() and not path.is_symlink() and path.stat().st_size < MOST_BYTES:
            text = path.read_text("utf-8", "replace")
            if _calls_gate(text):
                yield f".github/workflows/{path.name}", text


def _calls_gate(text: str) -> bool:
    used = any("sluice" in match[1].rpartition("@")[0] for match in _USES.finditer(text))
    return used or _CALLS_GATE.search(text) is not None


def _jobs(text: str) -> set[str]:
    """Return ids and names of jobs; a key of two blanks elsewhere does no harm."""
    _, _, jobs = text.partition("\njobs:")
    return {match[1] or match[2].strip("\"'") for match in _JOB.finditer(jobs)}


def _line(text: str, word: str) -> int | None:
    return next((n for n, line in enumerate(text.splitlines(), 1) if word in line), None)


def _leads_out(root: Path, path: str) -> str:
    """Return where a link leads if that is outside of the repository."""
    try:
        target = os.readlink(root / path)  # noqa: PTH115 as it is written
    except OSError:
        return ""
    inside = os.path.normpath(os.path.join(os.path.dirname(path), target))  # noqa: PTH118, PTH120 not resolved
    return target if os.path.isabs(target) or Path(inside).parts[:1] == ("..",) else ""  # noqa: PTH117


def _is_workflow(path: str) -> bool:
    return matches(path, ".github/workflows/*") or path == "action.yml"
