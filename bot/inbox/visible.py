"""Take out of untrusted text what a reader cannot see, before a model reads it."""

import re
import unicodedata

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_KEPT = "\n\t"
# Emoji are joined by U+200D and coloured by U+FE0F; alone, or between letters, these hide things too
_EMOJI_GLUE = "\u200d\ufe0f"


def visible(text: str) -> str:
    """Return the text as a reader of the page sees it: no HTML comments outside code, no invisible characters."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return _shown(_without_comments(plain))


def _without_comments(text: str) -> str:
    """Return the text without its HTML comments; in a code block they are shown, so there they stay."""
    kept: list[str] = []
    at, fence = 0, ""
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        line = text[at:end]
        mark = _FENCE.match(line)
        if fence or mark:
            fence = _next_fence(fence, mark[1] if mark else "", line)
            kept.append(line)
            at = end
            continue
        start = _hidden_at(text, at, end)
        if start is None:
            kept.append(line)
            at = end
        else:
            kept.append(text[at:start])
            closed = text.find("-->", start + 4)
            at = len(text) if closed < 0 else closed + 3
    return "".join(kept)


def _next_fence(fence: str, mark: str, line: str) -> str:
    if not fence:
        return mark
    closes = mark.startswith(fence) and not line.strip().strip(fence[0])
    return "" if closes else fence


def _hidden_at(text: str, at: int, end: int) -> int | None:
    """Return where a comment begins in text[at:end]; one in inline code, or never closed in a line, is shown."""
    start = text.find("<!--", at, end)
    while start >= 0:
        opens_line = not text[text.rfind("\n", 0, start) + 1 : start].strip()
        in_code = text.count("`", at, start) % 2 == 1
        if not in_code and (opens_line or text.find("-->", start + 4) >= 0):
            return start
        start = text.find("<!--", start + 4, end)
    return None


def _shown(text: str) -> str:
    return "".join(char for i, char in enumerate(text) if not _is_hidden(text, i, char))


def _is_hidden(text: str, index: int, char: str) -> bool:
    if char in _KEPT or " " <= char <= "~":
        return False
    if char in _EMOJI_GLUE:
        before = text[index - 1] if index else " "
        is_keycap = text[index + 1 : index + 2] == "\u20e3"
        return before == char or not (is_keycap or unicodedata.category(before) in ("So", "Sk", "Mn", "Po"))
    point = ord(char)
    return (
        unicodedata.category(char) in ("Cf", "Cc", "Cs", "Co", "Cn")  # format, control, surrogate, private, unassigned
        or 0xFE00 <= point <= 0xFE0E  # variation selectors carry bytes unseen
        or 0xE0100 <= point <= 0xE01EF
        or point in (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, 0x2800)  # blank letters
    )
