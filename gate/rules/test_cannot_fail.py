"""Tests of Python that are green whatever the code does, or that nothing runs although they look like tests."""

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gate.integrity.python_truth import known
from gate.patterns import later
from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.python.classes import Names, classes_never_collected, read_names
from gate.repository.python.config import runs
from gate.repository.python.pytest_files import collected, test_files

ID = "test-cannot-fail"
SUMMARY = (
    'an assertion that always holds (`assert (x, "message")`, `assert "text"`, `assert x or True`), a comparison that is '
    "returned or stands by itself, an assertion of a mock that is not called, a test without a body, two tests of one name in "
    "one scope, and classes that pytest does not collect (another name than `Test...`, or an `__init__`): nothing there can fail.\n"
    "Next: assert what is meant; give each test its own name."
)
_MARKS = {
    "pytest",
    "mock",
    "patch",
    "given",
    "settings",
    "example",
    "parametrize",
    "skip",
    "skipIf",
    "skipUnless",
    "unittest",
    "hypothesis",
    "override_settings",
}


_EXPECTS = {("pytest", "raises"), ("pytest", "warns"), ("self", "assertRaises"), ("self", "assertWarns")}
# what is parsed: a text in which one of the ways may stand; parsing all tests of a large repository takes seconds
_SUSPECT = later(
    r"""^[ \t]++(?:assert[ \t]*(?:\((?=[^\n]*,)|\([ \t]*$|[fFbBrR]?["'](?![^\n]*[ \t](?:in|not|==|!=|<|>|is)[ \t])|lambda\b)|assert\b[^\n]*\bor[ \t]+(?:True|[1-9"'])"""
    r"""|return\b[^\n]*[ \t](?:[=!<>]=|[<>]|in|is)[ \t]"""
    r"""|(?!(?:assert|return|if|elif|else|while|yield|raise|with|for|async|and|or|not|in|is|lambda)\b)(?:await[ \t]+)?\w+"""
    r"""(?:[.(\[][^\n#]{0,200}?[ \t](?:==|is|in)|[ \t]+==)[ \t]|[\w.()]+\.assert_\w+[ \t]*(?:\#|$)|(?:pytest|self)\.(?:raises|warns|assertRaises|assertWarns)\([\w.]+\)[ \t]*$)"""
    r"""|^(?P<i>[ \t]*+)(?:async[ \t]+)?def[ \t]+test\w*\([^)\n]{0,9}\)[^\n]*:[ \t]*(?:\#[^\n]*)?(?:\n[ \t]*)*(?:pass\b|\.{3}|[rR]?(?P<q>"{3}|'{3}|["'])"""
    r"""(?:(?!(?P=q))[\s\S]){0,2000}(?P=q)(?:\s*(?:pass\b|\.{3}|\Z)|[ \t]*\n(?:[ \t]*\n)*+(?!(?P=i)[ \t])))""",
    re.MULTILINE,
)
_DEFINED = later(r"^([ \t]*)(?:async[ \t]+)?(?:def[ \t]+(test\w*)|class[ \t]+(\w+))", re.MULTILINE)
_GROUPED = later(r"^class[ \t]+\w+[ \t]*(?:\([ \t]*\))?:", re.MULTILINE)
_ASIDE = {"doc", "docs", "example", "examples", "samples", "templates"}


