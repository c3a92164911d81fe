"""Which files a tsconfig.json gives to the compiler, with what it extends, refers to and what its files import.

https://www.typescriptlang.org/tsconfig/#files, #include, #exclude, #extends, #references.
"""

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gate.commands.resolve import Command
from gate.repository.javascript.configs import join, table
from gate.repository.javascript.globs import matches
from gate.repository.javascript.tokens import IMPORT
from gate.repository.tree import Tree

SUFFIXES = (".ts", ".tsx", ".mts", ".cts")
_TRIED = ("", *SUFFIXES, "/index.ts", "/index.tsx", ".d.ts")
_ALWAYS_OUT = ("node_modules", "bower_components", "jspm_packages")
_PLAIN = re.compile(r"[^*?{\[(+@!\\]*")  # what stands before the first wildcard
_MOST_PROJECTS = 300
_DEEPEST = 8


class Project(NamedTuple):
    """A tsconfig.json as it counts: globs with the folder that they are relative to."""

    path: str
    folder: str
    files: tuple[str, ...] | None
    include: tuple[str, ...] | None
    exclude: tuple[str, ...]
    options: Mapping[str, Any]
    references: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Return whether it names no file at all: `"files": []`, and nothing included."""
        return self.files == () and not self.include


def load_project(tree: Tree, path: str) -> Project | None:
    """Return a project; None where there is none that can be read."""
    return tree.once(f"project {path}", lambda: _load(tree, path, 0))


def projects_of(tree: Tree, command: Command) -> tuple[Project, ...] | None:
    """Return the projects that a run of tsc checks; None where that cannot be known, as with files on the command line."""
    cwd, argv = tree.relative(command.cwd), list(command.argv[1:])
    builds = bool({"-b", "--build"} & set(argv))
    named = [
        w
        for i, w in enumerate(argv)
        if not w.startswith("-") and (builds or argv[i - 1] in ("-p", "--project")) and (i or builds)
    ]
    named += [w.partition("=")[2] for w in argv if w.startswith(("--project=", "-p="))]
    if not builds and not named and any(w.endswith(SUFFIXES) or "*" in w for w in argv):
        return None
    found = list[Project]()
    open_ = [_file(tree, join(cwd, name)) for name in named or ["."]]
    if not named and open_ == [None]:
        open_ = [next((p for f in _upwards(cwd) if (p := _file(tree, f))), None)]
    while open_ and len(found) < _MOST_PROJECTS:
        path = open_.pop(0)
        project = load_project(tree, path) if path else None
        if project is None:
            return None
        if project not in found:
            found.append(project)
            open_ += [_file(tree, r) for r in project.references] if builds else []
    return tuple(found)


def checked(tree: Tree, project: Project) -> frozenset[str]:
    """Return the files that are checked: those it names, and what they import."""
    return tree.once(f"checked by {project.path}", lambda: frozenset(_checked(tree, project)))


def _upwards(folder: str) -> Iterator[str]:
    while folder not in (".", "") and not folder.startswith(".."):
        yield folder
        folder = folder.rpartition("/")[0]
    yield "."


def _file(tree: Tree, path: str) -> str | None:
    return next((p for p in (path, join(path, "tsconfig.json"), f"{path}.json") if p in tree.known), None)


def _load(tree: Tree, path: str, depth: int) -> Project | None:
    found = tree.json(path)
    if found is None or depth > _DEEPEST:
        return None
    folder = path.rpartition("/")[0] or "."
    named = found.get("extends")
    base = Project(path, folder, None, None, (), {}, ())
    for name in named if isinstance(named, list) else [named]:
        other = _file(tree, join(folder, name)) if isinstance(name, str) and name.startswith(".") else None
        inherited = _load(tree, other, depth + 1) if other else None
        if inherited is not None:
            merged = {**base.options, **inherited.options}
            base = base._replace(
                files=inherited.files, include=inherited.include, exclude=inherited.exclude, options=merged
            )
    own = found.get("compilerOptions")
    options = {**base.options, **(own if isinstance(own, dict) else {})}
    out = _below(folder, found.get("exclude"))
    outputs = [
        join(folder, o)
        for key in ("outDir", "declarationDir")
        if isinstance(o := options.get(key), str) and join(folder, o) != folder
    ]
    return Project(
        path, folder, base.files if (files := _below(folder, found.get("files"))) is None else files,
        base.include if (include := _below(folder, found.get("include"))) is None else include,
        (*(base.exclude if out is None else out), *outputs), options, tuple(_references(folder, found.get("references"))),
    )  # fmt: skip


def _below(folder: str, value: Any) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    return tuple(join(folder, v.replace("${configDir}", ".")) for v in value if isinstance(v, str))


def _references(folder: str, value: Any) -> Iterator[str]:
    for reference in value if isinstance(value, list) else []:
        path = table(reference, "path")
        if isinstance(path, str):
            yield join(folder, path)


def _checked(tree: Tree, project: Project) -> set[str]:
    sources = tree.once("sources of TypeScript", lambda: [p for p in tree.files if p.endswith(SUFFIXES)])
    include = project.include if project.include is not None else () if project.files is not None else (project.folder,)
    named = {p for p in project.files or () if p in tree.known and p.endswith(SUFFIXES)}
    named |= {p for p in _near(sources, include) if _is_named(p, include, project.exclude)}
    open_ = list(named)
    while open_:
        path = open_.pop()
        for match in IMPORT.finditer(tree.text(path) or ""):
            target = _imported(tree, project, path, match[1])
            if target and target not in named:
                named.add(target)
                open_.append(target)
    return named


def _near(sources: Sequence[str], globs: tuple[str, ...]) -> Iterator[str]:
    """Yield the sources, which are in order, that begin as one of the globs does."""
    for glob in globs:
        plain = _PLAIN.match(glob)
        start = plain[0] if plain and glob != "." else ""
        yield from sources[bisect_left(sources, start) : bisect_left(sources, f"{start}\U0010ffff")]


def _is_named(path: str, include: tuple[str, ...], exclude: tuple[str, ...]) -> bool:
    if any(part in _ALWAYS_OUT for part in path.split("/")):
        return False
    return any(_fits(path, g) for g in include) and not any(_fits(path, g) for g in exclude)


def _fits(path: str, glob: str) -> bool:
    """Return whether a path fits; a name without a wildcard at its end is a folder, with all below it."""
    if glob == "." or path == glob or path.startswith(f"{glob}/"):
        return True
    plain = _PLAIN.match(glob)
    if plain is None or plain.end() == len(glob) or not path.startswith(plain[0]):  # most of them, in a monorepo
        return False
    return matches(path, glob) or ("*" in glob and matches(path, f"{glob}/**"))


def _imported(tree: Tree, project: Project, path: str, spec: str) -> str | None:
    if spec.startswith("."):
        tops = [posixpath.normpath(posixpath.join(posixpath.dirname(path), spec))]
    else:
        base = project.options.get("baseUrl")
        root = join(project.folder, base) if isinstance(base, str) else project.folder
        tops = [join(root, spec)] if isinstance(base, str) else []
        paths = project.options.get("paths")
        for alias, targets in paths.items() if isinstance(paths, dict) else ():
            head, star, tail = alias.partition("*")
            if spec.startswith(head) and spec.endswith(tail) and (star or spec == alias):
                middle = spec[len(head) : len(spec) - len(tail)]
                tops += (
                    [join(root, t.replace("*", middle)) for t in targets if isinstance(t, str)]
                    if isinstance(targets, list)
                    else []
                )
    for top in tops:
        stem = top[: -len(".js")] if top.endswith(".js") else top
        found = next(
            (p for one in (top, stem) for end in _TRIED if (p := one + end) in tree.known and p.endswith(SUFFIXES)),
            None,
        )
        if found:
            return found
    return None
