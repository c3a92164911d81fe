"""What of a text with braces is ever reached: nothing after a plain `return`, nothing behind a condition that never holds.

For JavaScript, Go, Rust, Java, C#, PHP and their kin, without a parser: brackets and words. What is dead becomes blanks,
so that places keep their numbers. Where it is not sure, a text counts as reached.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from gate.patterns import later

_NO = r"(?:false|0|!1|!true|null|undefined|nil)"
_NEVER = later(rf"\s*{_NO}\s*(?:&&|$)")
_OF_NOTHING = later(r"\bof\s+\[\s*\]\s*$")
_ALWAYS = later(r"\s*(?:true|1|!0|!false)\s*(?:\|\||$)")
_CONDITION = later(r"\b(?:if|while|for)\s*\(")
_BARE = later(
    rf"\b(?:if|for|while)\s++(?:{_NO}\s*(?:&&[^{{\n]{{0,300}})?|([^\s{{;=!<>&|][^\n{{;=!<>&|]{{0,79}}?)\s*!=\s*\1\s*)(?={{)"
)
_BARE_ALWAYS = later(r"\bif\s+true\s*(?={)")
_NOBODY = later(r"(?<![\w\])])\[\s*\]\s*\.\s*(?:forEach|map|every|flatMap)\s*\(")
_TIMER = later(r"\b(?:setTimeout|setInterval|setImmediate|queueMicrotask|nextTick)\s*\(")
_CLOCK = later(r"[fF]akeTimers|runAllTimers|advanceTimers|fakeAsync|\.tick\(")
_WAITS = later(
    r"\bPromise\b|\b(?:done|resolve|reject|fulfill?|finish|next|cb|callback|ok|res|rej|end)\s*\(|\b[a-z]\s*\(\s*\)"
)
_SHORT = later(r"(?:(?<=[;{}\n])|^)[ \t]*(?:(?:false|0|null|undefined)\s*&&|(?:true|1)\s*\|\|)", re.M)
_TRY = later(r"\btry\s*(?={)")
_CATCH = later(r"\s*catch\s*(?:\([^()]*\)\s*)?(?={)")
_TELLS = later(r"\b(?:throw|expect|assert\w*|fail\w*|done|reject|return|panic)\b|->|\.(?:Fatal|Error)")
_MARKS = later(r"[{}]|\breturn\b")
_GOES_ON = later(r"\s*(?=[.?:&|+*/%,<>=)\]-]|as\b|instanceof\b)")
_KEYWORD = later(r"\b(?:if|while|for|foreach|switch|with|catch)$")
_BRACKETS = later(r"[(\[{}\])]")
_INK = later(r"[^\n]")
_ASKS = later(r"(?:\belse|\bdo|=>|:)$")
_OPEN, _CLOSED = "([{", ")]}"
_BLOCK = later(r"[^\S\n]*\{")
_FAR = 400  # characters that are looked back at
_NEAR = 80  # of them, where a promise that waits would stand
_LONG = 4000  # of a condition, or of a block that catches, that are looked at
_NOWHERE = 1 << 62


def reached(text: str) -> str:
    """Return text of which what never runs is blank; strings and comments must be blank already."""
    if "try" in text:
        text = _blanked(text, _swallowed(text))
    for pattern in (_CONDITION, _BARE, _BARE_ALWAYS, _NOBODY, _TIMER, _SHORT):
        if pattern.search(text) and not (pattern is _TIMER and _CLOCK.search(text)):
            text = _blanked(text, _never(text, pattern))
    return _without_after_return(text) if "return" in text else text


def _never(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield what hangs on a condition that never holds, and the words of one that always does."""
    pairs, done = _pairs(text), 0
    for match in pattern.finditer(text):
        start, end = match.span()
        if start < done:
            continue
        always = pattern is _BARE_ALWAYS
        if pattern is _NOBODY:
            end = pairs.get(end - 1, len(text))
        elif pattern is _TIMER:  # what runs when the test has ended, unless that waits for it
            end = pairs.get(end - 1, len(text))
            if end - start > _LONG or _WAITS.search(text[max(0, start - _NEAR) : end]):
                continue
        elif pattern is _SHORT or pattern is _BARE:
            end = _statement(text, end, pairs)
        elif pattern is _CONDITION:
            close = pairs.get(end - 1, 0)
            asked = text[end : min(close - 1, end + _LONG)] if close else "?"
            always = text.startswith("if", start) and _ALWAYS.match(asked) is not None
            if not always and not _NEVER.match(asked) and not _OF_NOTHING.search(asked[-_FAR:]):
                continue
            end = close if always else _statement(text, close, pairs)
        yield start, end
        brace = _BLOCK.match(text, end) if always else None
        if brace:  # what stands in it belongs to the block around it
            close = pairs.get(brace.end() - 1, len(text))
            yield from ((end, brace.end()), (close - 1, close))
        done = end


