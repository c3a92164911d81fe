"""Split shell text into the simple commands it may run, and say whose failure counts. Nothing is executed."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gate.commands.grammar import Block, Branches, Chain, Group, Leaf, Node, Pipeline, parse

_ASSIGNMENT = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*\+?=")
_STRAY = {"then", "else", "elif", "do", "{", "}", "fi", "done", "esac"}
_SETS = re.compile(r"^[-+][a-zA-Z]*[eo]")


class Simple(NamedTuple):
    """One simple command.

    Not `sure` when it runs only in some cases (`||`, `if`, loops, behind `exit`); `depth` counts subshells. It `binds`
    when its failure is the failure of the text: `a || true`, `a; b`, `a | b` and `a &` swallow that of `a`, and `lost`
    is what does so: `|| true`, `; b`, `| b`, `&`, `&&`, `!`, `if` or `trap`.
    """

    words: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()
    sure: bool = True
    depth: int = 0
    binds: bool = True
    lost: str = ""


class Options(NamedTuple):
    """How the shell is set where the text begins: `set -e`, `set -o pipefail`."""

    errexit: bool = False
    pipefail: bool = False


PLAIN = Options()


def split(text: str, options: Options | None = None) -> list[Simple]:
    """Return the simple commands of shell text in order; text that no shell would read gives what could be read."""
    walk = _Walk(options or PLAIN)
    tree = parse(text)
    walk.given = _given(tree)
    walk.block(tree, _Place())
    found = walk.found
    if walk.forgives:
        return [simple._replace(binds=False, lost="trap") for simple in found]
    return found


class _Place(NamedTuple):
    """Where a command stands: whether it surely runs, whether its status is that of the text, how deep it is."""

    sure: bool = True
    counts: bool = True  # the status of this place is the status of the text
    suspended: bool = False  # errexit does not act here
    depth: int = 0
    lost: str = ""  # by what its status is lost, where it is

    def losing(self, counts: bool, by: str) -> "_Place":
        """Return the place with a status that counts or not, and by what it was lost first."""
        return self._replace(counts=counts, lost="" if counts else self.lost or by)


class _Walk:
    """Goes through the tree in order, with the shell's options as they are set on the way."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._ended = False  # an `exit` that surely runs was met
        self.found: list[Simple] = []
        self.forgives = False  # `trap 'exit 0' EXIT`
        self.given: frozenset[str] = frozenset()  # variables that the text exits with

    def block(self, block: Block, place: _Place) -> None:
        """Walk through chains; the last one gives the status, the others count through errexit or a kept `$?`."""
        kept = self._kept(block)
        for number, chain in enumerate(block.chains):
            is_last = number == len(block.chains) - 1
            stops = self._options.errexit and not place.suspended
            counts = (place.counts and (is_last or kept.get(number, False))) or stops
            by = "&" if chain.background or is_last else f"; {_first(block.chains[number + 1].pipelines)}"
            inner = place.losing(counts and not chain.background, by)
            # errexit looks at the last command of a chain only; where the chain gives the status all of them do
            self._chain(chain, inner, whole=place.counts and is_last)
            self._set(chain)

    def _chain(self, chain: Chain, place: _Place, *, whole: bool) -> None:
        sure, counts = place.sure, place.counts
        else_at = _next_or(chain.operators)
        for number, pipeline in enumerate(chain.pipelines):
            after = number < len(chain.operators)
            other = else_at[number]
            saved = other is not None and self._fails(chain.pipelines[other])
            swallowed = other is not None and not saved
            leaves = saved and not place.depth and not chain.background  # `|| exit 1` ends the whole text
            binds = leaves or (counts and not swallowed and (whole or saved or not after))
            by = f"|| {_first(chain.pipelines[other : other + 1])}" if swallowed and other is not None else "&&"
            inner = place._replace(sure=sure, suspended=place.suspended or after).losing(binds, by)
            self._pipeline(pipeline, inner)
            if number < len(chain.operators) and chain.operators[number] == "||":
                sure = False

    def _pipeline(self, pipeline: Pipeline, place: _Place) -> None:
        for number, node in enumerate(pipeline.nodes):
            is_last = number == len(pipeline.nodes) - 1
            counts = place.counts and not pipeline.negated and (is_last or self._options.pipefail)
            by = "!" if pipeline.negated or is_last else f"| {_words(pipeline.nodes[-1])}"
            self._node(node, place._replace(suspended=place.suspended or pipeline.negated).losing(counts, by))

    def _node(self, node: Node, place: _Place) -> None:
        match node:
            case Leaf(words, asked):
                simple = self._simple(words, place)
                inner = place._replace(depth=place.depth + 1, suspended=True)
                for block in asked:  # the status of `x=$(check)` is that of the check
                    self.block(block, inner.losing(place.counts and simple is None, "$()"))
                if simple is not None:
                    self.found.append(simple)
            case Group(body, subshell):
                outer = self._options
                self.block(body, place._replace(depth=place.depth + subshell))
                if subshell:
                    self._options = outer
            case Branches():
                self._branches(node, place)

    def _branches(self, node: Branches, place: _Place) -> None:
        for number, condition in enumerate(node.conditions):
            asked = node.word == "if" and self._guards(node, number)
            leaves = (
                not place.depth and place.lost != "&" and not place.lost.startswith("| ")
            )  # `exit` ends the whole text
            counts = asked and (place.counts or leaves)
            self.block(
                condition, place._replace(suspended=True, lost="" if counts else place.lost).losing(counts, "if")
            )
            if asked:
                self._rebind(condition, counts=counts)
        for branch in node.branches:
            self.block(branch, place._replace(sure=False))

    def _rebind(self, condition: Block, *, counts: bool) -> None:
        """`if ! check; then exit 1; fi`: the negated check counts after all."""
        negated = [p for c in condition.chains for p in c.pipelines if p.negated]
        if negated and self.found and counts | self._options.errexit:
            self.found[-1] = self.found[-1]._replace(binds=True, lost="")

    def _simple(self, words: Sequence[str], place: _Place) -> Simple | None:
        rest = list(words)
        while rest and rest[0] in _STRAY:
            rest = rest[1:]
        env: list[tuple[str, str]] = []
        while rest and _ASSIGNMENT.match(rest[0]):
            name, _, value = rest[0].partition("=")
            env.append((name.rstrip("+"), value))
            rest = rest[1:]
        if not rest:
            return None
        sure = place.sure and not self._ended
        if rest[0] == "exit" and place.sure and not place.depth:
            self._ended = True
        if rest[0] == "trap" and "EXIT" in rest[2:] and re.search(r"\bexit(?:\s+0)?\s*$", rest[1]):
            self.forgives = True
        return Simple(tuple(rest), tuple(env), sure, place.depth, place.counts, place.lost)

    def _fails(self, pipeline: Pipeline) -> bool:
        """Return whether the right side of `||` keeps the failure: it fails surely, or notes what to exit with."""
        if len(pipeline.nodes) != 1 or pipeline.negated:
            return False
        node = pipeline.nodes[0]
        words = [node.words] if isinstance(node, Leaf) else list(_leaves(node.body)) if isinstance(node, Group) else []
        return any(_leaves_with_failure(w) or self._notes(w) for w in words)

    def _guards(self, node: Branches, number: int) -> bool:
        """Return whether an `if` makes a failure of what it asks a failure of its own, in one of its branches."""
        conditions, branches = node.conditions[number], node.branches
        if any(p.negated for c in conditions.chains for p in c.pipelines):
            failing = branches[number] if number < len(branches) else Block([])
        else:
            failing = branches[-1] if len(branches) > len(node.conditions) else Block([])
        return any(_leaves_with_failure(w) or self._notes(w) for w in _leaves(failing))

    def _notes(self, words: Sequence[str]) -> bool:
        name, _, value = words[0].partition("=") if len(words) == 1 else ("", "", "")
        return name in self.given and value not in ("", "0")

    def _kept(self, block: Block) -> dict[int, bool]:
        """Return the chains whose `$?` is kept and given back: `check; rc=$?; clean; exit $rc`."""
        found: dict[int, bool] = {}
        for number, chain in enumerate(block.chains):
            words = [w for p in chain.pipelines for n in p.nodes if isinstance(n, Leaf) for w in n.words]
            if number and ((self._notes(words) and words[0].endswith("=$?")) or words[:2] == ["exit", "$?"]):
                found[number - 1] = True
        return found

    def _set(self, chain: Chain) -> None:
        """Follow `set -euo pipefail` and `set +e`."""
        for pipeline in chain.pipelines:
            for node in pipeline.nodes:
                if isinstance(node, Leaf) and node.words[:1] == ["set"]:
                    self._options = _after_set(self._options, node.words[1:])


