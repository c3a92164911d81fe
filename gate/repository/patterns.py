"""Regular expressions that strangers wrote, searched for only where that cannot take long."""

import functools
import math
import re
import warnings

_MOST_PATTERN = 2000  # characters
_MOST_STEPS = 1_000_000  # of one search: about 10 ms
_SKIPPED = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)  # escaped signs, and classes with what is in them
_REPEATED_GROUP = re.compile(r"\)[+*{]")
_UNBOUNDED = re.compile(r"[+*]|\{\d*,?\d*\}")
_OPTIONAL = re.compile(r"(?<![+*?(}])\?")


def searches(pattern: str, text: str, *, ignore_case: bool = False) -> bool | None:
    """Return whether a regular expression is found in a text; None where it cannot be said.

    That is one which is wrong, or whose search could take more than `_MOST_STEPS` steps by the worst case of
    backtracking: n^(k+1)/(k+1)! ways for k repeated signs in n characters, times the ways of its alternatives. A
    group that is repeated is never searched for: its ways grow with 2^n.
    """
    compiled = _compiled(pattern, ignore_case)
    if compiled is None:
        return None
    regex, repeats, ways = compiled
    steps = ways * (len(text) + 1) ** (repeats + 1) / math.factorial(repeats + 1)
    return None if steps > _MOST_STEPS else regex.search(text) is not None


@functools.cache
def _compiled(pattern: str, ignore_case: bool) -> tuple[re.Pattern[str], int, int] | None:
    if len(pattern) > _MOST_PATTERN:
        return None
    bare = _SKIPPED.sub("x", pattern)
    if _REPEATED_GROUP.search(bare):
        return None
    ways = 2 ** len(_OPTIONAL.findall(bare)) * _alternatives(bare)
    named = re.sub(r"\(\?<(?=[A-Za-z_])", "(?P<", pattern)  # JavaScript's way to name a group
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `[[` may mean something else in a Python to come
        try:
            return re.compile(named, re.IGNORECASE if ignore_case else 0), len(_UNBOUNDED.findall(bare)), ways
        except (re.error, OverflowError, RecursionError):
            return None


def _alternatives(bare: str) -> int:
    """Return in how many ways a match can go through the alternatives of a pattern: those of its groups, multiplied."""
    ways, open_ = 1, [1]
    for sign in bare:
        if sign == "(":
            open_.append(1)
        elif sign == "|":
            open_[-1] += 1
        elif sign == ")" and len(open_) > 1:
            ways *= open_.pop()
    return ways * math.prod(open_)
