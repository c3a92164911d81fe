"""What `bun test` collects: https://bun.sh/docs/cli/test."""

from gate.repository.javascript.collecting.collection import Collection, below, read_words
from gate.repository.javascript.configs import join, table
from gate.repository.javascript.globs import matches
from gate.repository.tree import Tree
from gate.tools.tool import Invocation

RUNNER = "bun"
_NAMES = ("**/*{.test,.spec,_test,_spec}.{js,jsx,ts,tsx,mjs,cjs,mts,cts}",)
_VALUES = frozenset({"--timeout", "-t", "--test-name-pattern", "--preload", "-r", "--reporter", "--coverage-reporter", "--rerun-each",
                     "--reporter-outfile", "--coverage-dir", "--seed", "--env-file", "--cwd", "--config", "-c"})  # fmt: skip


def collect(tree: Tree, run: Invocation) -> list[Collection] | None:
    """Return what a run collects; None where that cannot be known from files."""
    words = read_words(run.words, values=_VALUES)
    cwd = join(tree.relative(run.cwd), words.last("--cwd") or ".")
    path = join(cwd, "bunfig.toml")
    root = table(tree.toml(path), "test", "root") if path in tree.known else None
    start = join(cwd, root) if isinstance(root, str) else cwd
    filters = [f.removeprefix("./") for f in words.alone[1:]]

    def fits(file: str) -> bool:
        inner = below(file, start)
        return (
            inner is not None
            and any(matches(inner, n) for n in _NAMES)
            and (not filters or any(f in inner for f in filters))
        )

    place = (path, tree.line_of(path, "root")) if isinstance(root, str) else ("", None)
    return [
        Collection(
            RUNNER,
            cwd,
            tuple(filters) or ("*.test.*", "*_test.*", "*.spec.*", "*_spec.*"),
            *place,
            fits,
            ask="bun test --dry-run",
        )
    ]