class _Place(NamedTuple):
    path: str
    line: int
    name: str


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding for each way, with all of its places."""
    if not any(runs(repo, "pytest", "unittest")):
        return
    found = dict[tuple[str, str], list[_Place]]()
    names = read_names(repo)
    for path in _files(repo):
        tree = repo.tree.python(path) if _is_suspect(repo.tree.text(path) or "") else None
        for line, name, what in _all(repo, path, tree, names) if tree else ():
            found.setdefault(what, []).append(_Place(path, line, name))
    for (why, fix), places in found.items():
        first = places[0]
        listed = ", ".join(f"{p.name} ({p.path}:{p.line})" for p in places[:3])
        more = f" and {len(places) - 3} more" if len(places) > 3 else ""
        yield Finding(
            ID, Level.WARNING, f"{why}: {listed}{more}", first.path, first.line, files=tuple(sorted({p.path for p in places})),
            count=len(places), fix=fix, reproduce=f"pytest -v {first.path}",
        )  # fmt: skip


def _files(repo: Repository) -> Iterable[str]:
    runs_of = collected(repo)
    taken = frozenset[str]().union(*(c.files for c in runs_of)) if runs_of else frozenset()
    if runs_of is not None:
        return sorted(taken)
    return (p for p in test_files(repo.tree) if _ASIDE.isdisjoint(p.split("/")))


def _is_suspect(text: str) -> bool:
    """Return whether a text may hold one of the ways, without parsing it."""
    makes = any(word in text for word in ("__init__", "__new__", "dataclass", "define", "attr"))
    if _SUSPECT.search(text) or any(makes or not t.startswith("class Test") for t in _GROUPED.findall(text)):
        return True
    defined = [m.groups() for m in _DEFINED.finditer(text)]
    return len(set(defined)) < len(defined)


def _all(repo: Repository, path: str, tree: ast.Module, names: Names) -> Iterator[tuple[int, str, tuple[str, str]]]:
    yield from ((c.lineno, c.name, (why, mend)) for c, why, mend in classes_never_collected(repo, path, tree, names))
    for body, is_plain in _scopes(tree.body, True):
        yield from _twice(body)
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
                yield from ((line, node.name, what) for line, what in _of_test(node, is_plain))


def _scopes(body: list[ast.stmt], is_plain: bool) -> Iterator[tuple[list[ast.stmt], bool]]:
    """Yield the bodies in which tests stand; not `plain` where they may take the place of inherited ones, or are none."""
    yield body, is_plain
    for node in body:
        if isinstance(node, ast.ClassDef):
            bases = [str(getattr(b, "attr", getattr(b, "id", ""))) for b in node.bases]
            is_own = all(b.endswith("TestCase") for b in bases) if bases else node.name.lower().startswith("test")
            yield from _scopes(node.body, is_own)


def _twice(body: list[ast.stmt]) -> Iterator[tuple[int, str, tuple[str, str]]]:
    """Yield tests that a later one of the same name in the same block replaces, unless something took them before."""
    last = dict[str, ast.stmt]()
    for node in body:
        is_test = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")
        is_group = isinstance(node, ast.ClassDef) and any(_is_test(n) for n in node.body)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and (is_test or is_group):
            before = last.get(node.name)
            used = {n.id for d in node.decorator_list for n in ast.walk(d) if isinstance(n, ast.Name)}
            if before is not None and node.name not in used:
                why = "a later test of the same name takes its place, so it never runs"
                yield before.lineno, node.name, (why, "give each test its own name")
            last.pop(node.name, None)
            if all(_root(d) in _MARKS for d in node.decorator_list):
                last[node.name] = node
            continue
        for inner in ast.walk(node) if last else ():
            if isinstance(inner, ast.Name):
                last.pop(inner.id, None)


def _is_test(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")


def _root(decorator: ast.expr) -> str:
    node = decorator
    while isinstance(node, ast.Call | ast.Attribute):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _of_test(node: ast.FunctionDef | ast.AsyncFunctionDef, is_plain: bool) -> Iterator[tuple[int, tuple[str, str]]]:
    if is_plain and _is_empty(node):
        yield node.lineno, ("a test without a body", "write it, or delete it")
    for statement in _own(node.body, inside=False):
        what = _of_statement(*statement)
        if what:
            yield statement[0].lineno, what


def _is_empty(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a test does nothing; a decorator or a fixture may be what it is about."""
    parameters = [
        a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs) if a.arg not in ("self", "cls")
    ]
    return (
        not node.decorator_list
        and not parameters
        and all(
            isinstance(n, ast.Pass) or (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))
            for n in node.body
        )
    )


def _own(body: list[ast.stmt], *, inside: bool) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the statements of a test, not those of functions in it; `inside` a `with` or `try` an error may be the point."""
    for node in body:
        yield node, inside
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Match):
            continue
        deeper = inside or isinstance(node, ast.With | ast.AsyncWith | ast.Try)
        for field in ("body", "orelse", "finalbody"):
            yield from _own(getattr(node, field, []), inside=deeper)


def _of_statement(node: ast.stmt, inside: bool) -> tuple[str, str] | None:
    match node:
        case ast.Assert(test=ast.Tuple(elts=[_, *_])):
            return "`assert (x, message)` is a tuple, which always holds", "assert x, message"
        case ast.Assert(test=ast.Constant(value=str() | bytes())) | ast.Assert(test=ast.JoinedStr() | ast.Lambda()):
            return "an assertion of a text or a function, which always holds", "assert what is meant"
        case ast.Assert(test=ast.BoolOp() as test) if known(test) is True:
            return "an assertion that always holds (`or True`)", "assert what is meant"
        case ast.Return(value=ast.Compare()):
            return "a comparison that is returned, not asserted", "assert it"
        case ast.Expr(value=ast.Compare(ops=[ast.Eq() | ast.Is() | ast.In()])) if not inside:
            return "a comparison that stands by itself", "assert it"
        case ast.Expr(value=ast.Attribute(attr=name)) if name.startswith("assert_"):
            return "an assertion of a mock that is not called", f"{name}()"
        case ast.Expr(value=ast.Call(args=[_], keywords=[]) as call) if not inside and _expects(call.func):
            return "an expected error without code that could raise it", "with ...:"
        case _:
            return None


def _expects(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and (getattr(function.value, "id", ""), function.attr) in _EXPECTS
