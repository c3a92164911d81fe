"""A target of Cargo holds tests of which none runs, by its manifest or by `#[ignore]`."""

import re
from collections.abc import Iterator, Mapping

from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.rust.cargo import Crate, sources_of, tables
from gate.repository.rust.runs import CargoRun, cargo_runs

ID = "ignored-tests"
SUMMARY = (
    "`#[test]` functions that cargo never runs, without a word: their target has `harness = false` or `test = false`, the package "
    "has `autotests = false` and does not list their file,\nor all of a file are `#[ignore]`d and no command asks for those.\n"
    "Next: take the setting away, list the target, or add a step with `-- --ignored`."
)
_TEST = re.compile(r"^[ \t]*#\[test\]", re.M)
_ANY = re.compile(r"^[ \t]*#\[(?:[\w:]+::)?test\b[^\n]*\]", re.M)
_OWN = re.compile(r"\buse\s(?=[^;]{0,300}?\btest\b)[^;]{0,600}+;|macro_rules!\s*test\b")
_ASKS = {"--ignored", "--include-ignored", "--run-ignored"}
_CHOOSES = {"--all-targets", "--tests", "--lib", "--bins", "--test", "--bin", "--benches"}


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding for each target, and one for all files of a package that it does not list."""
    runs = [r for r in cargo_runs(repo, gate=True) if r.kind in ("test", "?")]
    seen = set[str]()
    for run in runs:
        for folder, crate in run.workspace.members.items():
            taking = [r for r in runs if r.takes(folder)]
            if folder not in seen and taking and all(r.is_told and r.kind == "test" for r in taking):
                seen.add(folder)
                yield from _of_crate(repo, crate, taking)


def _of_crate(repo: Repository, crate: Crate, runs: list[CargoRun]) -> Iterator[Finding]:
    name = runs[0].at
    words = {w.split("=")[0] for r in runs for w in r.words}
    listed = dict(_targets(crate))
    for path, table in listed.items():
        if table.get("harness") is False and _has_plain(repo, path):
            yield _finding(repo, crate, name, "has `harness = false`, and its own main runs no `#[test]`", [path])
        elif table.get("test") is False and not words & _CHOOSES:
            files = [f for f in _files(repo, crate, path) if _has_plain(repo, f)]
            if files:
                yield _finding(repo, crate, name, "has `test = false`", files)
    tests = [p for p in sources_of(repo.tree, crate) if _inside(crate, p).rpartition("/")[0] == "tests"]
    package = crate.table.get("package")
    if isinstance(package, Mapping) and package.get("autotests") is False:
        text = "\n".join(repo.tree.text(p) or "" for p in sources_of(repo.tree, crate))
        missed = [
            p
            for p in tests
            if p not in listed
            and _has_plain(repo, p)
            and not re.search(rf"\bmod\s+{re.escape(p.rpartition('/')[2][:-3])}\b", text)
        ]
        if missed:
            yield _finding(repo, crate, name, "not listed as targets, and the package has `autotests = false`", missed)
    if not words & _ASKS:
        beside = any(not r.is_told or _ASKS.intersection(r.words) for r in cargo_runs(repo, gate=False)) or any(
            "--ignored" in c.text for c in repo.checks
        )
        level = Level.NOTE if beside else Level.WARNING
        for path in tests:
            text = repo.tree.text(path) or ""
            found = list(_ANY.finditer(text))
            if found and all(_ignored(text, m) for m in found):
                yield _finding(repo, crate, name, "holds nothing but ignored tests", [path], level=level)


def _finding(
    repo: Repository, crate: Crate, name: str, why: str, files: list[str], *, level: Level = Level.WARNING
) -> Finding:
    many = files[0] if len(files) == 1 else f"{len(files)} files"
    word = re.search(r"`([\w-]+) = false`", why)
    in_manifest = repo.tree.line_of(crate.path, word[1]) if word else None
    path, line = (crate.path, in_manifest) if in_manifest else (files[0], 1)
    return Finding(
        ID, level, f"{name}: tests that never run: {many} {why}", path, line, files=tuple(sorted(files)), count=len(files),
        fix="take the setting away, or list the target" if word else "run them: cargo test -- --include-ignored",
        reproduce=f"cargo test -p {crate.name} -- --list",
    )  # fmt: skip


def _targets(crate: Crate) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the targets that a manifest lists, by the file in which each begins."""
    lib = crate.table.get("lib")
    if isinstance(lib, Mapping):
        yield _place(crate, lib, "src/lib.rs"), lib
    for kind, folder in (("test", "tests"), ("bin", "src/bin")):
        for table in tables(crate.table.get(kind)):
            yield _place(crate, table, f"{folder}/{table.get('name')}.rs"), table


def _place(crate: Crate, table: Mapping[str, object], default: str) -> str:
    path = table.get("path")
    path = path if isinstance(path, str) else default
    return f"{crate.folder}/{path}" if crate.folder else path


def _inside(crate: Crate, path: str) -> str:
    return path.removeprefix(f"{crate.folder}/") if crate.folder else path


def _files(repo: Repository, crate: Crate, path: str) -> list[str]:
    """Return the files of a target: those of the library are all beside it that belong to no program."""
    if not path.endswith("/lib.rs") and path != "lib.rs":
        return [path]
    folder = path.rpartition("/")[0]
    aside = (f"{folder}/bin/", f"{folder}/main.rs")
    return [p for p in sources_of(repo.tree, crate) if p.startswith(f"{folder}/") and not p.startswith(aside)]


def _has_plain(repo: Repository, path: str) -> bool:
    """Return whether a file holds `#[test]` of the language, not one of a crate's own."""
    text = repo.tree.text(path) or ""
    return _TEST.search(text) is not None and not _OWN.search(text)


def _ignored(text: str, test: re.Match[str]) -> bool:
    """Return whether `#[ignore]` stands among the attributes around that of a test."""
    before = reversed(text[max(0, test.start() - 1000) : test.start()].rstrip("\n").split("\n"))
    behind = text[test.end() : test.end() + 1000].split("\n")
    for lines in (before, behind):
        for line in lines:
            words = line.strip()
            if words.startswith("#[ignore"):
                return True
            if words and not words.startswith(("#[", "//")):
                break
    return False
