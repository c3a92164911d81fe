"""Vaults of Markdown notes: by their editor's folder, or by notes that link to each other."""

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

from gate.proposals.line import Line, read

_EDITORS = (".obsidian", ".foam", ".logseq", ".dendron")
_LEAST = 3  # notes with wikilinks that make a vault
_MOST = 400  # files that are looked at


def look(repo: Path) -> Iterator[Line]:
    """Yield the step for the notes of a repository."""
    marked = next((path for name in _EDITORS for path in (repo / name, *repo.glob(f"*/{name}")) if path.is_dir()), None)
    if marked is not None:
        where = os.fspath(marked.parent.relative_to(repo))
        yield Line("notes", f"gate notes {where}", "check", f"{where} is a vault of notes: {marked.name} is here")
        return
    linked = [path for path in itertools.islice(_notes(repo), _MOST) if "[[" in read(path)]
    if len(linked) >= _LEAST:
        tops = {path.relative_to(repo).parts[0] if len(path.relative_to(repo).parts) > 1 else "." for path in linked}
        where = tops.pop() if len(tops) == 1 else "."
        yield Line("notes", f"gate notes {where}", "check", f"{len(linked)} notes link to each other")


def _notes(repo: Path) -> Iterator[Path]:
    for where, folders, files in os.walk(repo):
        folders[:] = sorted(
            f for f in folders if not f.startswith(".") and f not in ("node_modules", "vendor", "target")
        )
        yield from (Path(where) / name for name in sorted(files) if name.endswith(".md"))
