"""A folder of Swift tests is no target of its package."""

import re
from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.places import folder_of
from gate.repository.shell_files import place

ID = "test-glob-misses"
SUMMARY = (
    "`swift test` runs the test targets that Package.swift declares: a folder below `Tests` that none of them names is never compiled.\n"
    'Next: declare it, `.testTarget(name: "…")`.'
)
_TEST = re.compile(r":\s*XCTestCase\b|^[ \t]*@Test\b|^[ \t]*@Suite\b", re.M)
_COMPUTED = re.compile(r'\\\([^)\n]{0,300}\)|name:\s*[^"\s]|\.map\s*\{|for\s+\w+\s+in\b|FileManager|\+\s*"Tests')


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding for each package that is tested, with the files that no target holds."""
    told = set[str]()
    for at in repo.gate:
        for command in at.commands:
            folder = folder_of(repo, command.cwd) if command.argv[:2] == ("swift", "test") else None
            if folder is None or folder in told or "$" in " ".join(command.argv) or "--package-path" in command.argv:
                continue
            told.add(folder)
            start = f"{folder}/" if folder else ""
            texts = [
                repo.tree.text(p) or ""
                for p in repo.tree.named(f"{start}Package*.swift")
                if p.count("/") == start.count("/")
            ]
            text = "\n".join(texts)
            if not text or _COMPUTED.search(text):
                continue
            missed = [p for p in repo.tree.sources(".swift") if _is_missed(repo, p, start, text)]
            if missed:
                folders = sorted({p.removeprefix(start).split("/")[1] for p in missed})
                yield Finding(
                    ID, Level.ERROR, f"{at.name}: tests that never run: no target of Package.swift holds {', '.join(folders)}", *place(repo.tree, at, command, "test"),
                    files=tuple(sorted(missed)), count=len(missed), fix=f'declare .testTarget(name: "{folders[0]}")', reproduce="swift test list",
                )  # fmt: skip


def _is_missed(repo: Repository, path: str, start: str, text: str) -> bool:
    parts = path.removeprefix(start).split("/")
    if not path.startswith(f"{start}Tests/") or len(parts) < 3:
        return False
    # a target has the folder of its name, or names a path: its own, or one above
    names = {f'"{parts[1]}"', f'"Tests/{parts[1]}"', '"Tests"', '"Tests/"', f'"./Tests/{parts[1]}"'}
    return (
        not any(n in text for n in names)
        and f"Tests/{parts[1]}" not in text
        and _TEST.search(repo.tree.text(path) or "") is not None
    )
