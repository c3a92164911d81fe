"""Split shell text into the simple commands it may run. Reads only; nothing is expanded or executed."""

import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

_ASSIGNMENT = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*\+?=")
_OPERATOR = re.compile(r"^[();<>|&]+$")
_OPENS = {"if", "for", "while", "until", "case", "select"}
_CLOSES = {"fi", "done", "esac"}
_LEADS = {"then", "else", "elif", "do", "{", "}", "!", "time", "if", "while", "until"}


@dataclass(frozen=True, slots=True)
class Simple:
    """One simple command; not `sure` when it runs only in some cases (`||`, `if`, loops); `depth` counts subshells."""

    words: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    sure: bool = True
    depth: int = 0


def split(text: str) -> list[Simple]:
    """Return the simple commands of shell text in order; text that no shell would read gives what could be read."""
    found: list[Simple] = []
    depth = nesting = 0
    after_or = False
    for operator, words in _groups(text):
        depth = max(0, depth + operator.count("(") - operator.count(")"))
        if "||" in operator:
            after_or = True
        elif ";" in operator:
            after_or = False
        if words and words[0] in _CLOSES:
            nesting = max(0, nesting - 1)
        conditional = nesting > 0
        if words and words[0] in _OPENS:
            nesting += 1
        simple = _simple(words, sure=not (after_or or conditional), depth=depth)
        if simple is not None:
            found.append(simple)
    return found


def _simple(words: list[str], *, sure: bool, depth: int) -> Simple | None:
    if words and words[0] in {"for", "case", "select"}:
        return None
    while words and words[0] in _LEADS | _CLOSES:
        words = words[1:]
    env: list[tuple[str, str]] = []
    while words and _ASSIGNMENT.match(words[0]):
        name, _, value = words[0].partition("=")
        env.append((name.rstrip("+"), value))
        words = words[1:]
    if not words:
        return None
    return Simple(tuple(words), tuple(env), sure, depth)


def _groups(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each run of words with the operators that stand before it; redirections are left out."""
    operator, words = "", list[str]()
    is_target = False
    for token in _tokens(text):
        if is_target:
            is_target = False
        elif not _OPERATOR.match(token):
            words.append(token)
        elif "<" in token or (">" in token and "(" not in token):
            is_target = True
            if words and words[-1].isdigit():
                words.pop()
        else:
            if words:
                yield operator, words
                operator, words = "", []
            operator += token
    if words:
        yield operator, words


def _tokens(text: str) -> Iterator[str]:
    for line in _lines(text):
        lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
        lexer.whitespace_split = True
        lexer.commenters = ""
        with suppress(ValueError):  # an open quote: the words before it have been read
            yield from lexer
        yield ";"


def _lines(text: str) -> list[str]:
    """Return logical lines: continuations joined, comments dropped, newlines inside quotes kept."""
    lines, current = list[str](), ""
    quote = ""
    i = 0
    while i < len(text):
        char = text[i]
        if char == "\\" and quote != "'":
            if text[i + 1 : i + 2] == "\n":
                current += " "
            else:
                current += text[i : i + 2]
            i += 2
            continue
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "#" and (not current or current[-1] in " \t;&|("):
            end = text.find("\n", i)
            i = len(text) if end < 0 else end
            continue
        elif char == "\n":
            lines.append(current)
            current = ""
            i += 1
            continue
        current += char
        i += 1
    lines.append(current)
    return [line for line in lines if line.strip()]
