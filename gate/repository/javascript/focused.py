"""Tests of JavaScript that are singled out, so that the others do not run: `it.only`, `fdescribe`, `Deno.test.only`."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gate.repository.javascript.tests import test_files
from gate.repository.javascript.tokens import Token, tokens_of
from gate.repository.tree import Tree

_HEADS = {"describe", "it", "test", "suite", "context", "specify"}
_FOCUSED = {"fdescribe", "fit", "fcontext"}
_BEHIND = {"(", "."}


class Focused(NamedTuple):
    """One of them, as it is written: `it.only`."""

    words: str
    line: int


def singled_out(tree: Tree) -> Mapping[str, list[Focused]]:
    """Return the files with such tests, and what is singled out in them."""

    def make() -> Mapping[str, list[Focused]]:
        files = test_files(tree).items()
        found = {path: list(focused(tree.text(path) or "", options=family == "node")) for path, family in files}
        return {path: words for path, words in found.items() if words}

    return tree.once("tests that are singled out", make)


def focused(text: str, *, options: bool = False) -> Iterator[Focused]:
    """Yield the tests that a text singles out; `options` for runners that take `{ only: true }`."""
    if ".only" not in text and not any(f"{name}(" in text for name in _FOCUSED) and not (options and "only:" in text):
        return
    tokens = tokens_of(text)
    for i, token in enumerate(tokens):
        if token.kind != "name":
            continue
        before, behind = _text(tokens, i - 1), _text(tokens, i + 1)
        if token.text == "only" and before == "." and (behind in _BEHIND or behind.startswith("`")):
            chain = _chain(tokens, i)
            if chain and chain[0] in _HEADS | {"Deno"}:
                yield Focused(".".join(chain), token.line)
        elif token.text in _FOCUSED and behind == "(" and before not in (".", "function"):
            yield Focused(token.text, token.line)
        elif options and token.text == "only" and behind == ":" and _text(tokens, i + 2) == "true":
            yield Focused("only: true", token.line)


def _chain(tokens: list[Token], i: int) -> list[str]:
    names = [tokens[i].text]
    while _text(tokens, i - 1) == "." and i >= 2 and tokens[i - 2].kind == "name":
        i -= 2
        names.insert(0, tokens[i].text)
    return [] if _text(tokens, i - 1) in (".", "?.") else names


def _text(tokens: list[Token], i: int) -> str:
    return tokens[i].text if 0 <= i < len(tokens) else ""
