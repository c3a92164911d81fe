"""mypy does not look at a part of the product."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.python.config import product
from gate.repository.python.mypy_files import typed

ID = "typecheck-excludes-source"
SUMMARY = (
    "mypy looks at the files that it is given, less `exclude`, and at what those import (not with `follow_imports = skip` or "
    "`silent`): the rest of the product may say anything. Tests, docs, examples and scripts are not counted.\n"
    "Next: take `exclude` away, or name the folders in `files`."
)
_KEYS = ("exclude", "files", "packages", "follow_imports")


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding of all files of the product that no mypy of any check looks at."""
    found = typed(repo)
    if not found:
        return
    seen = frozenset[str]().union(*(t.seen for t in found))
    roots = {p.split("/")[0] for p in seen}
    packages = {f.rpartition("/")[0] for f in repo.tree.known if f.endswith("/__init__.py")}
    missed = [
        p
        for p in product(repo.tree)
        if p not in seen and (p.split("/")[0] in roots or p.rpartition("/")[0] in packages)
    ]
    if not missed or not seen:
        return
    last = found[-1]
    path, line = last.at.source, last.at.line
    for key in _KEYS if last.settings and any(k in last.settings.table for k in _KEYS) else ():
        at = repo.tree.line_of(last.settings.path, key) if last.settings and key in last.settings.table else None
        if last.settings and at:
            path, line = last.settings.path, at
            break
    folders = sorted({p.rpartition("/")[0] or "." for p in missed})
    yield Finding(
        ID, Level.ERROR, f"{last.at.name}: mypy looks at {len(seen)} files of the product and not at {len(missed)}, in {', '.join(folders[:5])}",
        path, line, files=tuple(sorted(missed)), count=len(missed), fix="take the exclusion away, or name the folders in `files`",
        reproduce=f"printf 'x: int = \"\"\\n' >> {missed[0]}; mypy; git checkout {missed[0]}",
    )  # fmt: skip
