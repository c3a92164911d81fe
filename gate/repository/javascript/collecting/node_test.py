"""What `node --test` collects: https://nodejs.org/api/test.html#running-tests-from-the-command-line."""

import shlex

from gate.repository.javascript.collecting.collection import Collection, below, read_words
from gate.repository.javascript.configs import join
from gate.repository.javascript.globs import matches
from gate.repository.javascript.packages import home, is_below
from gate.repository.tree import Tree
from gate.tools.tool import Invocation

RUNNER = "node --test"
_VALUES = frozenset({
    "--import", "-r", "--require", "--loader", "--experimental-loader", "--test-reporter", "--test-reporter-destination",
    "--test-name-pattern", "--test-skip-pattern", "--test-concurrency", "--env-file", "--env-file-if-exists", "--test-timeout",
    "--test-shard", "--conditions", "-C", "--max-old-space-size", "--test-coverage-include", "--test-coverage-exclude",
    "--tsconfig", "--test-global-setup", "--test-isolation", "-c",
})  # fmt: skip
_NAMES = ("**/*.test.?(c|m)[jt]s", "**/*-test.?(c|m)[jt]s", "**/*_test.?(c|m)[jt]s", "**/test-*.?(c|m)[jt]s", "**/test.?(c|m)[jt]s",
          "**/test/**/*.?(c|m)[jt]s")  # fmt: skip


def collect(tree: Tree, run: Invocation) -> list[Collection] | None:
    """Return what a run collects; None where that cannot be known from files."""
    cwd = tree.relative(run.cwd)
    if run.argv[0] == "borp" or (run.argv[0] == "glob" and "--test" not in " ".join(run.argv)):
        return None
    words = read_words(run.words, values=_VALUES)
    targets = [join(cwd, word) for word in words.alone]
    if any("$" in t for t in targets) or any(t.startswith("..") for t in targets):
        return None
    if "--test" not in words.options and run.argv[0] != "glob":  # a file by itself
        return [_of(tree, cwd, targets[:1], words.alone[:1])]
    return [_of(tree, cwd, targets, words.alone)]


def _of(tree: Tree, cwd: str, targets: list[str], shown: list[str]) -> Collection:
    def fits(file: str) -> bool:
        if targets:
            return any(file == t or (t in tree.folders and is_below(file, t)) or matches(file, t) for t in targets)
        inner = below(file, cwd)
        return inner is not None and any(matches(inner, name) for name in _NAMES)

    patterns = tuple(shown) or ("*.test.js", "*-test.js", "test-*.js", "test.js", "test/**/*.js")
    ask = " ".join(["node", "--test", "--test-reporter=tap", *shown])
    go = "" if cwd in (".", "") else f"cd {shlex.quote(cwd)} && "
    return Collection(
        RUNNER,
        home(tree, join(cwd, "x")),
        patterns,
        "",
        None,
        fits,
        ask=f"{go}{ask} | grep '^# Subtest'",
        globals=False,
    )
