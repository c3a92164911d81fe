"""mypy looks at modules and is told to report nothing of them."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.python.config import product, runs
from gate.repository.python.mypy_files import fits, module, mypy_settings, sections

ID = "typecheck-ignores-errors"
SUMMARY = (
    "`ignore_errors = true` throws away what mypy finds in the modules that it names, or everywhere.\n"
    "Next: take it away; `# type: ignore[code]` on the lines that need it, or `disable_error_code` for one kind."
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each such setting that fits modules of the product."""
    told = set[tuple[str, str]]()
    for at, run, folder in runs(repo, "mypy"):
        own = mypy_settings(repo.tree, run, folder)
        if own is None:
            continue
        parts = [(["*"], own.table, "ignore_errors"), *sections(repo.tree, own)]
        for patterns, table, needle in parts:
            files = [p for p in product(repo.tree) if any(fits(module(p), pattern) for pattern in patterns)]
            if str(table.get("ignore_errors", "")).lower() != "true" or not files or (own.path, needle) in told:
                continue
            told.add((own.path, needle))
            yield Finding(
                ID, Level.ERROR, f"{at.name}: mypy reports nothing of {', '.join(patterns)} ({len(files)} files)", own.path,
                repo.tree.line_of(own.path, needle), files=tuple(sorted(files)), count=len(files), fix="take ignore_errors away",
                reproduce=f"printf 'x: int = \"\"\\n' >> {files[0]}; mypy; git checkout {files[0]}",
            )  # fmt: skip
