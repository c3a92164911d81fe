"""rspec: `3 examples, 0 failures, 1 pending, 1 error occurred outside of examples`, the same in its JSON."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, per_line, tally

NAME = "rspec"
KIND = "test"

_CLOSING = per_line(
    r"(?P<examples>\d+) examples?, (?P<failures>\d+) failures?(?:, (?P<pending>\d+) pending)?"
    r"(?:, (?P<errors>\d+) errors? occurred outside of examples)?"
)


def matches(argv: Sequence[str]) -> bool:
    """Return whether this is rspec, also several of it side by side."""
    if argv[0] in {"rake", "rails"}:
        return any(word == "spec" or word.startswith("spec:") for word in argv[1:])
    return argv[0] in {"rspec", "parallel_rspec", "turbo_tests", "spec"} and not {"--version", "--dry-run"} & set(argv)


def is_guess(argv: Sequence[str]) -> bool:
    """Return whether only the task's name speaks for rspec."""
    return argv[0] in {"rake", "rails"}


def read(ran: Ran) -> Counts:
    """Return the examples that passed or failed."""
    lines = ran.closing(_CLOSING)
    if not lines:
        return Counts()
    examples, failures, pending, errors = (sum(int(line[i] or 0) for line in lines) for i in (1, 2, 3, 4))
    return tally(NAME, examples - pending, skipped=pending, failed=failures + errors)
