"""Bazel's .bazelrc, and the tags of tests in BUILD files.

https://bazel.build/run/bazelrc
"""

import re
import shlex
from bisect import bisect
from collections.abc import Iterator
from typing import NamedTuple

from gate.repository.places import inside
from gate.repository.tree import Tree

# commands whose options `bazel test` takes, the weakest first
_FOR_TEST = ("always", "common", "build", "test")
_RULE = re.compile(r"^\w*(?:_test|_test_suite)[ \t]*\(", re.M)
_END = re.compile(r"^\)", re.M)
_MOST_CHARS = 20_000  # of one rule
_TAGS = re.compile(r"\btags\s*=\s*\[([^\]]*)\]")
_NAME = re.compile(r"\bname\s*=\s*\"([^\"]+)\"")


class RcOption(NamedTuple):
    """One option for `bazel test`: the configuration (empty for none) under which it counts."""

    command: str
    config: str
    word: str
    path: str
    line: int


class TaggedTest(NamedTuple):
    """A rule that is a test, with its tags."""

    label: str
    path: str
    tags: frozenset[str]


def rc_options(tree: Tree) -> list[RcOption]:
    """Return the options that .bazelrc and what it imports set for tests, in the order in which they count."""
    found = list(_read(tree, ".bazelrc", 0))
    return sorted(found, key=lambda o: _FOR_TEST.index(o.command))


def tagged_tests(tree: Tree) -> list[TaggedTest]:
    """Return the tests of BUILD files that have tags."""
    found = list[TaggedTest]()
    for path in tree.sources("BUILD", "BUILD.bazel"):
        text = tree.text(path) or ""
        if path.rpartition("/")[2] not in ("BUILD", "BUILD.bazel") or "tags" not in text:
            continue
        ends = [m.start() for m in _END.finditer(text)]
        for rule in _RULE.finditer(text):
            at = bisect(ends, rule.end())
            body = text[rule.end() : min(ends[at] if at < len(ends) else len(text), rule.end() + _MOST_CHARS)]
            tags, name = _TAGS.search(body), _NAME.search(body)
            if tags and name:
                label = f"//{path.rpartition('/')[0]}:{name[1]}"
                found.append(TaggedTest(label, path, frozenset(re.findall(r"[\"']([^\"']+)[\"']", tags[1]))))
    return found


def _read(tree: Tree, path: str, depth: int) -> Iterator[RcOption]:
    if depth > 5:
        return
    joined, start = "", 0
    for number, line in enumerate((tree.text(path) or "").splitlines(), 1):
        start = start or number
        joined += line.removesuffix("\\")
        if line.endswith("\\"):
            continue
        text, at = joined.strip(), start
        joined, start = "", 0
        words = _words(text)
        if words[:1] in (["import"], ["try-import"]) and len(words) > 1:
            other = inside("", words[1].replace("%workspace%", ""))
            if other and other in tree.known:
                yield from _read(tree, other, depth + 1)
        elif words:
            command, _, config = words[0].partition(":")
            if command in _FOR_TEST:
                yield from (RcOption(command, config, word, path, at) for word in words[1:])


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return []
