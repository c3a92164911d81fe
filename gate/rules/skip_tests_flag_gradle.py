"""Gradle leaves its tests out, or succeeds whatever they say."""

import itertools
import re
from collections.abc import Iterator, Sequence

from gate.report import Finding, Level
from gate.repository.checks import Check
from gate.repository.jvm.gradle import Statement, build_files, statements
from gate.repository.jvm.tests import files_with_tests, reports
from gate.repository.opening import Repository
from gate.repository.places import folder_of
from gate.repository.shell_files import place
from gate.tools.gradle import tasks

ID = "skip-tests-flag"
SUMMARY = (
    "Gradle: `-x test` where no other command runs the tests, and in build files `ignoreFailures = true`, "
    "`failOnNoDiscoveredTests = false`, `failOnNoMatchingTests = false`,\n`enabled = false` in a block about tests. "
    "`ignoreFailures` of Checkstyle, PMD and their like is a warning.\nNext: take it away."
)
_SETTING = re.compile(
    r"(?P<name>\b(?:is|set)?[iI]gnoreFailures\b)\s*(?:=\s*true\b|\.set\(\s*true\s*\)|\(\s*true\s*\)|\s+true\b)"
    r"|(?P<none>\b(?:set|is)?[fF]ailOnNo(?:DiscoveredTests|MatchingTests))\s*(?:=\s*false\b|\.set\(\s*false\s*\)|\(\s*false\s*\)|\s+false\b)"
    r"|(?P<off>\b(?:isEnabled|enabled)\s*=\s*false\b|\bsetEnabled\(\s*false\s*\)|\bonlyIf\s*\{\s*false\s*\})"
)
_TESTS = re.compile(
    r"\b(?:test|\w+Tests?|integrationTest|Test|VerificationTask|AbstractTestTask)\b|[\"']\w*[tT]est\w*[\"']"
)
_ALL_TESTS = re.compile(
    r"^(?:tasks\.)?(?:test|named(?:<Test>)?\(\s*[\"']test[\"'][^)]*\)|withType(?:<Test>\(\)|\(\s*Test(?:::class)?\s*\)|<Test>)(?:\.configureEach)?)\.?$"
)
_CHECKERS = re.compile(
    r"checkstyle|pmd|spotbugs|findbugs|codenarc|ktlint|detekt|jacoco|cpd|errorprone|license", re.IGNORECASE
)
_BUILDS = {"build", "check", "test", "buildNeeded", "buildDependents"}


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each command that excludes the tests, and each setting of the build files that the gate's runs read."""
    runs = [(at, c) for at in repo.gate for c in at.commands if tasks(c.argv)]
    if not runs or not files_with_tests(repo.tree, ""):
        return
    yield from _of_words(repo)
    folders = [f for _, c in runs if (f := folder_of(repo, c.cwd)) is not None]
    if any(_tests(c.argv) or _BUILDS & tasks(c.argv) for _, c in runs):
        for path in build_files(repo.tree):
            if any(path.startswith(f"{f}/" if f else "") for f in folders):
                for found in statements(repo.tree, path, _SETTING):
                    finding = _of_setting(repo, runs[0][0], found)
                    if finding:
                        yield finding


def _of_words(repo: Repository) -> Iterator[Finding]:
    told = set[tuple[str, int | None]]()
    for at in repo.gate:
        for command in at.commands:
            words = _excluded(command.argv)
            if not words or _runs_tests(repo.gate):
                continue
            path, line = place(repo.tree, at, command, words)
            if (path, line) not in told:
                told.add((path, line))
                yield Finding(
                    ID, Level.NOTE if _runs_tests(repo.checks) else Level.ERROR,
                    f"{at.name}: `{words}` leaves the tests out, and no command runs them", path, line,
                    fix=f"take {words} away, or add a step that runs the tests", reproduce=f"{' '.join(command.argv)[:100]}; echo $?",
                )  # fmt: skip


def _excluded(argv: Sequence[str]) -> str:
    """Return the words that leave the tests out of a command line that would run them."""
    if not tasks(argv) & _BUILDS:
        return ""
    pairs = (
        f"{a} {b}"
        for a, b in itertools.pairwise(argv)
        if a in ("-x", "--exclude-task") and b.rsplit(":", 1)[-1] in ("test", "check")
    )
    joined = (w for w in argv[1:] if w in ("-xtest", "-xcheck", "--exclude-task=test"))
    return next(itertools.chain(pairs, joined), "")


def _tests(argv: Sequence[str]) -> bool:
    """Return whether a command line may run tests, by whatever name their tasks have."""
    wanted = tasks(argv)
    return not _excluded(argv) and bool(wanted & _BUILDS or any(re.search("[tT]est|[cC]heck|verif", w) for w in wanted))


def _runs_tests(checks: Sequence[Check]) -> bool:
    return any(_tests(c.argv) or "$" in " ".join(c.argv) for at in checks for c in at.commands if tasks(c.argv))


def _of_setting(repo: Repository, at: Check, found: Statement) -> Finding | None:
    folder = found.path.rpartition("/")[0]
    files = files_with_tests(repo.tree, "" if "buildSrc" in folder or "build-logic" in folder else folder)
    about = " ".join((*found.blocks[-2:], found.before))
    if not files or not found.is_sure:
        return None
    setting = " ".join(found.text.split())
    if "nabled" in setting or "onlyIf" in setting:
        if not _ALL_TESTS.match(found.owner):
            return None
        level, what = Level.ERROR, "turns the tests off"
    elif "FailOnNo" in setting or "failOnNo" in setting:
        level = Level.ERROR if "Discovered" in setting else Level.WARNING
        what = "lets the tests succeed when there is none"
    elif _CHECKERS.search(about):
        level, what = Level.WARNING, "lets a checker succeed whatever it finds"
    elif _TESTS.search(about):
        level, what = (Level.WARNING if reports(repo, at) else Level.ERROR), "lets the tests succeed when they fail"
    else:
        return None
    return Finding(
        ID, level, f"{at.name}: `{setting}` {what}", found.path, found.line, count=len(files),
        fix="take the setting away", reproduce="gradle check; echo $?",
    )  # fmt: skip
