"""A check is followed by `|| echo`, which succeeds whether the check failed or could not be run."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.swallowed import swallowed

ID = "or-echo-masks-failure"
SUMMARY = (
    "`check || echo ...` succeeds when the check fails: after `have tool && tool || echo 'not installed'` nobody can tell "
    "a failed check from a missing one.\n"
    "Next: `if have tool; then tool; else echo ...; fi`, or end with `exit 1`."
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each check whose failure only prints something."""
    for found in swallowed(repo):
        if found.by.startswith(("|| echo", "|| printf")):
            yield Finding(
                ID, Level.ERROR, f"{found.at.name}: `{found.words}` may fail, and `{found.by}` makes that a success",
                found.path, found.line, fix="let the failure through, or `|| { echo ...; exit 1; }`",
                reproduce=f"sh -c 'false {found.by.split()[0]} echo no'; echo $?",
            )  # fmt: skip
