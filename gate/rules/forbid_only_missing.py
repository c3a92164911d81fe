"""A test runner that could refuse singled-out tests is not told to."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.javascript.collecting import gated, whereabouts
from gate.repository.javascript.focused import singled_out
from gate.repository.javascript.guards import is_guarded
from gate.repository.opening import Repository

ID = "forbid-only-missing"
SUMMARY = (
    "Playwright is green with the one test that `test.only` singles out, also in CI, unless `forbidOnly` is set; and mocha, unless\n"
    "`--forbid-only` is given, which is told where a test is singled out.\n"
    "Next: `forbidOnly: !!process.env.CI` in playwright.config, `--forbid-only` for mocha."
)
_OPTIONS = {"playwright": "forbidOnly", "mocha": "--forbid-only"}


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each run of the gate without it."""
    told = set[tuple[str, str, int | None]]()
    for one, at, command in gated(repo).runs:
        option = _OPTIONS.get(one.runner, "")
        if not option or is_guarded(repo.tree, one, command) is not False:
            continue
        if one.runner == "mocha" and not any(one.takes(path) for path in singled_out(repo.tree)):
            continue
        where = whereabouts(repo, one, at, command)
        if (one.runner, *where) not in told:
            told.add((one.runner, *where))
            message = f"{at.name}: {one.runner} is green when a test is singled out: {option} is not set"
            yield Finding(ID, Level.WARNING, message, *where, fix=f"set {option}", reproduce=one.ask)
