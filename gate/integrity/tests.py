"""Weakening of tests: removed, emptied, skipped, or all but one left out. A moved or renamed test is none of it."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from gate.integrity.change import Change, File, error
from gate.policy import Policy
from gate.report import Finding

IS_TEST = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|e2e|cypress)/|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$"
    r"|\.(?:test|spec|cy)\.[cm]?[jt]sx?$|_test\.(?:go|dart|exs)$|(?:Test|Tests|IT|Spec)\.(?:java|kt|scala|cs|php|swift)$"
    r"|_spec\.rb$|_test\.rb$"
)
# language by ending -> how a test begins (group 1 is its name where it has one), and how an assertion looks
_JS = r"""(?<![\w.])(?:it|test)(?:\.(?:each|concurrent|failing)[^(]*(?:\([^)]*\))?)?\s*\(\s*(['"`])(.*?)\1"""
LANGUAGES: dict[str, tuple[re.Pattern[str], re.Pattern[str]]] = {
    **dict.fromkeys(
        ("js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts"),
        (re.compile(_JS), re.compile(r"\bexpect\s*\(|\bassert\b|\bshould\b|\.rejects\b|\bt\.(?:is|deepEqual|true|throws)")),
    ),
    "go": (re.compile(r"^func ()((?:Test|Fuzz|Example)\w*)\(", re.M), re.compile(r"\bt\.(?:Error|Fatal|Fail)|assert\.|require\.")),
    "rs": (re.compile(r"#\[(?:\w+::)?()test\b[^\]]*\][\s\S]{0,200}?fn (\w+)"), re.compile(r"\bassert|panic!|\?;")),
    **dict.fromkeys(
        ("java", "kt", "scala"), (re.compile(r"@()(?:Parameterized)?Test\b[\s\S]{0,300}?(?:void|fun)\s+(`[^`]+`|\w+)"), re.compile(r"\bassert|\bverify\(|\bexpect"))
    ),
    "cs": (re.compile(r"\[()(?:Fact|Theory|Test|TestMethod|TestCase)\b[\s\S]{0,300}?\b(\w+)\s*\("), re.compile(r"\bAssert\.|\bShould")),
    "rb": (re.compile(r"^\s*(?:it|test|specify)\s+(['\"])(.*?)\1|^\s*def ()(test_\w+)", re.M), re.compile(r"\bexpect|\bassert|\bshould")),
    "php": (re.compile(r"function ()(test\w+)\s*\(|#\[Test\][\s\S]{0,200}?function ()(\w+)"), re.compile(r"->assert|::assert|\bexpect")),
}  # fmt: skip
SKIPS = re.compile(
    r"@(?:pytest\.mark\.(?:skip|skipif|xfail)|unittest\.(?:skip|skipIf|skipUnless|expectedFailure)|Disabled|Ignore|Ignored)\b"
    r"|\bpytest\.(?:skip|xfail|importorskip)\s*\(|\bself\.skipTest\s*\(|\bpytestmark\s*=.*(?:skip|xfail)|\braise (?:unittest\.)?SkipTest"
    r"|(?<![\w.])(?:it|test|describe|context|suite)\.(?:skip|todo|fixme|failing)\b|(?<![\w.])x(?:it|test|describe|specify|context)\s*\("
    r"|\bt\.Skip(?:f|Now)?\s*\(|#\[ignore\b|\[(?:Fact|Theory)\s*\(\s*Skip\b|\[Ignore\b|->markTest(?:Skipped|Incomplete)\s*\("
    r"|^\s*(?:skip|pending)\b\s*(?:$|['\"(])|\bit\s*\([^)]*\{\s*skip:\s*true|//\s*@ts-nocheck|//go:build\s+ignore"
)
ONLY = re.compile(
    r"(?<![\w.])(?:it|test|describe|context|suite)\.only\b|(?<![\w.])f(?:it|describe|context)\s*\(|\bfocus:\s*true"
)
HOOKS = re.compile(
    r"\bcollect_ignore(?:_glob)?\b|def pytest_(?:collection_modifyitems|ignore_collect|runtest_makereport|sessionfinish)\b|os\._exit\("
)


@dataclass(frozen=True, slots=True)
class Case:
    """One test: its name and whether anything in it can fail."""

    name: str
    asserts: bool


def look(change: Change, policy: Policy) -> Iterator[Finding]:
    """Yield what weakens the tests."""
    del policy
    files = [f for f in change.files if IS_TEST.search(f.path)]
    yield from _removed(files)
    for file in files:
        if file.now is not None:
            yield from _emptied(file)
            yield from _skipped(file)


def _removed(files: list[File]) -> Iterator[Finding]:
    """Compare over all files at once, so that moving and renaming keep their number."""
    before = {f.path: [c.name for c in cases(f.path, f.before)] for f in files}
    now = {f.path: [c.name for c in cases(f.path, f.now)] for f in files}
    had, have = sum(map(len, before.values())), sum(map(len, now.values()))
    if have >= had:
        return
    kept = [name for names in now.values() for name in names]
    for file in files:
        gone = []
        for name in before[file.path]:
            if name in kept:
                kept.remove(name)
            else:
                gone.append(name)
        if gone:
            shown = ", ".join(gone[:5]) + (f" and {len(gone) - 5} more" if len(gone) > 5 else "")
            message = f"{len(before[file.path])} tests were here, now {len(now[file.path])}; gone: {shown}"
            yield error("tests-removed", message, file.path, fix="put them back, or let a person merge it knowingly")


def _emptied(file: File) -> Iterator[Finding]:
    had = {c.name for c in cases(file.path, file.before) if c.asserts}
    for case in cases(file.path, file.now):
        if case.name in had and not case.asserts:
            line = next((n for n, text in enumerate((file.now or "").splitlines(), 1) if case.name in text), None)
            yield error("test-emptied", f"{case.name} asserted something, now it asserts nothing", file.path, line)


def _skipped(file: File) -> Iterator[Finding]:
    for rule, pattern, what in (
        ("test-skipped", SKIPS, "a test is skipped that was not before"),
        ("test-focused", ONLY, "all other tests are left out"),
        ("test-hook", HOOKS, "what is collected or reported is changed"),
    ):
        if len(pattern.findall(file.now or "")) <= len(pattern.findall(file.before or "")):
            continue
        for number, line in file.added():
            if pattern.search(line):
                yield error(rule, f"{what}: {line.strip()[:160]}", file.path, number)


def cases(path: str, text: str | None) -> list[Case]:
    """Return the tests that a file defines; none where the language is not known."""
    if text is None:
        return []
    ending = path.rpartition(".")[2]
    if ending == "py":
        return _python(text)
    if ending not in LANGUAGES:
        return []
    begins, asserts = LANGUAGES[ending]
    found = list(begins.finditer(text))
    ends = [m.start() for m in found[1:]] + [len(text)]
    return [
        Case(next((g for g in reversed(m.groups()) if g), "?"), asserts.search(text, m.end(), end) is not None)
        for m, end in zip(found, ends, strict=True)
    ]


def _python(text: str) -> list[Case]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return [Case(name, asserts=True) for name in re.findall(r"^\s*(?:async )?def (test\w*)", text, re.M)]
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            found.append(Case(node.name, any(_asserts(inner) for inner in ast.walk(node))))
    return found


def _asserts(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return not (isinstance(node.test, ast.Constant) and node.test.value)
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name.lower().startswith(("assert", "raises", "fail", "expect", "check", "verify", "warns"))
    return isinstance(node, ast.Raise)
