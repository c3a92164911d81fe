"""A recipe of make or a command of tox begins with `-`: its failure is passed over."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.swallowed import swallowed

ID = "ignore-failure-prefix"
SUMMARY = (
    "a `-` before a line of a Makefile or of tox's `commands` (and `make -i`) passes over its failure.\n"
    "Next: take it away; it is meant for `-rm`."
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each check behind such a sign."""
    for found in swallowed(repo):
        if found.by == "-":
            yield Finding(
                ID, Level.ERROR, f"{found.at.name}: `{found.words}` may fail, and the `-` before it passes that over",
                found.path, found.line, fix="take the `-` away", reproduce=f"{found.at.text.splitlines()[0]}; echo $?",
            )  # fmt: skip
