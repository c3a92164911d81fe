"""Python: a call that fails raises without a linter's objection: `int("MARK")`, "invalid literal for int(): 'MARK'"."""

import ast
from collections.abc import Callable

from gate.canaries.canary import Level

NAME = "Python"
FILES = ".py .pyi .pyw"
PROGRAMS = "python python3"

_FAILS = 'int("{}")'
# the class is private and has its own name, so that linters of names and docstrings have nothing to say
_TYPE = '''

class _C{mark}:
    """Nothing."""


def _f{mark}(){returns}:
    """Nothing."""
    value: int = _C{mark}()
    print(value)
'''


def _load(line: str) -> Callable[[str, str], str]:
    """Return what puts a line behind the imports, where every use of the file comes by, `sys.exit` or not."""

    def broken(text: str, mark: str) -> str:
        lines = text.split("\n")
        at = _after_imports(text)
        blank = [""] if at and at < len(lines) else []
        rest = lines[at:] if at else ["", "", *lines] if text.strip() else lines
        return "\n".join([*lines[:at], *blank, line.format(mark), *rest])

    return broken


def _after_imports(text: str) -> int:
    """Return how many lines docstring and imports take at the start; all, where it is no Python of this version."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return text.rstrip("\n").count("\n") + 1
    at = 0
    for number, node in enumerate(body):
        is_docstring = number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        shares_its_line = node.lineno <= at
        if not (is_docstring or shares_its_line or isinstance(node, ast.Import | ast.ImportFrom)):
            break
        at = node.end_lineno or at
    return at


def _mistyped(text: str, mark: str) -> str:
    """Return the text with a function whose types are wrong, annotated as the file's own are.

    A checker that leaves functions without annotations alone is blind to a file that has only such.
    """
    own = _functions(text)
    bare = bool(own) and not any(map(_is_annotated, own))
    return text.rstrip("\n") + "\n" + _TYPE.format(mark=mark, returns="" if bare else " -> None")


def _in_functions(text: str, mark: str) -> str | None:
    """Return the text with a failing call at the start of each function's body; None where there is no function."""
    lines = text.split("\n")
    found = 0
    for node in sorted(_functions(text), key=lambda n: n.body[0].lineno, reverse=True):
        first = node.body[0]
        is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(node.body) > 1
        target = node.body[1] if is_docstring else first
        at = min([target.lineno, *(d.lineno for d in getattr(target, "decorator_list", []))])
        before = lines[at - 1].encode()[: target.col_offset].decode("utf-8", "replace")
        if not before.strip() and at > node.lineno:  # not where the body stands in the line of its `def`
            lines.insert(at - 1, before + _FAILS.format(mark))
            found += 1
    return "\n".join(lines) if found else None


def _is_annotated(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return node.returns is not None or any(isinstance(a, ast.arg) and a.annotation for a in ast.walk(node.args))


def _functions(text: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    try:
        nodes = ast.walk(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


BREAKS = {
    Level.SYNTAX: _load("{0} {0}"),
    Level.NAME: _load("{}"),
    Level.TYPE: _mistyped,
    Level.RUN: _load(_FAILS),
    Level.BEHAVIOUR: _in_functions,
}
