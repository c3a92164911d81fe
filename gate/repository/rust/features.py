"""Which features of a package a run of cargo turns on, at most."""

import re
from collections.abc import Iterator, Mapping

from gate.commands.part import option_values
from gate.repository.places import inside
from gate.repository.rust.cargo import Crate, Workspace, dependencies, strings
from gate.repository.rust.runs import CargoRun

_ON = frozenset({"--features", "-F"})


def enabled(run: CargoRun, crate: Crate) -> frozenset[str] | None:
    """Return the features that may be on, None for all; what another member asks for counts wherever it is built.

    Cargo unifies features, and which members a run builds together is not worked out here: too many, never too few.
    """
    if run.all_features:
        return None
    table = _features(crate)
    words = run.words[: run.words.index("--")] if "--" in run.words else run.words
    wanted = [f for value in option_values(words, _ON) for f in re.split(r"[\s,]+", value) if f]
    names = {f.rpartition("/")[2] for f in wanted if "/" not in f or f.split("/")[0] == crate.name}
    if "--no-default-features" not in words:
        names.add("default")
    names |= set(_asked(run.workspace, crate))
    found = set[str]()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [f for f in table.get(name, []) if "/" not in f and not f.startswith("dep:")]
            waiting += [f.split("/")[0] for f in table.get(name, []) if "/" in f and "?" not in f]
    return frozenset(found)


def all_features(crate: Crate) -> frozenset[str]:
    """Return every feature that a package has, those of optional dependencies too."""
    optional = {name for name, value in dependencies(crate) if value.get("optional") is True}
    return frozenset({*_features(crate), *optional})


def _features(crate: Crate) -> Mapping[str, list[str]]:
    found = crate.table.get("features")
    return {str(k): strings(v) for k, v in found.items()} if isinstance(found, Mapping) else {}


def _asked(space: Workspace, crate: Crate) -> Iterator[str]:
    """Yield the features that members, the package's own tests among them, ask for where they depend on it."""
    for member in space.members.values():
        keys = set[str]()
        for key, value in dependencies(member):
            path = value.get("path")
            here = isinstance(path, str) and inside(member.folder, path) == crate.folder
            if here or value.get("package", key) == crate.name:
                keys.add(key)
                yield from strings(value.get("features"))
        for listed in _features(member).values():
            for name in listed:
                owner, slash, feature = name.partition("/")
                if slash and owner.removesuffix("?") in keys:
                    yield feature
    shared = space.shared.get(crate.name)
    if isinstance(shared, Mapping):
        yield from strings(shared.get("features"))
