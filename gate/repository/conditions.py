"""What an `if:` of a workflow is, whatever happens: always true, never true, or what nobody can know from files."""

import re
from collections.abc import Mapping
from typing import Any

from gate.patterns import later

_WRAPPED = later(r"^\$\{\{(.*)\}\}$", re.DOTALL)
_EVENT = later(r"^github\.event_name\s*==\s*'([\w-]+)'$")


def always_true(condition: str) -> bool:
    """Return whether a condition is text that is never empty: something stands beside a `${{ }}`.

    The runner puts the value of the expression into the text, so `${{ false }} ` is the text `false `, which is true.
    https://github.com/rhysd/actionlint/blob/main/docs/checks.md#if-conditional-always-true
    """
    return "${{" in condition and not (
        condition.startswith("${{") and condition.endswith("}}") and condition.count("${{") == 1
    )


def never_true(condition: str, events: Mapping[str, Any]) -> str:
    """Return why a condition is never true, nothing where it may be."""
    if always_true(condition):
        return ""
    text = condition.strip()
    wrapped = _WRAPPED.match(text)
    text = (wrapped[1] if wrapped else text).strip()
    for part in re.split(r"\s*&&\s*", text) if "||" not in text and "(" not in text else [text]:
        if part.lower() in ("false", "!true", "0", "''", "null"):
            return f"`{part.lower()}` never is"
        event = _EVENT.match(part)
        if event and events and event[1] not in events and not {"workflow_call", "workflow_run"} & events.keys():
            return f"the workflow never runs for {event[1]}"
    return ""
