"""ctest runs, and the project at the top registers no test."""

import re
from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.checks import Check
from gate.repository.cmake_files import cmake_commands
from gate.repository.opening import Repository
from gate.repository.shell_files import place

ID = "ctest-without-tests"
SUMMARY = (
    "ctest finds only what the top CMakeLists.txt registers: without `enable_testing()` or `include(CTest)` there, or without any "
    "`add_test`, it says `No tests were found!!!` and exits 0.\n"
    "Next: call `enable_testing()` at the top, and let ctest fail with `--no-tests=error`."
)
_TOP = "CMakeLists.txt"
_REGISTERS = re.compile(r"^(?:add_test|gtest_\w+|catch_discover_tests|doctest_discover_tests|\w*add\w*test\w*|\w*test\w*add\w*|\w+_tests?|externalproject_add|fetchcontent_makeavailable)$")  # fmt: skip


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding, for the first run of ctest at the top."""
    commands = cmake_commands(repo.tree)
    if not any(c.path == _TOP for c in commands):
        return
    for at in repo.gate:
        for command in at.commands:
            if command.argv[0] != "ctest" or not _is_top(at, command.argv):
                continue
            why = _why(repo)
            if why:
                yield Finding(
                    ID, Level.ERROR, f"{at.name}: ctest finds no test and exits 0: {why}", *place(repo.tree, at, command),
                    fix="call enable_testing() in the top CMakeLists.txt; ctest --no-tests=error", reproduce="cmake -B build && ctest --test-dir build; echo $?",
                )  # fmt: skip
            return


def _why(repo: Repository) -> str:
    commands = cmake_commands(repo.tree)
    if not any(_REGISTERS.match(c.name[:100]) for c in commands):
        return "no add_test in any file of CMake"
    enables = [
        c for c in commands if c.name == "enable_testing" or (c.name == "include" and c.words.split()[:1] == ["CTest"])
    ]
    if any(c.path == _TOP or c.path.endswith(".cmake") for c in enables):
        return ""
    below = f"only {enables[0].path} calls it" if enables else "nothing calls it"
    return f"no enable_testing() in {_TOP}: {below}"


def _is_top(at: Check, argv: tuple[str, ...]) -> bool:
    """Return whether ctest looks at the tests of the whole build and would pass without any."""
    if "--no-tests=error" in argv or {"-S", "-D", "--script", "-N", "--build-and-test", "-T", "-M"} & set(argv):
        return False
    if any(name in at.text for name in ("cmake -S", "cmake --source")) and not re.search(
        r"(?:-S|--source)[ =]?[\"']?(?:\.|\$\w|\$\{)", at.text
    ):
        return False
    given = [argv[i + 1] for i, w in enumerate(argv[:-1]) if w == "--test-dir"] + [
        w[11:] for w in argv if w.startswith("--test-dir=")
    ]
    return not given or given[0].strip("./").count("/") == 0 or "$" in given[0]
