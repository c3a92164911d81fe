"""A function of checks is called where `set -e` does not act, so only its last command counts."""

from collections.abc import Iterator

from gate.commands.grammar import Block, Branches, Chain, Group, Leaf, parse
from gate.commands.shell import Options, shell_options, split
from gate.patterns import later
from gate.report import Finding, Level
from gate.repository.checkers import is_check
from gate.repository.opening import Repository
from gate.repository.shell_files import ShellText, shell_texts

ID = "errexit-suspended"
SUMMARY = (
    "in a function that is called before `||` or `&&`, behind `!` or in a condition, `set -e` does not act: a failing "
    "check in it is passed over, and the function ends as its last command does.\n"
    "Next: call it on a line of its own, or join its commands with `&&`, or `check || return 1` in it."
)
_FUNCTION = later(r"(?m)^[ \t]*(?:function[ \t]+([\w-]+)[ \t]*(?:\(\))?|([\w-]+)[ \t]*\(\))\s*(?=\{)")
_MOST = 64  # functions of a file that are looked at


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each call that suspends `set -e` for a check which is not the last of its function."""
    told = set[tuple[str, int]]()
    for at in repo.checks:
        for text in shell_texts(repo.tree, at):
            for name, words, line in _suspended(text):
                if (text.path, line) not in told:
                    told.add((text.path, line))
                    yield Finding(
                        ID, Level.WARNING, f"{at.name}: `set -e` does not act in {name} here, so `{words}` may fail unseen",
                        text.path, line, fix=f"call {name} on a line of its own, or `{words} || return 1` in it",
                        reproduce="bash -c 'set -e; f() { false; echo done; }; f || exit 1'; echo $?",
                    )  # fmt: skip


def _suspended(text: ShellText) -> Iterator[tuple[str, str, int]]:
    functions = dict(_functions(text.text))
    if not functions:
        return
    rest = _without(text.text)
    stops = text.options.errexit or any(
        line.split()[:1] == ["set"] and shell_options(line.split()[1:]).errexit for line in rest.splitlines()
    )
    called = set(_calls(parse(rest), suspended=False))
    for name, body in functions.items():
        if not stops or name not in called:
            continue
        for simple in split(body, Options(errexit=False, pipefail=text.options.pipefail)):
            if not simple.binds and simple.lost.startswith(";") and is_check(simple.words):
                at = next((n for n, line in enumerate(text.text.splitlines()) if _is_call(name, line)), 0)
                yield name, " ".join(simple.words)[:60], text.line + at
                break


def _functions(text: str) -> Iterator[tuple[str, str]]:
    for number, match in enumerate(_FUNCTION.finditer(text)):
        if number < _MOST:
            yield match[1] or match[2], text[match.end() + 1 : _end(text, match.end())]


def _without(text: str) -> str:
    """Return text in which the bodies of functions are blank."""
    parts, done = list[str](), 0
    for number, match in enumerate(_FUNCTION.finditer(text)):
        if number < _MOST and match.start() >= done:
            parts.append(text[done : match.start()])
            done = _end(text, match.end()) + 1
    return "".join([*parts, text[done:]])


def _end(text: str, start: int) -> int:
    """Return where the brace closes that opens at a place."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if not depth:
            return at
    return len(text)


def _is_call(name: str, line: str) -> bool:
    words = line.replace("!", " ").replace(";", " ").split()
    return name in words and any(sign in line for sign in ("||", "&&", "!", "if ", "while ", "until "))


def _calls(block: Block, *, suspended: bool) -> Iterator[str]:
    """Yield the first words of commands that stand where errexit does not act."""
    for chain in block.chains:
        yield from _of_chain(chain, suspended=suspended)


def _of_chain(chain: Chain, *, suspended: bool) -> Iterator[str]:
    for number, pipeline in enumerate(chain.pipelines):
        here = suspended or number < len(chain.operators) or pipeline.negated
        for node in pipeline.nodes:
            match node:
                case Leaf(words):
                    if here and words:
                        yield words[0]
                case Group(body):
                    yield from _calls(body, suspended=here)
                case Branches(conditions, branches):
                    for condition in conditions:
                        yield from _calls(condition, suspended=True)
                    for branch in branches:
                        yield from _calls(branch, suspended=here)
