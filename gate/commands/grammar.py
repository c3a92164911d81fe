"""The grammar of shell text, as far as it decides what runs and whose failure counts. Reads only; never fails."""

import bisect
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

_OPERATOR = re.compile(r"^[();<>|&]+$")
_PARTS = re.compile(r"&&|\|\||;;|\|&|[();|&]")
_DEEPEST = 40
_DOCUMENT = re.compile(r"(?<!<)<<(-?)[ \t]*([\"'\\]?)([A-Za-z_]\w*)")
_READS = re.compile(r"\s*(?:\w+=\S* )*(?:sudo |exec )*(?:ba|da|z|k)?sh\b|\s*(?:ssh|docker|eval)\b")


class Leaf(NamedTuple):
    """A simple command as written, assignments first; `asked` are the texts of its `$(...)` that are not quoted."""

    words: list[str]
    asked: "tuple[Block, ...]" = ()


class Group(NamedTuple):
    """`{ ... }`, or with `subshell` `( ... )`."""

    body: "Block"
    subshell: bool = False


class Branches(NamedTuple):
    """`if`, `case` or a loop: what is asked first, then what runs in some cases; the last branch is the `else`."""

    conditions: "list[Block]"
    branches: "list[Block]"
    word: str = "if"


Node = Leaf | Group | Branches


class Pipeline(NamedTuple):
    """Commands with pipes between them."""

    nodes: list[Node]
    negated: bool = False


class Chain(NamedTuple):
    """Pipelines with `&&` and `||` between them; `operators` has one less."""

    pipelines: list[Pipeline]
    operators: list[str]
    background: bool = False


class Block(NamedTuple):
    """Chains one after the other."""

    chains: list[Chain]


def parse(text: str) -> Block:
    """Return the tree of shell text; what no shell would read is read as far as it goes."""
    reader = _Reader(list(_tokens(text)))
    whole = Block([])
    while not reader.at_end:
        whole.chains.extend(reader.block(frozenset(), 0).chains)
        reader.take()  # a word that closes nothing
    return whole


