"""Weakening of tests: removed, emptied, skipped, or all but one left out. A moved or renamed test is none of it."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from gate.integrity.cases import COLLECTED, IS_TEST, cases
from gate.integrity.change import Change, File, error
from gate.integrity.python_cases import Case, code
from gate.patterns import later
from gate.policy import Policy
from gate.report import Finding, Level

SKIPS = later(
    r"\bmark\.(?:skip|skipif|xfail)\b|@(?:unittest\.)?(?:skip|skipIf|skipUnless|expectedFailure)\b(?!\.)|@(?:Disabled|Ignore|Ignored)\b"
    r"|\bpytest\.(?:skip|xfail|importorskip|exit)\s*\(|\bself\.skipTest\s*\(|\bpytestmark\s*=(?:(?!\bpytestmark\s*=).)*(?:skip|xfail)|\braise\b(?:(?!\braise\b)[^\n])*\b(?:SkipTest|Skipped|skip\.Exception)\b"
    r"|(?<![\w.])(?:it|test|describe|context|suite)\.(?:skip|skipIf|runIf|todo|fixme|fails|failing)\b|(?<![\w.])x(?:it|test|describe|specify|context)\b\s*[('\"]"
    r"|\b(?:ctx|context|this|t|task)\.(?:skip|todo)\s*\(|\bskip:\s*true\b|\b(?:it|test|describe)\.each\(\s*\[\s*\]\s*\)|\bif \((?:false|0)\)|catch\s*(?:\((?:(?!catch\s*\()[^)])*\)\s*)?\{\s*\}"
    r"|\bt\.Skip(?:f|Now)?\s*\(|^\s*//go:build\b|^\s*// \+build\b|#\[ignore\b|#\[should_panic\b|#!?\[cfg\((?:(?:all|any)\((?:(?!#!?\[cfg\()[^)])*\btest\b|any\(\))|\bcfg_attr\((?:(?!\bcfg_attr\()[^)])*ignore"
    r"|\bassume(?:True|False|That|Trueness)?\s*\(|\[(?:Fact|Theory)\s*\(\s*Skip\b|\[Ignore\b|Assert\.(?:Ignore|Inconclusive|Skip)"
    r"|->markTest(?:Skipped|Incomplete)\s*\(|->expectNotToPerformAssertions\s*\(|^\s*(?:skip|pending)\b\s*(?:$|['\"(])"
    r"|,\s*(?:skip|pending|:skip)\b(?:\s*(?::|=>)\s*|\s+do\b|\s*\{)|//\s*@ts-nocheck|\bif\s*\([^\n]{0,200}\)\s*(?:it|test|describe)\s*\(|\b(?:const|let|var)\s+(?:it|test|describe|expect)\s*=[^\n]{0,80}=>\s*(?:\{\s*\}|undefined|null|0)|\b(?:WILL_FAIL|DISABLED)\s+(?:TRUE|1|ON|YES)\b"
)
ONLY = later(
    r"(?<![\w.])(?:it|test|describe|context|suite)\.only\b|(?<![\w.])f(?:it|describe|context)\s*\(|\bfocus:\s*true|\bonly:\s*true"
)
HOOKS = later(
    r"\bcollect_ignore(?:_glob)?\b|def pytest_(?:collect\w*|itemcollected|ignore_collect|pycollect\w*|runtest_\w+|pyfunc_call|generate_tests"
    r"|cmdline_\w+|sessionfinish|unconfigure|report_teststatus|deselected|exception_interact|load_initial_conftests)\b"
    r"|\bos\._exit\(|\bsys\.exit\(|\bprocess\.exit\(|\bos\.Exit\(|\bpytest\.exit\(|\batexit\.register|\bsession\.exitstatus\b|\bfunc TestMain\("
)
_LEAVES = later(r"\b(?:os\._exit|sys\.exit|process\.exit|os\.Exit)\(|\batexit\.register")
_RULES = (
    ("test-skipped", SKIPS, "a test is skipped that was not before"),
    ("test-focused", ONLY, "all other tests are left out"),
    ("test-hook", HOOKS, "what is collected or reported is changed"),
)
_ENABLES = later(r"^[ \t]*(?:enable_testing\s*\(|include\s*\(\s*CTest\s*\))", re.M)
_NAMED = later(r"""\bx?(?:it|test|specify)(?:\.(?!x?(?:it|test|specify)\b)\w+)*+\s*(?:\(\s*)?(['"`])(.*?)\1""")
_SHOWN = 160


def look(change: Change, policy: Policy) -> Iterator[Finding]:
    """Yield what weakens the tests."""
    del policy
    files = [f for f in change.files if IS_TEST.search(f.path)]
    before = {f.path: cases(f.path, f.before) for f in files}
    now = {f.path: _collected(f, before) for f in files}
    yield from _removed(before, now)
    yield from _moved(before, now)
    for file in files:
        if file.now is not None:
            yield from _emptied(file, before[file.path], now[file.path])
    for rule, pattern, what in _RULES:
        yield from _new_lines(files, before, now, (rule, pattern, what))


def _collected(file: File, before: Mapping[str, Sequence[Case]]) -> list[Case]:
    """Return the tests that a runner still finds: not those of a file that was renamed away from its pattern."""
    pattern = COLLECTED.get(file.path.rpartition(".")[2])
    names = {path.rpartition("/")[2] for path, found in before.items() if found}
    if pattern and not pattern.search(file.path) and file.path.rpartition("/")[2] not in names:
        return []
    if (
        file.path.endswith("CMakeLists.txt")
        and _ENABLES.search(file.before or "")
        and not _ENABLES.search(file.now or "")
    ):
        return []
    return cases(file.path, file.now)


def _removed(before: Mapping[str, Sequence[Case]], now: Mapping[str, Sequence[Case]]) -> Iterator[Finding]:
    """Compare over all files at once, so that moving and renaming keep their number; what asserts nothing is no stand-in."""
    kept = Counter(case.name for found in now.values() for case in found)
    gone = dict[str, list[Case]]()
    for path, found in before.items():
        for case in found:
            if kept[case.name] > 0:
                kept[case.name] -= 1
            else:
                gone.setdefault(path, []).append(case)
    new = {name for name, count in kept.items() if count > 0}
    fresh = [case for found in now.values() for case in found if case.name in new]
    lost = [case for found in gone.values() for case in found]
    if len(fresh) >= len(lost) and sum(c.asserts > 0 for c in fresh) >= sum(c.asserts > 0 for c in lost):
        return
    for path, found in gone.items():
        names = [case.name for case in found]
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        message = f"{len(before[path])} tests were here, now {len(now[path])}; gone: {shown}"
        yield error("tests-removed", message, path, fix="put them back, or let a person merge it knowingly")


def _moved(before: Mapping[str, Sequence[Case]], now: Mapping[str, Sequence[Case]]) -> Iterator[Finding]:
    """Say how many tests the changed files define, where that moved."""
    was, is_ = sum(map(len, before.values())), sum(map(len, now.values()))
    if was != is_:
        message = f"tests defined in the changed files: {is_} ({is_ - was:+d})"
        yield Finding("tests-moved", Level.NOTE, message, next(iter(now)))


def _emptied(file: File, before: Sequence[Case], now: Sequence[Case]) -> Iterator[Finding]:
    had = {case.name: case.asserts for case in before}
    for case in now:
        was = had.get(case.name, 0)
        if was and not case.asserts:
            message = f"{case.name} asserted something ({was}), now it asserts nothing that can fail"
            yield error("test-emptied", message, file.path, case.line or None)
        elif case.asserts < was:
            message = f"{case.name} had {was} assertions, now it has {case.asserts}"
            yield Finding(
                "assertions-fewer",
                Level.WARNING,
                message,
                file.path,
                case.line or None,
                fix="look whether that is meant",
            )


def _new_lines(
    files: Sequence[File], before: Mapping[str, Sequence[Case]], now: Mapping[str, Sequence[Case]],
    sought: tuple[str, re.Pattern[str], str],
) -> Iterator[Finding]:  # fmt: skip
    """Yield each line of a kind that is new in the whole change, where it touches what was there before."""
    rule, pattern, what = sought
    old = Counter(line.strip() for f in files for line in _code(f, f.before) if pattern.search(line))
    known = {case.name for found in before.values() for case in found}
    for file in files:
        for number, line in enumerate(_code(file, file.now), 1):
            if not pattern.search(line):
                continue
            if old[line.strip()] > 0:
                old[line.strip()] -= 1
            elif rule == "test-hook" and _LEAVES.search(line) and _is_a_helper(file, now[file.path], known):
                continue
            elif rule != "test-skipped" or _touches_known(file, now[file.path], number, line, known):
                yield error(rule, f"{what}: {line.strip()[:_SHOWN]}", file.path, number)


def _is_a_helper(file: File, found: Sequence[Case], known: set[str]) -> bool:
    """Return whether a file is new and no test that was there stands in it: a program that tests start may exit."""
    return file.before is None and not file.path.endswith("conftest.py") and not known & {case.name for case in found}


def _code(file: File, text: str | None) -> list[str]:
    """Return lines in which words in Python's strings and comments are no code."""
    return (code(text or "") if file.path.endswith(".py") else text or "").splitlines()


def _touches_known(file: File, found: Sequence[Case], number: int, line: str, known: set[str]) -> bool:
    """Return whether a skip is of a test that was there before; a new test may say where it does not run."""
    if file.before is None and not known & {case.name for case in found}:
        return False
    named = _NAMED.search(line)
    if named:
        return named[2] in known
    text = line.lstrip()
    if text.startswith(("@", "#[", "[")) and not text.startswith("[]"):
        owner = next((case for case in found if case.line >= number), None)
    else:
        owner = next((case for case in reversed(found) if case.line <= number), None)
    return owner is None or owner.name in known
