"""Go's test files: which constraint each is built under, and which runs of `go test` build it.

https://pkg.go.dev/cmd/go#hdr-Build_constraints
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from gate.commands.part import option_values
from gate.commands.resolve import Command
from gate.repository.checks import Check
from gate.repository.tree import Tree

# tags that the platform, the compiler or an option sets, not `-tags`
_PLATFORM = frozenset(
    [
        "aix",
        "android",
        "darwin",
        "dragonfly",
        "freebsd",
        "hurd",
        "illumos",
        "ios",
        "js",
        "linux",
        "nacl",
        "netbsd",
        "openbsd",
        "plan9",
        "solaris",
        "wasip1",
        "windows",
        "zos",
        "unix",
        "386",
        "amd64",
        "arm",
        "arm64",
        "loong64",
        "mips",
        "mips64",
        "mips64le",
        "mipsle",
        "ppc64",
        "ppc64le",
        "riscv64",
        "s390x",
        "sparc64",
        "wasm",
        "cgo",
        "race",
        "msan",
        "asan",
        "gc",
        "gccgo",
        "appengine",
        "boringcrypto",
    ]
)
_OF_PLATFORM = re.compile(r"^(?:go1\.\d+|goexperiment\..*|(?:amd64|arm64|ppc64|riscv64|386|arm|mips\w*|wasm)\..*)$")
_LINE = re.compile(r"^//go:build[ \t]+(.+)$", re.M)
_OLD = re.compile(r"^//[ \t]*\+build[ \t]+(.+)$", re.M)
_PACKAGE = re.compile(r"^package\s", re.M)
_TEST = re.compile(r"^func (?:Test|Fuzz)(?![a-z])\w*\(\w+ \*testing\.[TF]\)", re.M)
_WORD = re.compile(r"\|\||&&|[()!]|[\w.]+")
_TAGS = frozenset({"-tags", "--tags"})
# options of `go test` with a value of their own, beside those written with `=`
_VALUES = frozenset(
    [
        "-run",
        "-skip",
        "-bench",
        "-benchtime",
        "-count",
        "-coverprofile",
        "-covermode",
        "-coverpkg",
        "-cpu",
        "-cpuprofile",
        "-exec",
        "-fuzz",
        "-fuzztime",
        "-memprofile",
        "-o",
        "-outputdir",
        "-p",
        "-parallel",
        "-shuffle",
        "-timeout",
        "-vet",
        "-tags",
        "-ldflags",
        "-gcflags",
        "-mod",
        "-modfile",
        "-C",
        "-asmflags",
        "-toolexec",
        "-trace",
    ]
)
_BOTH = frozenset({True, False})


class GoRun(NamedTuple):
    """One run of Go's tests: its tags (None where they are a variable's), the folders whose packages it tests."""

    at: Check
    command: Command
    tags: frozenset[str] | None
    folders: tuple[str, ...]  # `a/...` with all below it

    def takes(self, path: str) -> bool:
        """Return whether the package of a file is among those that are tested."""
        folder = path.rpartition("/")[0]
        return any(
            f == "..." or (folder == f[:-4] or folder.startswith(f[:-3]) if f.endswith("/...") else folder == f)
            for f in self.folders
        )


def go_runs(tree: Tree, checks: Sequence[Check]) -> list[GoRun]:
    """Return the runs of Go's tests in checks."""
    return [r for at in checks for c in at.commands if (r := _run(tree, at, c)) is not None]


def has_tests(tree: Tree, path: str) -> bool:
    """Return whether a Go file holds tests."""
    return _TEST.search(tree.text(path) or "") is not None


def constraint(tree: Tree, path: str) -> str:
    """Return the constraint above a file's package clause, empty where there is none."""
    text = tree.text(path) or ""
    if "build" not in text[:8192]:
        return ""
    start = _PACKAGE.search(text)
    head = text[: start.start()] if start else text[:8192]
    found = _LINE.search(head)
    if found:
        return found[1].strip()
    lines = [_old(line) for line in _OLD.findall(head)]
    return " && ".join(f"({line})" for line in lines) if lines else ""