class _Reader:
    """Takes tokens from the left."""

    def __init__(self, tokens: Sequence[tuple[bool, str]]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def at_end(self) -> bool:
        return self._at >= len(self._tokens)

    def take(self) -> None:
        self._at += 1

    def _operator(self) -> str:
        """Return the operator that is next, nothing before a word."""
        return "" if self.at_end or not self._tokens[self._at][0] else self._tokens[self._at][1]

    def _word(self) -> str:
        return "" if self.at_end or self._tokens[self._at][0] else self._tokens[self._at][1]

    def block(self, until: frozenset[str], depth: int) -> Block:
        """Read chains up to a word of `until`, a closing parenthesis or `;;`."""
        block = Block([])
        while not self.at_end:
            if self._operator() in {";", "&", "&&", "||", "|", "|&"}:
                self.take()
                continue
            if self._operator() in {")", ";;"} or self._word() in until:
                break
            before = self._at
            chain = self._chain(until, depth)
            if chain.pipelines:
                block.chains.append(chain)
            if self._at == before:
                self.take()
        return block

    def _chain(self, until: frozenset[str], depth: int) -> Chain:
        pipelines, operators = list[Pipeline](), list[str]()
        while True:
            pipeline = self._pipeline(until, depth)
            if pipeline.nodes:
                pipelines.append(pipeline)
            operator = self._operator()
            if operator not in {"&&", "||"}:
                break
            self._skip_over(operator)
            if pipelines:
                operators.append(operator)
        del operators[max(0, len(pipelines) - 1) :]
        return Chain(pipelines, operators, background=self._operator() == "&")

    def _skip_over(self, operator: str) -> None:
        """Take an operator and the line ends behind it: a chain goes on in the next line."""
        self.take()
        while operator and self._operator() == ";":
            self.take()

    def _pipeline(self, until: frozenset[str], depth: int) -> Pipeline:
        nodes, negated = list[Node](), False
        while True:
            while self._word() in {"!", "time"}:
                negated ^= self._word() == "!"
                self.take()
            node = self._node(until, depth)
            if node is not None:
                nodes.append(node)
            if self._operator() not in {"|", "|&"}:
                return Pipeline(nodes, negated)
            self._skip_over("|")

    def _node(self, until: frozenset[str], depth: int) -> Node | None:
        if self._operator() == "(" and depth < _DEEPEST:
            self.take()
            group = Group(self.block(frozenset(), depth + 1), subshell=True)
            self._close(")")
            return group
        word = self._word()
        if word in until or not word:
            return None
        if depth < _DEEPEST:
            if word == "{":
                self.take()
                group = Group(self.block(frozenset({"}"}), depth + 1))
                self._close("}")
                return group
            if word == "if":
                return self._if(depth + 1)
            if word in {"while", "until", "for", "select"}:
                return self._loop(depth + 1)
            if word == "case":
                return self._case(depth + 1)
        return self._leaf(depth)

    def _leaf(self, depth: int) -> Leaf:
        words, asked = list[str](), list[Block]()
        while True:
            while self._word():
                words.append(self._word())
                self.take()
            if self._operator() != "(" or not words or not words[-1].endswith("$") or depth >= _DEEPEST:
                return Leaf(words, tuple(asked))
            self.take()
            asked.append(self.block(frozenset(), depth + 1))
            self._close(")")
            words[-1] += "(…)"

    def _close(self, closing: str) -> None:
        if self._operator() == closing or self._word() == closing:
            self.take()

    def _if(self, depth: int) -> Branches:
        found = Branches([], [])
        while self._word() in {"if", "elif"}:
            self.take()
            found.conditions.append(self.block(frozenset({"then", "fi"}), depth))
            self._close("then")
            found.branches.append(self.block(frozenset({"elif", "else", "fi"}), depth))
        if self._word() == "else":
            self.take()
            found.branches.append(self.block(frozenset({"fi"}), depth))
        self._close("fi")
        return found

    def _loop(self, depth: int) -> Branches:
        found = Branches([], [], "loop")
        asks = self._word() in {"while", "until"}
        self.take()
        condition = self.block(frozenset({"do", "done"}), depth)
        if asks:
            found.conditions.append(condition)
        self._close("do")
        found.branches.append(self.block(frozenset({"done"}), depth))
        self._close("done")
        return found

    def _case(self, depth: int) -> Branches:
        found = Branches([], [], "case")
        while not self.at_end and self._word() not in {"in", "esac"}:
            self.take()
        self._close("in")
        while not self.at_end and self._word() != "esac":
            while not self.at_end and self._operator() != ")" and self._word() != "esac":
                self.take()
            self._close(")")
            found.branches.append(self.block(frozenset({"esac"}), depth))
            self._close(";;")
        self._close("esac")
        return found


def _tokens(text: str) -> Iterator[tuple[bool, str]]:
    """Yield words and operators; redirections are left out."""
    target = False
    last = list[str]()
    for token in _words(text):
        if target:
            target = False
        elif not _OPERATOR.match(token):
            if last:
                yield False, last.pop()
            last.append(token)
        elif "<" in token or (">" in token and "(" not in token):
            target = True
            if last and last[0].isdigit():
                last.pop()
        else:
            if last:
                yield False, last.pop()
            for part in _PARTS.findall(token):
                yield True, part
    if last:
        yield False, last.pop()


def _words(text: str) -> Iterator[str]:
    for line in _lines(text):
        lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
        lexer.whitespace_split = True
        lexer.commenters = ""
        with suppress(ValueError):  # an open quote: the words before it have been read
            yield from lexer
        yield ";"


def _behind_document(ends: Mapping[str, Sequence[int]], line: str, start: int) -> int:
    """Return where a shell reads on behind a line: behind what `<<WORD` gives to a program that is no shell."""
    found = _DOCUMENT.search(line) if "<<" in line else None
    if found is None or _READS.match(line):
        return start
    behind = ends.get(found[3], ())
    at = bisect.bisect_right(behind, start)
    return behind[at] if at < len(behind) else start


def _document_ends(text: str) -> dict[str, list[int]]:
    """Return where lines end that hold one word alone, by that word: so a text is looked through once."""
    ends, end = dict[str, list[int]](), 0
    for line in text.split("\n") if "<<" in text else ():
        end = min(len(text), end + len(line) + 1)
        word = line.lstrip("\t").rstrip(" \t")
        if word.isidentifier():
            ends.setdefault(word, []).append(end)
    return ends


def _lines(text: str) -> list[str]:
    """Return logical lines: continuations joined, comments dropped, newlines inside quotes kept."""
    lines, current = list[str](), ""
    ends = _document_ends(text)
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
            i = _behind_document(ends, current, i + 1)
            current = ""
            continue
        current += char
        i += 1
    lines.append(current)
    return [line for line in lines if line.strip()]
