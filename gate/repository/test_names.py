"""Files that hold tests by their names, in any language."""

from gate.integrity.python_cases import cases
from gate.patterns import later
from gate.repository.javascript.tests import test_files
from gate.repository.tree import NOT_SOURCE, Tree

_NAMES = later(
    r"^(?:(?P<a>test_).*\.py|.*(?P<b>_test)\.py|.*(?P<c>\.(?:test|spec))\.[cm]?[jt]sx?|.*(?P<d>_test)\.go|.*(?P<e>_(?:spec|test))\.rb|(?P<f>test_).*\.rb"
    r"|.*(?P<g>Tests?)\.(?:php|java|kt|cs|swift)|.*(?P<h>\.bats)|.*(?P<i>\.t)|(?P<j>test[-_]).*\.(?:[cm]?[jt]s|sh)|.*(?P<k>[-_]test)\.(?:[cm]?[jt]s|sh))$"
)


def kind_of(path: str) -> str:
    """Return how a file of tests is named, a word that those of its kind share; empty for another file."""
    *folders, name = path.split("/")
    if not NOT_SOURCE.isdisjoint(folders):
        return ""
    found = _NAMES.match(name)
    return found.lastgroup or "" if found else ""


def holds_tests(tree: Tree, path: str) -> bool:
    """Return whether a file that is named like one of tests has some."""
    if path.endswith(".py"):
        return any(case.asserts for case in cases(tree.text(path) or ""))
    if path.endswith(("js", "ts", "jsx", "tsx")):
        return path in test_files(tree)
    return bool((tree.text(path) or "").strip())
