"""Regular expressions that are compiled when they are first used: a run meets few of some two hundred.

What is opened and never closed is looked for through the whole rest of a text, at each place where it opens: a long
line of such places takes minutes. So all that opens behind the last that closes is masked before.
"""

import re
from collections.abc import Callable
from typing import Any, AnyStr, cast


class _Later:
    def __init__(self, pattern: Any, flags: int) -> None:
        self._wanted = pattern, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._wanted), name)  # `re` keeps what it compiled
        setattr(self, name, found)
        return found


def later(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what `re.compile` returns, save that an error in the pattern shows at its first use."""
    return cast("re.Pattern[AnyStr]", _Later(pattern, flags))


_MASK = "\ud800"  # no text that was read holds it
_CLOSED_BY = (("/*", "*/"), ("<!--", "-->"))
_BRACKETS = (("[", "]", "\ud801"), ("(", ")", "\ud802"))


def sub_closed(pattern: str, change: Callable[[re.Match[str]], str], text: str) -> str:
    """Return what `re.sub` returns where the pattern takes no comment that is never closed."""
    for opens, closes in _CLOSED_BY:
        last = text.rfind(closes) + 1
        text = text[:last] + text[last:].replace(opens, opens[:-1] + _MASK)
    text = re.sub(pattern, change, text)
    for opens, _ in _CLOSED_BY:
        text = text.replace(opens[:-1] + _MASK, opens)
    return text


def closable(text: str) -> str:
    """Return a text in which brackets that are never closed are masked; `opened` takes the masks away."""
    for opens, closes, mask in _BRACKETS:
        last = text.rfind(closes) + 1
        text = text[:last] + text[last:].replace(opens, mask)
    return text


def opened(text: str) -> str:
    """Return a text, or a part of it, as it was before `closable`."""
    for opens, _, mask in _BRACKETS:
        text = text.replace(mask, opens)
    return text
