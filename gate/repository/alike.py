"""Findings that are alike in many packages of a workspace, told of together."""

from collections.abc import Iterator, Sequence

from gate.report import Finding

MANY = 3


def together(findings: Sequence[Finding], message: str) -> Iterator[Finding]:
    """Yield findings one by one, or from MANY on one at the place of the first, which names the places of all."""
    if len(findings) < MANY:
        yield from findings
        return
    paths = tuple(sorted({f.path for f in findings if f.path}))
    yield findings[0]._replace(message=message, files=paths, count=len(findings))
