"""Test sources of the JVM's languages, and whether a job reads reports of tests that its commands let pass."""

import re

from gate.repository.checks import Check
from gate.repository.opening import Repository
from gate.repository.tree import Tree

SUFFIXES = (".java", ".kt", ".groovy", ".scala")
_INTEGRATION = re.compile(r"(?:^|/)(?:IT[^/]*|[^/]*IT|[^/]*ITCase)\.(?:java|kt|groovy|scala)$")
# what a file with tests says: annotations of JUnit and TestNG, base classes of JUnit 3, Spock, ScalaTest and Kotest
_SAYS = ("@Test", "@ParameterizedTest", "@RepeatedTest", "@Property", ".Test\n", "extends TestCase", "extends Specification",
         "AnyFunSuite", "AnyFlatSpec", "FunSpec", "StringSpec")  # fmt: skip
_REPORTS = re.compile(r"test-report|junit|publish-unit-test|unit-test-result|test-summary|surefire|allure", re.I)


def files_with_tests(tree: Tree, folder: str, *, integration: bool = False) -> list[str]:
    """Return the files with tests below a folder's source sets of tests; those of failsafe's names alone, if asked."""
    start = f"{folder}/" if folder else ""
    return [p for p in _all(tree) if p.startswith(start) and (not integration or _INTEGRATION.search(p))]


def reports(repo: Repository, at: Check) -> bool:
    """Return whether the job of a check has a step for the reports of its tests, which may fail in its place."""
    for workflow in repo.workflows:
        for job in workflow.jobs if workflow.path == at.source else ():
            if at.name.startswith(f"{job.label} / ") and any(_REPORTS.search(s.uses) for s in job.steps):
                return True
    return False


def _all(tree: Tree) -> list[str]:
    def make() -> list[str]:
        places = re.compile(r"(?:^|/)src/(?:\w*[tT]est\w*|it)/(?:java|kotlin|groovy|scala)/")
        return [
            p for p in tree.sources(*SUFFIXES) if places.search(p) and any(w in (tree.text(p) or "") for w in _SAYS)
        ]

    return tree.once("jvm tests", make)
