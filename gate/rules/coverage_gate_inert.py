"""Limits of coverage are configured, and nothing compares with them."""

from collections.abc import Iterator, Mapping
from typing import Any

from gate.report import Finding, Level
from gate.repository.javascript.configs import table
from gate.repository.javascript.coverage import limits, unused
from gate.repository.opening import Repository
from gate.repository.shell_files import place
from gate.repository.yaml_lines import Mapped

ID = "coverage-gate-inert"
SUMMARY = (
    "`coverageThreshold` of jest and `thresholds` of vitest count only with `--coverage`, limits of nyc and c8 only with `check-coverage`:\n"
    "no run of the gate has it, so coverage may fall to nothing. Without `collectCoverageFrom` jest does not count files that no test\n"
    "imports. A warning where Codecov is told not to fail and nothing else compares.\n"
    "Next: add the option to the gate's run, or take the limits away."
)
_CODECOV = ("codecov.yml", ".codecov.yml", ".github/codecov.yml", "dev/codecov.yml", "codecov.yaml", ".codecov.yaml")


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each configuration whose limits no run compares with, and Codecov that never fails."""
    yield from _of_runs(repo)
    for at, found in unused(repo):
        message = f"{at.name}: {found.tool} has limits, and the gate runs the tests without {found.tool}"
        yield Finding(
            ID, Level.ERROR, message, found.path, found.line, fix=f"run the tests with {found.tool}", reproduce=at.text.splitlines()[0]
        )  # fmt: skip
    if not any(found.measures for _, _, found in limits(repo)) and not _is_told_elsewhere(repo):
        yield from _of_codecov(repo)


def _of_runs(repo: Repository) -> Iterator[Finding]:
    runs = list(limits(repo))
    measured = {found.path for _, _, found in runs if found.measures is not False}
    told = set[tuple[str, int | None]]()
    for at, command, found in runs:
        where = (found.path, found.line) if found.path else place(repo.tree, at, command)
        if where in told or (found.measures is False and found.path in measured - {""}):
            continue
        words = " ".join(command.argv)
        if found.measures is False:
            told.add(where)
            message = f"{at.name}: {found.tool} has limits of coverage, and no run of the gate has {found.option}"
            level = Level.NOTE if found.is_meant else Level.ERROR
            fix = f"add {found.option} to the gate's run, or take the limits away"
            yield Finding(ID, level, message, *where, fix=fix, reproduce=words)
        elif found.measures and found.all_files is False:
            told.add(where)
            message = f"{at.name}: {found.tool} has limits of coverage, and files that no test imports do not count"
            yield Finding(
                ID,
                Level.ERROR,
                message,
                *where,
                fix="set collectCoverageFrom",
                reproduce=f"{words} --collectCoverageFrom='**/*.js'",
            )


def _is_told_elsewhere(repo: Repository) -> bool:
    """Return whether another tool compares coverage: pytest-cov, coverage.py, go's and Rust's by an option of their own."""
    words = (
        "--cov-fail-under",
        "--fail-under",
        "fail_under",
        "--check-coverage",
        "--coverageThreshold",
        "diff-cover",
        "--fail-under-lines",
        "jacocoTestCoverageVerification",
    )
    texts = [at.text for at in repo.checks] + [repo.tree.text(p) or "" for p in ("pyproject.toml", "setup.cfg", "tox.ini", ".coveragerc", "package.json")]  # fmt: skip
    return any(word in text for text in texts for word in words)


def _of_codecov(repo: Repository) -> Iterator[Finding]:
    for workflow in repo.workflows:
        for job in workflow.jobs:
            for step in job.steps:
                given = step.found.get("with")
                value = given.get("fail_ci_if_error") if isinstance(given, Mapped) else None
                if (
                    step.uses.startswith("codecov/codecov-action")
                    and str(value).lower() == "false"
                    and isinstance(given, Mapped)
                ):
                    message = f"{job.label} / {step.name}: nothing but Codecov looks at coverage, and a failed upload is green"
                    yield Finding(
                        ID, Level.WARNING, message, workflow.path, given.at("fail_ci_if_error"), fix="fail_ci_if_error: true",
                        reproduce=f"grep -n fail_ci_if_error {workflow.path}",
                    )  # fmt: skip
    for path in _CODECOV:
        found = repo.tree.yaml(path) if path in repo.tree.known else None
        statuses = table(found, "coverage", "status")
        if isinstance(statuses, Mapping) and _only_informs(statuses):
            line = repo.tree.line_of(path, "informational") or repo.tree.line_of(path, "status")
            message = "nothing but Codecov looks at coverage, and its statuses only inform"
            yield Finding(
                ID,
                Level.WARNING,
                message,
                path,
                line,
                fix="take `informational` away from the project's status",
                reproduce=f"grep -n informational {path}",
            )


def _only_informs(statuses: Mapping[Any, Any]) -> bool:
    """Return whether a status of Codecov is informational, and none can fail: those that are left out can."""
    found = list[bool]()
    for name in ("project", "patch"):
        given = statuses.get(name, True)
        kinds = given.values() if isinstance(given, Mapping) else [given]
        found += [table(kind, "informational") is True for kind in kinds if kind not in (False, "off", None)]
    return any(found) and all(found)
