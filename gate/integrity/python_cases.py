"""Python tests as pytest and unittest collect them, and the assertions in them that can fail."""

import ast
import contextlib
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_PREFIXES = (
    "assert",
    "raises",
    "fail",
    "expect",
    "check",
    "verify",
    "warns",
    "should",
    "ensure",
    "approx",
    "match",
    "compare",
)
_EVERYTHING = {"Exception", "BaseException", "AssertionError"}


@dataclass(frozen=True, slots=True)
class Case:
    """One test: its name, how many assertions in it can fail, and its line."""

    name: str
    asserts: int
    line: int = 0


def cases(text: str) -> list[Case]:
    """Return the tests of a file; text that is no Python gives what looks like tests."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return [Case(name, 1) for name in re.findall(r"^\s*(?:async )?def (test\w*)", text, re.M)]
    helpers = {f.name for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and any(_counted(f.body, frozenset()))}
    return [
        Case(node.name, sum(_counted(node.body, frozenset(helpers))), node.lineno)
        for node in _collected(tree.body)
        if not _without_parameters(node)
    ]


def code(text: str) -> str:
    """Return text without comments and what stands in strings; lines keep their numbers."""
    lines = text.splitlines()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.STRING, tokenize.COMMENT):
                (top, left), (bottom, right) = token.start, token.end
                if top == bottom:
                    lines[top - 1] = lines[top - 1][:left] + " " * (right - left) + lines[top - 1][right:]
                    continue
                lines[top - 1] = lines[top - 1][:left]
                lines[top : bottom - 1] = [""] * (bottom - 1 - top)
                lines[bottom - 1] = " " * right + lines[bottom - 1][right:]
    except (tokenize.TokenError, SyntaxError, IndexError):
        return text
    return "\n".join(lines)


def comments(text: str) -> dict[int, str]:
    """Return the comments of a text by their lines."""
    found = dict[int, str]()
    with contextlib.suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                found[token.start[0]] = token.string
    return found


def _collected(body: Sequence[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield node
        elif isinstance(node, ast.ClassDef | ast.If | ast.Try | ast.With) and _is_entered(node):
            yield from _collected(node.body)


def _is_entered(node: ast.ClassDef | ast.If | ast.Try | ast.With) -> bool:
    """Return whether pytest or unittest look into a class, and Python into a block."""
    if not isinstance(node, ast.ClassDef):
        return not (isinstance(node, ast.If) and _is_never(node.test))
    for inner in node.body:
        if isinstance(inner, ast.Assign) and any(getattr(t, "id", "") == "__test__" for t in inner.targets):
            return bool(getattr(inner.value, "value", True))
        if isinstance(inner, ast.FunctionDef) and inner.name == "__init__" and not node.bases:
            return False
    return node.name.startswith("Test") or bool(node.bases)


def _without_parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a test is parametrized with nothing."""
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and getattr(decorator.func, "attr", "") == "parametrize":
            values = decorator.args[1] if len(decorator.args) > 1 else None
            if isinstance(values, ast.List | ast.Tuple) and not values.elts:
                return True
    return False


def _counted(body: Sequence[ast.stmt], helpers: frozenset[str]) -> Iterator[int]:
    """Yield a one for each assertion that is reached and can fail."""
    for node in body:
        yield from _of_statement(node, helpers)
        if isinstance(node, ast.Return | ast.Raise):
            return


def _of_statement(node: ast.stmt, helpers: frozenset[str]) -> Iterator[int]:
    match node:
        case ast.Assert():
            yield from [] if _always(node.test) else [1]
        case ast.Raise():
            yield 1
        case ast.If():
            yield from _counted([*([] if _is_never(node.test) else node.body), *node.orelse], helpers)
        case ast.Try():
            forgiven = any(_forgives(handler, helpers) for handler in node.handlers)
            handled = [statement for handler in node.handlers for statement in handler.body]
            yield from _counted([] if forgiven else node.body, helpers)
            yield from _counted([*handled, *node.orelse, *node.finalbody], helpers)
        case ast.With() | ast.AsyncWith():
            yield from _of_with(node, helpers)
        case ast.For() | ast.AsyncFor() | ast.While():
            yield from _counted([*node.body, *node.orelse], helpers)
        case ast.Match():
            yield from _counted([statement for case in node.cases for statement in case.body], helpers)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from _counted(node.body, helpers)  # an inner function, called or not
        case _:
            yield from _calls(node, helpers)


def _of_with(node: ast.With | ast.AsyncWith, helpers: frozenset[str]) -> Iterator[int]:
    if not any(_swallows(item.context_expr) for item in node.items):
        yield from (1 for item in node.items for _ in _calls(item.context_expr, helpers))
        yield from _counted(node.body, helpers)


def _calls(node: ast.AST, helpers: frozenset[str]) -> Iterator[int]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            name = inner.func.attr if isinstance(inner.func, ast.Attribute) else getattr(inner.func, "id", "")
            says = name.lower().lstrip("_").startswith(_PREFIXES) or name in helpers
            constant = inner.args and not inner.keywords and all(isinstance(a, ast.Constant) for a in inner.args)
            if says and not (constant and name.startswith("assert")):
                yield 1


def _always(test: ast.expr) -> bool:
    """Return whether a condition holds whatever the code does."""
    if isinstance(test, ast.Tuple | ast.List | ast.Dict | ast.Set | ast.JoinedStr | ast.Lambda):
        return True
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return any(_always(value) for value in test.values)
    return not any(isinstance(n, ast.Name | ast.Attribute | ast.Call) for n in ast.walk(test))


def _is_never(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and not test.value


def _forgives(handler: ast.ExceptHandler, helpers: frozenset[str]) -> bool:
    """Return whether a handler lets a failed assertion pass."""
    return (handler.type is None or bool(_names(handler.type) & _EVERYTHING)) and not any(
        _counted(handler.body, helpers)
    )


def _swallows(context: ast.expr) -> bool:
    """Return whether a `with` lets a failed assertion pass: suppress(Exception), raises(Exception)."""
    if not isinstance(context, ast.Call):
        return False
    name = context.func.attr if isinstance(context.func, ast.Attribute) else getattr(context.func, "id", "")
    if name not in ("suppress", "raises", "assertRaises") or any(k.arg == "match" for k in context.keywords):
        return False
    return any(_names(argument) & _EVERYTHING for argument in context.args)


def _names(node: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {
        n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)
    }