def _swallowed(text: str) -> Iterator[tuple[int, int]]:
    """Yield what is tried where the catch neither fails nor looks at what it caught."""
    pairs = _pairs(text)
    for match in _TRY.finditer(text):
        end = pairs.get(match.end(), len(text))
        caught = _CATCH.match(text, end)
        if caught:
            block = text[caught.end() : pairs.get(caught.end(), len(text))]
            if len(block) < _LONG and not _TELLS.search(block):
                yield match.end(), end


def _without_after_return(text: str) -> str:
    pairs, parts, at = _pairs(text), list[str](), 0
    dead = [_NOWHERE]  # from where on each open block is dead
    for match in _MARKS.finditer(text):
        start, end = match.span()
        parts.append(_alive(text, at, start, dead[-1]))
        at = start if match[0] != "}" else end
        if match[0] == "{":
            dead.append(0 if dead[-1] <= start else _NOWHERE)
        elif match[0] == "}":
            if len(dead) > 1:
                dead.pop()
            parts.append(_alive(text, start, end, dead[-1]))
        elif dead[-1] == _NOWHERE and not _is_asked(text, start):
            dead[-1] = _statement(text, end, pairs)
    parts.append(_alive(text, at, len(text), dead[-1]))
    return "".join(parts)


def _alive(text: str, start: int, end: int, dead: int) -> str:
    cut = min(max(dead, start), end)
    return text[start:cut] + _blank(text[cut:end])


def _is_asked(text: str, at: int) -> bool:
    """Return whether what stands at a place hangs on a condition without braces."""
    before = text[max(0, at - _FAR) : at].rstrip()
    if not before.endswith(")"):
        return _ASKS.search(before[-8:]) is not None
    depth = 0
    for index in range(len(before) - 1, -1, -1):
        depth += (before[index] == ")") - (before[index] == "(")
        if depth == 0:
            return _KEYWORD.search(before[:index].rstrip()[-8:]) is not None
    return True


def _statement(text: str, start: int, pairs: Mapping[int, int]) -> int:
    """Return where a statement ends that goes on at a place: a block, a semicolon, or a line that does not go on."""
    block = _BLOCK.match(text, start)
    if block:
        return pairs.get(block.end() - 1, len(text))
    index, empty = start, not text.startswith("return", start - 6)
    while index < len(text):
        char = text[index]
        if char in _CLOSED:
            return index
        if char == ";":
            return index + 1
        if char == "\n" and not empty:
            on = _GOES_ON.match(text, index)
            if on is None:
                return index
            index = on.end()
            continue
        empty = empty and char.isspace()
        index = pairs.get(index, len(text)) if char in _OPEN else index + 1
    return len(text)


def _pairs(text: str) -> dict[int, int]:
    """Return for each bracket that opens the place after the one that closes it, whatever their kinds."""
    found, opened = dict[int, int](), list[int]()
    for match in _BRACKETS.finditer(text):
        if match[0] in _OPEN:
            opened.append(match.start())
        elif opened:
            found[opened.pop()] = match.end()
    return found


def _blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    parts, at = list[str](), 0
    for start, end in sorted(spans):
        if end > at:
            parts += [text[at : max(start, at)], _blank(text[max(start, at) : end])]
            at = end
    return "".join([*parts, text[at:]])


def _blank(text: str) -> str:
    return _INK.sub(" ", text)
