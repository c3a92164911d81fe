"""What a condition of Python is whatever the code does, and which statements end a block. A tree in, facts out."""

import ast
from collections.abc import Sequence

_OPPOSITE = {ast.Eq: ast.NotEq, ast.Is: ast.IsNot, ast.In: ast.NotIn, ast.Lt: ast.GtE, ast.Gt: ast.LtE}
_SAME = (ast.Eq, ast.Is, ast.LtE, ast.GtE)


def known(test: ast.expr) -> bool | None:
    """Return whether a condition always holds or never does; None where that hangs on the code."""
    match test:
        case ast.Constant() | ast.Tuple() | ast.List() | ast.Set() | ast.Dict() | ast.JoinedStr() | ast.Lambda():
            return _written(test)
        case ast.Name() | ast.Attribute():
            return False if getattr(test, "id", getattr(test, "attr", "")) == "TYPE_CHECKING" else None
        case ast.NamedExpr():
            return known(test.value)
        case ast.UnaryOp(op=ast.Not()):
            inner = known(test.operand)
            return None if inner is None else not inner
        case ast.IfExp():
            asked = known(test.test)
            return None if asked is None else known(test.body if asked else test.orelse)
        case ast.BoolOp():
            return _joined(test)
        case ast.Compare():
            return _compared(test)
        case ast.Call():
            return _called(test)
        case _:
            return None


def _written(test: ast.expr) -> bool:
    """Return the truth of what is written down as it is."""
    match test:
        case ast.Constant():
            return bool(test.value)
        case ast.Tuple() | ast.List() | ast.Set():
            return bool(test.elts)
        case ast.Dict():
            return bool(test.keys)
        case _:
            return True


def always(test: ast.expr) -> bool:
    """Return whether an asserted condition says nothing of the code: it always holds, or no name stands in it."""
    if known(test) is not None:
        return known(test) is True
    return not any(isinstance(n, ast.Name | ast.Attribute | ast.Call) for n in ast.walk(test))


def says_nothing(name: str, call: ast.Call) -> bool:
    """Return whether an assertion of unittest's shape holds whatever the code does."""
    found = call.args
    if not found or not name.startswith("assert"):
        return False
    if not call.keywords and all(isinstance(a, ast.Constant) for a in found):
        return True
    if name in ("assertTrue", "assert_", "assertIsNotNone"):
        return known(found[0]) is True
    if name == "assertFalse":
        return known(found[0]) is False
    return name.endswith(("Equal", "Is")) and "Not" not in name and len(found) > 1 and _same(found[0], found[1])


def is_empty(values: ast.expr) -> bool:
    """Return whether a loop over values has no round."""
    if isinstance(values, ast.Call) and getattr(values.func, "id", "") == "range":
        return [getattr(a, "value", None) for a in values.args] == [0]
    return isinstance(values, ast.Tuple | ast.List | ast.Set | ast.Dict | ast.Constant) and known(values) is False


def may_match(node: ast.Match, case: ast.match_case) -> bool:
    """Return whether a case of a `match` may be taken: not where a constant is held against another one."""
    if case.guard is not None and known(case.guard) is False:
        return False
    subject, pattern = node.subject, case.pattern
    if not isinstance(subject, ast.Constant) or not isinstance(pattern, ast.MatchValue | ast.MatchSingleton):
        return True
    value = pattern.value.value if isinstance(pattern.value, ast.Constant) else pattern.value
    return isinstance(value, ast.expr) or value == subject.value


def leaves(node: ast.stmt) -> bool:
    """Return whether what follows a statement in its block is never reached. A raise may be what a `with` waits for."""
    return isinstance(node, ast.Raise | ast.Break | ast.Continue) or returns(node)


def returns(node: ast.stmt) -> bool:
    """Return whether a statement surely ends its function by returning."""
    match node:
        case ast.Return():
            return True
        case ast.If():
            asked = known(node.test)
            if asked is not None:
                return ends_in_return(node.body if asked else node.orelse)
            return ends_in_return(node.body) and ends_in_return(node.orelse)
        case ast.With() | ast.AsyncWith():
            return ends_in_return(node.body)
        case ast.Try():
            return ends_in_return(node.finalbody) or (not node.handlers and ends_in_return(node.body))
        case _:
            return False


def ends_in_return(body: Sequence[ast.stmt]) -> bool:
    """Return whether a block always returns; a `finally` that does swallows what failed."""
    return any(returns(node) for node in body)


def _joined(test: ast.BoolOp) -> bool | None:
    is_or = isinstance(test.op, ast.Or)
    found = {known(value) for value in test.values}
    if is_or in found:
        return is_or
    if found == {not is_or}:
        return not is_or
    return True if is_or and any(_opposed(a, b) for a, b in zip(test.values, test.values[1:], strict=False)) else None


def _opposed(one: ast.expr, other: ast.expr) -> bool:
    for a, b in ((one, other), (other, one)):
        if isinstance(a, ast.UnaryOp) and isinstance(a.op, ast.Not) and _same(a.operand, b):
            return True
        if isinstance(a, ast.Compare) and isinstance(b, ast.Compare) and len(a.ops) == len(b.ops) == 1:
            turned = _OPPOSITE.get(type(a.ops[0])) is type(b.ops[0])
            if turned and _same(a.left, b.left) and _same(a.comparators[0], b.comparators[0]):
                return True
    return False


def _compared(test: ast.Compare) -> bool | None:
    if len(test.ops) != 1:
        return None
    left, op, right = test.left, test.ops[0], test.comparators[0]
    if isinstance(op, _SAME) and not isinstance(left, ast.Constant) and _same(left, right):
        return True
    is_length = isinstance(left, ast.Call) and getattr(left.func, "id", "") == "len"
    return True if is_length and isinstance(op, ast.GtE) and getattr(right, "value", None) == 0 else None


def _called(test: ast.Call) -> bool | None:
    name, found = getattr(test.func, "id", ""), test.args
    if name == "bool" and len(found) == 1:
        return known(found[0])
    if name in ("any", "all") and len(found) == 1 and isinstance(found[0], ast.List | ast.Tuple):
        values = [known(value) for value in found[0].elts]
        decided = name == "any"
        return decided if decided in values else None if any(v is None for v in values) else not decided
    is_object = name == "isinstance" and len(found) == 2 and getattr(found[1], "id", "") == "object"
    return True if is_object else None


def _same(one: ast.expr, other: ast.expr) -> bool:
    return ast.dump(one) == ast.dump(other)
