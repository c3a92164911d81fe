"""Python tests as pytest and unittest collect them, and the assertions in them that can fail."""

import ast
import contextlib
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gate.integrity.python_truth import always, ends_in_return, is_empty, known, leaves, may_match, says_nothing

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
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_EVERYTHING = {"Exception", "BaseException", "AssertionError"}


class Case(NamedTuple):
    """One test: its name, how many assertions in it can fail, and its line."""

    name: str
    asserts: int
    line: int = 0


class Names(NamedTuple):
    """What a file's names tell: those that are used at all, and the functions that assert something."""

    used: frozenset[str]
    helpers: frozenset[str] = frozenset()


def cases(text: str) -> list[Case]:
    """Return the tests of a file; text that is no Python gives what looks like tests."""
    try:
        return _cases(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return [Case(name, 1) for name in re.findall(r"^[ \t]*(?:async )?def (test\w*)", text, re.M)]


def _cases(tree: ast.Module) -> list[Case]:
    used = frozenset(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    functions = [f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)]
    helpers = frozenset(f.name for f in functions if any(_counted(f.body, Names(used))))
    return [
        Case(node.name, 0 if _is_generator(node) else sum(_counted(node.body, Names(used, helpers))), node.lineno)
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
    gone = _taken_back(body)
    for node in body if "__test__" not in gone else ():
        if getattr(node, "name", "") in gone:
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield node
        elif isinstance(node, ast.ClassDef | ast.If | ast.Try | ast.With) and _is_entered(node):
            yield from _collected(node.body)


def _taken_back(body: Sequence[ast.stmt]) -> set[str]:
    """Return names that stand for no test any more: deleted, set to None or the like, or marked `__test__ = False`."""
    gone = set[str]()
    for node in body:
        if isinstance(node, ast.Delete) or (isinstance(node, ast.Assign) and known(node.value) is False):
            gone |= {t.id for t in node.targets if isinstance(t, ast.Name)}
            marked = [t.value for t in node.targets if isinstance(t, ast.Attribute) and t.attr == "__test__"]
            gone |= {value.id for value in marked if isinstance(value, ast.Name)}
    return gone


def _is_entered(node: ast.ClassDef | ast.If | ast.Try | ast.With) -> bool:
    """Return whether pytest or unittest look into a class, and Python into a block."""
    if not isinstance(node, ast.ClassDef):
        return not (isinstance(node, ast.If) and known(node.test) is False)
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


def _is_generator(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether calling a test runs nothing of it: a `yield` of its own, not of a function in it.

    A decorator may be what goes through it (inlineCallbacks, gen_test); marks of pytest and skips are none.
    """
    if any("mark" not in _names(d) and not _skips(d) for d in node.decorator_list):
        return False
    inside = [inner for inner in ast.walk(node) if inner is not node and isinstance(inner, _FUNCTIONS)]
    theirs = {id(deep) for inner in inside for deep in ast.walk(inner)}
    return any(isinstance(n, ast.Yield | ast.YieldFrom) and id(n) not in theirs for n in ast.walk(node))


def _skips(decorator: ast.expr) -> bool:
    return any(name.startswith(("skip", "expectedFailure")) for name in _names(decorator))


def _counted(body: Sequence[ast.stmt], names: Names) -> Iterator[int]:
    """Yield a one for each assertion that is reached and can fail."""
    for node in body:
        yield from _of_statement(node, names)
        if leaves(node):
            return


def _of_statement(node: ast.stmt, names: Names) -> Iterator[int]:
    match node:
        case ast.Assert():
            yield from [] if always(node.test) else [1]
        case ast.Raise():
            yield 1
        case ast.If():
            asked = known(node.test)
            yield from _counted([] if asked is False else node.body, names)
            yield from _counted([] if asked is True else node.orelse, names)
        case ast.Try():
            forgiven = any(_forgives(handler, names) for handler in node.handlers) or ends_in_return(node.finalbody)
            handled = [statement for handler in node.handlers for statement in handler.body]
            yield from _counted([] if forgiven else node.body, names)
            yield from _counted([*handled, *node.orelse, *node.finalbody], names)
        case ast.With() | ast.AsyncWith():
            yield from _of_with(node, names)
        case ast.For() | ast.AsyncFor() | ast.While():
            idle = known(node.test) is False if isinstance(node, ast.While) else is_empty(node.iter)
            yield from _counted([] if idle else node.body, names)
            yield from _counted(node.orelse, names)
        case ast.Match():
            yield from _counted(
                [statement for case in node.cases if may_match(node, case) for statement in case.body], names
            )
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            if node.decorator_list or node.name in names.used:  # an inner function, called or handed on
                yield from _counted(node.body, names)
        case _:
            yield from [] if _is_idle_lambda(node, names) else _calls(node, names)


def _is_idle_lambda(node: ast.stmt, names: Names) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda()):
            return name not in names.used
        case _:
            return False


def _of_with(node: ast.With | ast.AsyncWith, names: Names) -> Iterator[int]:
    if not any(_swallows(item.context_expr) for item in node.items):
        yield from (1 for item in node.items for _ in _calls(item.context_expr, names))
        yield from _counted(node.body, names)


def _calls(node: ast.AST, names: Names) -> Iterator[int]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            name = inner.func.attr if isinstance(inner.func, ast.Attribute) else getattr(inner.func, "id", "")
            says = name.lower().lstrip("_").startswith(_PREFIXES) or name in names.helpers
            if says and not says_nothing(name, inner):
                yield 1


def _forgives(handler: ast.ExceptHandler, names: Names) -> bool:
    """Return whether a handler lets a failed assertion pass."""
    return (handler.type is None or bool(_names(handler.type) & _EVERYTHING)) and not any(_counted(handler.body, names))


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
