"""Edits of what is protected: the policy's own list, and the workflows that call the gate."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from gate.globs import matches
from gate.integrity.change import Change, error
from gate.policy import Policy
from gate.report import Finding

_CALLS_GATE = re.compile(
    r"uses:\s*(?:\./|[^\s#]*sluice[^\s#]*@)|(?:^|[\s;&|`])(?:python3? -m )?gate run\b", re.MULTILINE
)


def look(change: Change, policy: Policy) -> Iterator[Finding]:
    """Yield each protected file that the change touches."""
    for file in change.files:
        what = "removed" if file.now is None else "added" if file.before is None else "changed"
        glob = next((g for g in policy.protected if matches(file.path, g)), None)
        if glob is not None:
            yield error("protected-path", f"{file.path} is protected by {glob!r} and was {what}", file.path)
        elif _is_workflow(file.path) and file.before is not None and _CALLS_GATE.search(file.before):
            yield error("gate-workflow", f"{file.path} calls the gate and was {what}", file.path)
        target = _leads_out(change.root, file.path)
        if target:
            yield error(
                "link-outside", f"{file.path} is a link that leads out of the repository, to {target}", file.path
            )


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