def own_tags(expression: str) -> list[str]:
    """Return the tags of a constraint that only `-tags` sets, in order."""
    words = [w for w in _WORD.findall(expression) if w not in ("&&", "||", "!", "(", ")")]
    return list(dict.fromkeys(w for w in words if w not in _PLATFORM and not _OF_PLATFORM.match(w)))


def can_hold(expression: str, tags: frozenset[str] | None) -> bool:
    """Return whether a constraint holds on some platform with these tags; what cannot be read may."""
    if tags is None or len(expression) > 2000:
        return True
    reader = _Reader(_WORD.findall(expression), tags)
    try:
        return True in reader.either(0)
    except (IndexError, RecursionError):
        return True


class _Reader:
    """Evaluates `a && (b || !c)` to the set of values that it may have."""

    def __init__(self, tokens: Sequence[str], tags: frozenset[str]) -> None:
        self._tokens = tokens
        self._tags = tags
        self._at = 0

    def either(self, depth: int) -> frozenset[bool]:
        found = self._both(depth)
        while self._next() == "||":
            self._at += 1
            other = self._both(depth)
            found = frozenset(a or b for a in found for b in other)
        return found

    def _both(self, depth: int) -> frozenset[bool]:
        found = self._one(depth)
        while self._next() == "&&":
            self._at += 1
            other = self._one(depth)
            found = frozenset(a and b for a in found for b in other)
        return found

    def _one(self, depth: int) -> frozenset[bool]:
        if depth > 50:
            return _BOTH
        word = self._tokens[self._at]
        self._at += 1
        if word == "!":
            return frozenset(not v for v in self._one(depth + 1))
        if word == "(":
            found = self.either(depth + 1)
            self._at += 1
            return found
        if word in _PLATFORM or _OF_PLATFORM.match(word):
            return _BOTH
        return frozenset({word in self._tags})

    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""


def _old(line: str) -> str:
    """Return a `// +build a,b c` in today's words: blanks are "or", commas "and"."""
    return " || ".join(f"({' && '.join(part.split(','))})" for part in line.split())


def _run(tree: Tree, at: Check, command: Command) -> GoRun | None:
    argv = command.argv
    if argv[0] == "go" and argv[1:2] == ("test",):
        words = argv[2:]
        if {"-c", "-list", "-n"} & set(words):
            return None
    elif argv[0] in ("gotestsum", "ginkgo", "richgo", "go-acc", "courtney", "gotest"):
        words = argv[1:]
    else:
        return None
    return GoRun(at, command, _tags(at, command, words), tuple(_folders(tree, command, words)))


def _tags(at: Check, command: Command, words: Sequence[str]) -> frozenset[str] | None:
    flags = [v for name, v in (*at.env.items(), *command.env) if name == "GOFLAGS"]
    values = option_values(words, _TAGS)
    values += [v for flag in flags for v in option_values(flag.split(), _TAGS)]
    rest = list(words)
    if "--" in rest:  # gotestsum's words end there, go's begin
        values += option_values(rest[rest.index("--") + 1 :], _TAGS)
    # any word of a variable, unless it is where packages stand, may hold `-tags`
    if any("$" in v for v in values) or any("$" in w for w in words if not w.startswith("$(")) or "$" in "".join(flags):
        return None
    return frozenset(t for v in values for t in re.split(r"[\s,]+", v) if t)


def _folders(tree: Tree, command: Command, words: Sequence[str]) -> list[str]:
    """Return the folders of the packages that are named; those that cannot be told stand for all."""
    here = tree.relative(command.cwd)
    here = "" if here == "." or here.startswith("..") else here
    named, skip = list[str](), False
    for word in words:
        if skip or word in ("-args", "--args"):
            if not skip:
                break
            skip = False
        elif word.startswith("-"):
            skip = word.replace("--", "-", 1) in _VALUES
        else:
            named.append(word)
    if not named:
        return ["..." if command.argv[0] != "go" else here]
    found = list[str]()
    for word in named:
        if not word.startswith("."):
            return ["..."]
        parts = [p for p in f"{here}/{word}".split("/") if p not in ("", ".")]
        if ".." in parts or any("$" in p for p in parts):
            return ["..."]
        found.append("/".join(parts))
    return found
