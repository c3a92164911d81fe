"""A module, a file of tests or a target needs a feature that no command of the gate turns on."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.rust.cargo import Crate, sources_of, strings, tables
from gate.repository.rust.cfg import can_hold, conditionals, features_of
from gate.repository.rust.features import all_features, enabled
from gate.repository.rust.runs import CargoRun, cargo_runs

ID = "feature-not-gated"
SUMMARY = (
    "a module or a file of tests stands under a feature of Cargo that is not on by default, and no command of the gate names it: "
    "nothing compiles it, and its tests never run.\nA note where a workflow turns it on beside the policy, or for features "
    "such as `nightly`.\nNext: `cargo test --all-features`, or a step with `--features`."
)
_ASIDE = re.compile(r"^(?:unstable|nightly|bench|docs?$|docsrs|fuzz|loom|internal|__)")


class _Hidden(NamedTuple):
    """A file that is left out: what it stands behind in words, its features, and whether they are asked for to be off."""

    path: str
    line: int
    behind: str
    features: tuple[str, ...]
    is_negated: bool
    kind: str  # module, test, bin or example


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding for each package and set of features, with the files that are never compiled."""
    runs, every = cargo_runs(repo, gate=True), cargo_runs(repo, gate=False)
    if any(r.kind == "?" for r in runs):
        return
    crates = {f: c for r in runs for f, c in r.workspace.members.items() if r.takes(f)}
    for crate in crates.values():
        own = [r for r in runs if r.takes(crate.folder)]
        groups: dict[tuple[str, bool], list[_Hidden]] = {}
        for hidden in _hidden(repo, crate, own):
            groups.setdefault((hidden.behind, hidden.kind == "example"), []).append(hidden)
        others = {h.path for h in _hidden(repo, crate, [r for r in every if r.takes(crate.folder)])} if groups else ()
        for files in groups.values():
            yield _finding(own, crate, files, beside=all(h.path not in others for h in files))


def _finding(own: list[CargoRun], crate: Crate, hidden: list[_Hidden], *, beside: bool) -> Finding:
    first, files = hidden[0], sorted({h.path for h in hidden})
    aside = beside or any(_ASIDE.match(f) for f in first.features)
    level = Level.NOTE if aside else Level.WARNING if first.is_negated or first.kind == "example" else Level.ERROR
    many = f"{len(files)} files" if len(files) > 1 else "1 file"
    runs = all(h.kind == "test" for h in hidden)
    says = (
        ("never run" if len(files) > 1 else "never runs")
        if runs
        else f"{'are' if len(files) > 1 else 'is'} never compiled"
    )
    word = "--no-default-features" if first.is_negated else f"--features {','.join(first.features[:1])}"
    turned = "turns it off" if first.is_negated else "turns it on"
    return Finding(
        ID, level, f"{own[0].at}: {many} behind {first.behind} of {crate.name} {says}: no command of the gate {turned}", first.path, first.line,
        files=tuple(files), count=len(files), fix=f"a step with {word}" + ("" if first.is_negated else ", or with --all-features"),
        reproduce=f"cargo test -p {crate.name} {word}",
    )  # fmt: skip


def _hidden(repo: Repository, crate: Crate, runs: list[CargoRun]) -> Iterator[_Hidden]:
    """Yield what no run compiles, files of tests and targets what no test run does."""
    known = all_features(crate)
    on = [(r, enabled(r, crate)) for r in runs]
    compiling = [features for r, features in on]
    testing = [features for r, features in on if r.kind in ("test", "?")]
    for path in sources_of(repo.tree, crate):
        tests = path.removeprefix(f"{crate.folder}/").startswith("tests/")
        for found in conditionals(repo.tree.text(path) or ""):
            names = tuple(f for f in features_of(found.condition) if f in known)
            if names and _never(found.condition, testing if tests else compiling):
                target = _file(repo, path, found.name)
                if target:
                    negated = "not(" in found.condition.replace(" ", "")
                    behind = f"`cfg({found.condition})`" if negated or "all(" in found.condition else _named(names)
                    line = 1 if found.name else found.line
                    yield _Hidden(target, line, behind, names, negated, "test" if tests else "module")
    for kind, folder in (("test", "tests"), ("bin", "src/bin"), ("example", "examples")):
        sets = testing if kind == "test" else compiling
        for table in tables(crate.table.get(kind)):
            names = tuple(f for f in strings(table.get("required-features")) if f in known)
            path = str(table.get("path") or f"{folder}/{table.get('name')}.rs")
            path = f"{crate.folder}/{path}" if crate.folder else path
            if (
                names
                and path in repo.tree.known
                and sets
                and all(s is not None and not s.issuperset(names) for s in sets)
            ):
                yield _Hidden(path, 1, _named(names), names, False, kind)


def _named(names: tuple[str, ...]) -> str:
    return f"the feature {' or '.join(map(repr, names))}"


def _never(condition: str, sets: list[frozenset[str] | None]) -> bool:
    return bool(sets) and all(s is not None and not can_hold(condition, s) for s in sets)


def _file(repo: Repository, path: str, name: str) -> str:
    """Return the file of a module that another declares, nothing where it cannot be told."""
    if not name:
        return path
    folder, _, base = path.rpartition("/")
    stem = base.removesuffix(".rs")
    home = (
        folder
        if stem in ("mod", "lib", "main") or folder.endswith(("/tests", "/bin")) or folder == "tests"
        else f"{folder}/{stem}"
    )
    places = (f"{home}/{name}.rs", f"{home}/{name}/mod.rs")
    return next((p.lstrip("/") for p in places if p.lstrip("/") in repo.tree.known), "")