def shell_options(words: Sequence[str]) -> Options:
    """Return how a shell is set by the words behind its name: `-eo pipefail -c TEXT`."""
    return _after_set(PLAIN, [word for word in words if not word.startswith("--")])


def _after_set(options: Options, words: Sequence[str]) -> Options:
    for number, word in enumerate(words):
        if _SETS.match(word):
            on = word[0] == "-"
            name = words[number + 1] if word.endswith("o") and number + 1 < len(words) else ""
            errexit = on if "e" in word[1:] or name == "errexit" else options.errexit
            pipefail = on if name == "pipefail" else options.pipefail
            options = Options(errexit, pipefail)
    return options


def _leaves(block: Block) -> Iterator[list[str]]:
    """Yield the words of the simple commands that stand in the block itself, in order."""
    for chain in block.chains:
        for pipeline in chain.pipelines:
            for node in pipeline.nodes:
                if isinstance(node, Leaf):
                    yield node.words
                elif isinstance(node, Group):
                    yield from _leaves(node.body)


def _leaves_with_failure(words: Sequence[str]) -> bool:
    """Return whether a command surely fails: `exit 1`, `exit $rc`, `false`, or a word by which people say it."""
    if words[:1] in (["exit"], ["return"]):
        return len(words) > 1 and words[1] != "0"
    return words[:1] in (["false"], ["die"], ["fail"], ["abort"], ["kill"])


def _next_or(operators: Sequence[str]) -> list[int | None]:
    """Return for each pipeline of a chain the number of the one that runs where it fails: that behind the next `||`."""
    found: list[int | None] = [None]
    for number in range(len(operators), 0, -1):
        found.append(number if operators[number - 1] == "||" else found[-1])
    return found[::-1]


def _first(pipelines: Sequence[Pipeline]) -> str:
    """Return the words of the first simple command of pipelines, for people."""
    return _words(pipelines[0].nodes[0]) if pipelines and pipelines[0].nodes else "…"


def _words(node: Node) -> str:
    match node:
        case Leaf(words):
            return " ".join(words[:6])
        case Group(body):
            return "; ".join(" ".join(words[:6]) for words in list(_leaves(body))[:6]) or "…"
        case _:
            return f"{node.word} …"


def _given(block: Block) -> frozenset[str]:
    """Return the variables that a text ends with: `exit $rc`."""
    words = [w for w in _leaves(block) if w[:1] == ["exit"] and len(w) > 1]
    return frozenset(w[1].lstrip("$\"'{").rstrip("\"'}") for w in words)
