"""The words and signs of JavaScript and TypeScript, with the lines that they stand in."""

from typing import NamedTuple

from gate.patterns import later

_TOKEN = later(
    r"""(?P<string>"(?:\\.|[^"\\\n])*+\\?(?:"|(?=\n)|\Z)|'(?:\\.|[^'\\\n])*+\\?(?:'|(?=\n)|\Z)|`(?:\\[\s\S]|[^`\\])*+\\?(?:`|\Z))|(?P<number>\d[\w.]*)"""
    r"""|(?P<name>[A-Za-z_$][\w$]*)|(?P<sign>=>|\.\.\.|\?\.|\S)"""
)
# the module that an import names
IMPORT = later(r"""(?:\bfrom|\bimport|\brequire\(|\bimport\()\s*['"]([^'"\n]+)['"]""")
_SPACE = later(r"\s+")
_REGEX = later(r"/(?:\\.|\[(?:\\.|[^\]\\\n]){0,200}+\]|[^/\\\n\[]){1,1000}+/[a-z]*")


class Token(NamedTuple):
    """One of them: `kind` is string, regex, number, name or sign; `start` and `end` are where it stands in the text."""

    kind: str
    text: str
    start: int
    end: int
    line: int


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a text; comments and blanks are left out, and signs that mean nothing."""
    found = list[Token]()
    at, line = 0, 1
    while at < len(text):
        start = at
        if text.startswith("//", at):
            at = text.find("\n", at)
            at = len(text) if at < 0 else at
        elif text.startswith("/*", at):
            at = text.find("*/", at + 2) + 2
            at = at if at >= start + 4 else len(text)
        elif space := _SPACE.match(text, at):
            at = space.end()
        else:
            opens = text[at] == "/" and _may_open(found)
            regex = _REGEX.match(text, at) if opens else None
            token = regex or _TOKEN.match(text, at)
            if token is None:
                at += 1
                continue
            at = token.end()
            found.append(Token("regex" if regex else token.lastgroup or "", token[0], start, at, line))
        line += text.count("\n", start, at)
    return found


def _may_open(found: list[Token]) -> bool:
    """Return whether a slash here opens a regular expression and does not divide."""
    return not found or (found[-1].kind == "sign" and found[-1].text not in ")]}") or found[-1].text == "return"
