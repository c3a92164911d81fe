"""A test of CTest has to fail, by whatever it fails."""

import re
from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.cmake_files import cmake_commands
from gate.repository.opening import Repository

ID = "will-fail"
SUMMARY = (
    "`WILL_FAIL` turns a test of CTest around: it passes when its program cannot start, crashes, or fails for another reason.\n"
    "Next: compare what it prints (`PASS_REGULAR_EXPRESSION`), or let the program check the failure itself."
)
_ON = re.compile(r"\bWILL_FAIL\s+\"?(?:TRUE|ON|YES|1|true|on)\b")


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding of all tests that are turned around, where ctest runs."""
    run = next((at for at in repo.gate if any(_tests(c.argv) for c in at.commands)), None)
    places = (
        [c for c in cmake_commands(repo.tree) if _ON.search(c.words) and "REGULAR_EXPRESSION" not in c.words]
        if run
        else []
    )
    if run and places:
        many = f"{len(places)} places turn" if len(places) > 1 else "a test is turned"
        yield Finding(
            ID, Level.WARNING, f"{run.name}: {many} around with WILL_FAIL: any failure passes, a crash too", places[0].path, places[0].line,
            files=tuple(sorted({c.path for c in places})), count=len(places), fix="compare what the test prints (PASS_REGULAR_EXPRESSION)",
            reproduce="grep -rn WILL_FAIL --include=CMakeLists.txt --include='*.cmake' .",
        )  # fmt: skip


def _tests(argv: tuple[str, ...]) -> bool:
    return (
        argv[0] == "ctest"
        or (argv[0] in ("make", "ninja") and bool({"test", "check"} & set(argv[1:])))
        or (argv[0] == "cmake" and "test" in argv[1:])
    )
