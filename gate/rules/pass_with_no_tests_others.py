"""A runner beside JavaScript's is told to succeed when it finds no test."""

import re
from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.phpunit_suites import configurations, php_runs
from gate.repository.shell_files import place

ID = "pass-with-no-tests"
SUMMARY = (
    "the same for other runners: `cargo nextest run --no-tests=pass`, `ctest --no-tests=ignore`, `phpunit --do-not-fail-on-empty-test-suite`, "
    "`bats --allow-empty-suite`, exit code 8 of .NET's testing platform ignored.\n"
    'Next: take the option away; a warning for `failOnEmptyTestSuite="false"` of PHPUnit.'
)
# program: the options, each as one text
_FLAGS = {
    "cargo": ("--no-tests=pass", "--no-tests=warn", "--no-tests pass", "--no-tests warn"),
    "cargo-nextest": ("--no-tests=pass", "--no-tests=warn"),
    "ctest": ("--no-tests=ignore",),
    "phpunit": ("--do-not-fail-on-empty-test-suite",),
    "bats": ("--allow-empty-suite",),
    "dotnet": ("--ignore-exit-code 8", "--ignore-exit-code=8"),
}
_SETTING = re.compile(r"\bfailOnEmptyTestSuite\s*=\s*[\"']false[\"']")


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each command with such an option, and PHPUnit's configurations with the setting."""
    told = set[tuple[str, int | None]]()
    for at in repo.gate:
        for command in at.commands:
            text = f"{' '.join(command.argv)} "
            flag = next((f for f in _FLAGS.get(command.argv[0], ()) if f" {f} " in text), "")
            where = place(repo.tree, at, command, flag.split()[0]) if flag else ("", None)
            if flag and where not in told:
                told.add(where)
                yield Finding(
                    ID, Level.ERROR, f"{at.name}: {command.argv[0]} succeeds without any test ({flag})", *where,
                    fix=f"take {flag} away", reproduce=f"{text.strip()[:100]}; echo $?",
                )  # fmt: skip
    used = {r.config for r in php_runs(repo, repo.gate) or ()}
    for path in configurations(repo.tree):
        for number, line in enumerate((repo.tree.text(path) or "").splitlines(), 1) if path in used else ():
            if _SETTING.search(line):
                yield Finding(
                    ID, Level.WARNING, "PHPUnit is configured to succeed without any test", path, number,
                    fix='failOnEmptyTestSuite="true"', reproduce=f"phpunit -c {path} --filter 'no test is called so'; echo $?",
                )  # fmt: skip
