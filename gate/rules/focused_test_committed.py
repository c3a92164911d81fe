"""A test is singled out in what is committed, so that the others do not run."""

from collections.abc import Iterator

from gate.commands.resolve import Command
from gate.report import Finding, Level
from gate.repository.checks import Check
from gate.repository.javascript.collecting import gated
from gate.repository.javascript.collecting.collection import Collection
from gate.repository.javascript.focused import focused, singled_out
from gate.repository.javascript.guards import is_guarded
from gate.repository.javascript.tests import SUFFIXES, test_files
from gate.repository.opening import Repository

ID = "focused-test-committed"
SUMMARY = (
    "`it.only`, `fdescribe` and their kin leave all other tests of a file out, and jest, mocha and Playwright are green with the one.\n"
    "A warning where the runner fails by itself: vitest and bun in CI, `forbidOnly`.\n"
    "Next: take it away, and let the runner or the linter forbid it (`forbid-only`, `no-focused-tests`)."
)
_FAMILIES = {"jest": ("jest", "any"), "mocha": ("mocha", "any"), "vitest": ("vitest", "any"), "node --test": ("node",), "playwright": ("playwright",), "bun": ("bun",)}  # fmt: skip


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each file with such tests that the gate runs."""
    collected = gated(repo)
    for path, found in singled_out(repo.tree).items() if collected.runs else ():
        family = test_files(repo.tree)[path]
        runs = [r for r in collected.runs if family in _FAMILIES[r[0].runner] and r[0].takes(path)]
        runs = [r for r in runs if r[0].runner != "node --test" or "--test-only" in r[2].argv]
        if runs:
            yield _finding(repo, path, [f"{f.words} in line {f.line}" for f in found], found[0].line, runs)
    yield from _of_deno(repo)


def _finding(
    repo: Repository, path: str, words: list[str], line: int, runs: list[tuple[Collection, Check, Command]]
) -> Finding:
    fails = all(is_guarded(repo.tree, one, command) is not False for one, _, command in runs)
    who = f"{runs[0][1].name}: "
    more = f" and {len(words) - 3} more" if len(words) > 3 else ""
    shown = ", ".join(words[:3]) + more
    end = "which its runner refuses in CI" if fails else "so the others of the file do not run"
    return Finding(
        ID, Level.WARNING if fails else Level.ERROR, f"{who}tests are singled out, {end}: {shown}", path, line, count=len(words),
        fix="take it away", reproduce=runs[0][0].ask,
    )  # fmt: skip


def _of_deno(repo: Repository) -> Iterator[Finding]:
    """Yield those of Deno, which runs the one and then fails."""
    at = next((a for a in repo.gate for c in a.commands if c.argv[:2] == ("deno", "test")), None)
    for path in repo.tree.sources(*SUFFIXES) if at else ():
        text = repo.tree.text(path) or ""
        found = list(focused(text, options=True)) if "Deno.test" in text and "only" in text else []
        if found and at:
            yield Finding(
                ID, Level.WARNING, f"{at.name}: tests are singled out, so deno fails: {found[0].words} in line {found[0].line}", path, found[0].line,
                count=len(found), fix="take it away", reproduce=f"deno test {path}",
            )  # fmt: skip
