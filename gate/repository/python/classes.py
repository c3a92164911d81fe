"""Classes that look like tests of pytest and that it does not collect."""

import ast
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from gate.integrity.configs import PYTHON
from gate.repository.opening import Repository
from gate.repository.python.config import runs, settings

_MAKES_INIT = {"dataclass", "define", "attrs", "attr", "s", "frozen", "mutable"}


class Names(NamedTuple):
    """What pytest takes for classes of tests, and whether it alone runs: unittest collects in its own way."""

    patterns: tuple[str, ...]
    is_known: bool


def read_names(repo: Repository) -> Names:
    """Return the names of classes that the runs of pytest collect; not `known` where a run or a hook leaves it open."""
    patterns, is_known = set[str](), True
    for _, run, folder in runs(repo, "pytest"):
        own = settings(repo.tree, PYTHON["pytest"], folder)
        patterns |= set((own.words("python_classes") if own else []) or ["Test"])
        is_known &= not any("python_classes" in w for w in run.argv)
    hooks = any("pytest_pycollect" in (repo.tree.text(p) or "") for p in repo.tree.named("**/conftest.py"))
    return Names(tuple(sorted(patterns)), is_known and bool(patterns) and not hooks)


def classes_never_collected(
    repo: Repository, path: str, tree: ast.Module, names: Names
) -> Iterator[tuple[ast.ClassDef, str, str]]:
    """Yield the classes with tests that pytest passes over, why, and the mend; quiet where something else uses them."""
    for node in tree.body if names.is_known else ():
        if not isinstance(node, ast.ClassDef) or node.bases or node.keywords or node.name.startswith("_"):
            continue  # with a base it may be unittest's, or its tests those of others
        fits = any(fnmatchcase(node.name, p) if "*" in p else node.name.startswith(p) for p in names.patterns)
        makes = _makes_init(node) if fits else ""
        if (fits and not makes) or not any(_asserts(n) for n in node.body) or "__test__" in ast.dump(node):
            continue
        if fits:
            yield node, f"pytest does not collect a class with {makes}", "use setup_method or a fixture"
        elif not node.decorator_list and not _is_used(repo, path, tree, node.name):
            yield node, f"pytest collects no class of this name (only {' '.join(names.patterns)}...)", "rename it"


def _is_used(repo: Repository, path: str, tree: ast.Module, name: str) -> bool:
    """Return whether something names a class, here or in another file: its tests may run as those of a class below it."""
    if any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in ast.walk(tree)):
        return True
    return any(name in (repo.tree.text(p) or "") for p in repo.tree.sources(".py") if p != path)


def _makes_init(node: ast.ClassDef) -> str:
    for inner in node.body:
        if isinstance(inner, ast.FunctionDef) and inner.name in ("__init__", "__new__"):
            return f"`{inner.name}`"
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if getattr(called, "attr", getattr(called, "id", "")) in _MAKES_INIT:
            return "an `__init__` by its decorator"
    return ""


def _asserts(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test")
        and any(isinstance(n, ast.Assert) for n in ast.walk(node))
    )
