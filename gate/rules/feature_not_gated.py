"""A module, a file of tests or a target needs a feature that no command of the gate turns on."""

from collections.abc import Iterator
from typing import NamedTuple

from gate.report import Finding, Level
from gate.repository.cargo import Crate, sources_of, tables
from gate.repository.cargo_features import all_features, enabled
from gate.repository.cargo_runs import CargoRun, cargo_runs
from gate.repository.opening import Repository
from gate.repository.rust_cfg import can_hold, conditionals, features_of

ID = "feature-not-gated"
SUMMARY = (
    "a module or a file of tests stands under a feature of Cargo that is not on by default, and no command of the gate names it: "
    "nothing compiles it, and its tests never run.\nA note where a workflow turns it on beside the policy, or for features "
    "such as `nightly`.\nNext: `cargo test --all-features`, or a step with `--features`."
)
_ASIDE = ("nightly", "unstable", "docs", "docsrs", "doc", "bench", "benchmarks", "fuzzing", "loom", "internal")


class _Hidden(NamedTuple):
    path: str
    line: int
    features: tuple[str, ...]
    tests: bool


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding for each package and set of features, with the files that are never compiled."""
    runs, every = cargo_runs(repo, gate=True), cargo_runs(repo, gate=False)
    if any(r.kind == "?" for r in runs) or not any(r.kind in ("test", "compile", "lint") for r in runs):
        return
    crates = {f: c for r in runs for f, c in r.workspace.members.items() if r.takes(f)}
    for crate in crates.values():
        own = [r for r in runs if r.takes(crate.folder)]
        others = {h.path for h in _hidden(repo, crate, [r for r in every if r.takes(crate.folder)])}
        groups: dict[tuple[str, ...], list[_Hidden]] = {}
        for hidden in _hidden(repo, crate, own):
            groups.setdefault(hidden.features, []).append(hidden)
        for features, files in groups.items():
            aside = any(f in _ASIDE for f in features) or all(h.path not in others for h in files)
            yield _finding(own, crate, files, level=Level.NOTE if aside else Level.ERROR)


def _finding(own: list[CargoRun], crate: Crate, hidden: list[_Hidden], *, level: Level) -> Finding:
    features = " or ".join(repr(f) for f in hidden[0].features)
    files = sorted({h.path for h in hidden})
    tests = sum(h.tests for h in hidden)
    what = f"{len(files)} file{'s' if len(files) > 1 else ''} behind the feature {features} of {crate.name}"
    verb = "never run" if tests == len(hidden) and len(files) > 1 else "never runs" if tests == len(hidden) else ""
    says = f"{verb or ('is' if len(files) == 1 else 'are')}{'' if verb else ' never compiled'}"
    return Finding(
        ID, level, f"{own[0].at}: {what} {says}: no command of the gate turns it on", hidden[0].path, hidden[0].line,
        files=tuple(files), count=len(files), fix=f"cargo test --all-features, or a step with --features {hidden[0].features[0]}",
        reproduce=f"cargo test -p {crate.name} --features {hidden[0].features[0]}",
    )  # fmt: skip


def _hidden(repo: Repository, crate: Crate, runs: list[CargoRun]) -> Iterator[_Hidden]:
    """Yield what no run compiles, files of tests and targets what no test run does."""
    known = all_features(crate)
    on = [(r, enabled(r, crate)) for r in runs]
    compiling = [features for r, features in on]
    testing = [features for r, features in on if r.kind in ("test", "?")]
    for path in sources_of(repo.tree, crate):
        tests = path.removeprefix(f"{crate.folder}/").startswith("tests/")
        if tests and not testing:
            continue
        for found in conditionals(repo.tree.text(path) or ""):
            names = tuple(f for f in features_of(found.condition) if f in known)
            if names and _never(found.condition, testing if tests else compiling):
                target = _file(repo, path, found.name)
                if target:
                    yield _Hidden(
                        target,
                        found.line if not found.name else 1,
                        names,
                        tests,
                    )
    for kind, folder in (("test", "tests"), ("bin", "src/bin"), ("example", "examples")):
        for table in tables(crate.table.get(kind)):
            wanted = table.get("required-features")
            names = tuple(f for f in wanted if isinstance(f, str) and f in known) if isinstance(wanted, list) else ()
            path = str(table.get("path") or f"{folder}/{table.get('name')}.rs")
            path = f"{crate.folder}/{path}" if crate.folder else path
            sets = testing if kind == "test" else compiling
            if (
                names
                and sets
                and all(s is not None and not s.issuperset(names) for s in sets)
                and path in repo.tree.known
            ):
                yield _Hidden(path, 1, names, kind == "test")


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
