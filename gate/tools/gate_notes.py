"""gate notes: `12 notes checked, 0 problems`, or its JSON."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, closing_line

NAME = "gate notes"
KIND = "lint"

_CLOSING = closing_line(r"(?P<files>\d+) notes? checked, \d+ problems?$|\"notes\": (?P<json>\d+),$")


def matches(argv: Sequence[str]) -> bool:
    """Return whether the gate checks a vault of notes."""
    return tuple(argv[:2]) == ("gate", "notes") and not {"--help", "-h"} & set(argv)


def read(ran: Ran) -> Counts:
    """Return how many notes were read."""
    lines = ran.closing(_CLOSING)
    if not lines:
        return Counts()
    files = sum(int(line["files"] or line["json"]) for line in lines)
    return Counts(files=files, hollow="" if files else "gate notes found no note")
