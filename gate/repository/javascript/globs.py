"""Globs as JavaScript's tools read them: `**/?(*.)+(spec|test).[jt]s?(x)`, `src/{a,b}/*.ts`. Folder by folder, so never slow."""

import functools
import re
from collections.abc import Iterable
from typing import NamedTuple

from gate.patterns import later

_MOST_BRACES = 200
_MOST_STARS = 4  # in one name beside a group such as `+(a|b)`; people write two
_BRACES = later(r"(?<!\$)\{([^{}]*)\}")
_GROUP = "?*+@!"


class _Glob(NamedTuple):
    names: tuple[str | re.Pattern[str] | None, ...]  # None is `**`


def matches(path: str, glob: str) -> bool:
    """Return whether a path fits a glob, both from the same folder; `**` goes through folders, a dot is a letter."""
    return any(_fits(path.removeprefix("/").split("/"), one.names) for one in _compiled(glob))


def matches_any(path: str, globs: Iterable[str]) -> bool:
    """Return whether a path fits one of the globs and none that begins with `!` behind it."""
    found = False
    for glob in globs:
        if glob.startswith("!") and not glob.startswith("!("):
            found = found and not matches(path, glob[1:])
        else:
            found = found or matches(path, glob)
    return found


@functools.cache
def _compiled(glob: str) -> tuple[_Glob, ...]:
    found = list[_Glob]()
    for text in braces(glob):
        names = [n for n in _names(text.replace("\\\\", "/")) if n not in ("", ".")]
        found.append(_Glob(tuple(_name(name) for name in names)))
    return tuple(found)


def braces(glob: str) -> list[str]:
    """Return the globs that one with braces stands for."""
    found, done = [glob], list[str]()
    while found and len(found) + len(done) < _MOST_BRACES:
        text = found.pop()
        match = _BRACES.search(text)
        if match is None:
            done.append(text)
            continue
        first, dots, last = match[1].partition("..")
        parts = ["*"] if dots and first and last else match[1].split(",")
        found += [text[: match.start()] + part + text[match.end() :] for part in reversed(parts)]
    return done + found


def _names(text: str) -> list[str]:
    """Return the names between slashes, which are none inside `(...)`."""
    names, depth = [""], 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign == "/" and depth <= 0:
            names.append("")
        else:
            names[-1] += sign
    return names


def _name(text: str) -> str | re.Pattern[str] | None:
    if text == "**":
        return None
    if not any(sign in text for sign in "*?[(\\"):
        return text
    grouped = any(f"{sign}(" in text for sign in _GROUP)
    if grouped and text.count("*") > _MOST_STARS:
        return re.compile("")
    try:
        return re.compile(_source(text, 0, grouped=grouped)[0], re.DOTALL)
    except re.error:
        return re.compile("")  # odd: it is not said that something does not fit


def _source(text: str, i: int, *, grouped: bool, inside: bool = False) -> tuple[str, int]:
    """Return the regular expression of a name, or of what stands in a group up to its end."""
    parts = list[str]()
    while i < len(text):
        sign = text[i]
        if sign in _GROUP and text[i + 1 : i + 2] == "(":
            body, end = _source(text, i + 2, grouped=True, inside=True)
            parts.append(_group(sign, body, text[end:]))
            i = end
            continue
        if inside and sign == ")":
            return "".join(parts), i + 1
        if sign == "*":
            while text[i + 1 : i + 2] == "*":
                i += 1
            parts.append("[^/]*" if grouped else _star(text[i + 1 :]))
        elif sign == "[" and (close := text.find("]", i + 2)) > 0:
            body = text[i + 1 : close].replace("\\", "\\\\")
            parts.append(f"[^{body[1:]}]" if body[0] in "!^" else f"[{body}]")
            i = close
        elif sign == "\\" and i + 1 < len(text):
            i += 1
            parts.append(re.escape(text[i]))
        else:
            parts.append("[^/]" if sign == "?" else "|" if inside and sign == "|" else re.escape(sign))
        i += 1
    return "".join(parts), i


def _star(rest: str) -> str:
    """Return a star that ends where the plain text before the next star first stands: it never has to try again."""
    more = re.match(r"[^*?\[\\]*", rest)
    plain = more[0] if more else ""
    return f"(?>[^/]*?(?={re.escape(plain)}))" if plain and rest[len(plain) : len(plain) + 1] == "*" else "[^/]*"


def _group(sign: str, body: str, rest: str) -> str:
    if sign == "!":
        after, _ = _source(rest, 0, grouped=True) if "!(" not in rest else ("", 0)
        return f"(?!(?:{body}){after}$)[^/]*"
    # a star inside takes as much as repeating would
    times = {"?": "?", "@": "", "+": "" if "*" in body else "{1,9}", "*": "?" if "*" in body else "{0,9}"}
    return f"(?:{body}){times[sign]}"


def _fits(names: list[str], globs: tuple[str | re.Pattern[str] | None, ...]) -> bool:
    """Return whether names fit, one by one; `**` stands for any number of them."""
    at, i, star, back = 0, 0, -1, 0
    while i < len(names):
        glob = globs[at] if at < len(globs) else ""
        if at < len(globs) and glob is None:
            star, back, at = at, i, at + 1
        elif at < len(globs) and (glob == names[i] if isinstance(glob, str) else glob and glob.fullmatch(names[i])):
            at, i = at + 1, i + 1
        elif star >= 0:
            back += 1
            at, i = star + 1, back
        else:
            return False
    while at < len(globs) and globs[at] is None:
        at += 1
    return at == len(globs)
