"""A linter of Python does not look at a part of the product."""

from collections.abc import Iterable, Iterator

from gate.patterns import later
from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.python.linters import IGNORED, Linted, linted
from gate.repository.tree import Tree

ID = "lint-excludes-source"
SUMMARY = (
    "a pattern hides files of the product from ruff, flake8 or pylint (`exclude`, `extend-exclude`, `ignore-paths`, pre-commit's "
    "`exclude`), or .gitignore names tracked files, which ruff and black pass over in silence. Quiet where another linter looks at "
    "them, and about tests, docs, scripts, vendored and generated files; a warning where only formatting is not judged.\n"
    "Next: take the pattern away, or silence single rules (`per-file-ignores`)."
)
_GENERATED = later(
    r"(?i)generated|do not edit|vendored|third[- ]party|copied (?:from|verbatim)|borrowed from|taken from"
)
_NAMES = later(r"(?i)vendor|generated|_gen\b|pb2|version|thrift|grpc|antlr|autogen|compat|templates?/|lextab|parsetab")


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding for each pattern that hides files from every linter of its kind."""
    found = linted(repo) or ()
    for is_format in (False, True):
        runs = [r for r in found if r.is_format is is_format]
        seen = frozenset[str]().union(*(r.seen for r in runs)) if runs else frozenset()
        told = set[tuple[str, str, int | None]]()
        for run in runs:
            for by, files in run.hidden.items() if run.at and run.seen else ():
                missed = _written(repo.tree, (p for p in files if p not in seen))
                if missed and by not in told:
                    told.add(by)
                    yield _finding(run, by, missed)


def _written(tree: Tree, files: Iterable[str]) -> list[str]:
    """Return the files that people of this repository wrote, and that say something."""
    found = [
        p
        for p in files
        if not _NAMES.search(p) and (t := (tree.text(p) or "").strip()) and not _GENERATED.search(t[:1500])
    ]
    folders = {p.rpartition("/")[0] for p in found if not p.endswith("/__init__.py")}
    return sorted(p for p in found if p.rpartition("/")[0] in folders)


def _finding(run: Linted, by: tuple[str, str, int | None], missed: list[str]) -> Finding:
    pattern, path, line = by
    folders = sorted({p.rpartition("/")[0] or "." for p in missed})
    tool = run.tool.partition(" ")[0]
    many = "1 file" if len(missed) == 1 else f"{len(missed)} files"
    name = run.at.name if run.at else ""
    what = f"not at {many} of the product in {', '.join(folders[:3])}{', ...' if len(folders) > 3 else ''}"
    because = "tracked, and named by .gitignore" if pattern == IGNORED else f"hidden by `{pattern[:80]}`"
    return Finding(
        ID, Level.WARNING if run.is_format else Level.ERROR, f"{name}: {run.tool} looks at {len(run.seen)}, {what} ({because})",
        path, line, files=tuple(missed), count=len(missed), fix="take the pattern away, or silence single rules for these files",
        reproduce=f"{tool} check --show-files | grep {missed[0]}" if tool == "ruff" else f"printf 'import os\\n' >> {missed[0]}; {tool} .; git checkout {missed[0]}",
    )  # fmt: skip
