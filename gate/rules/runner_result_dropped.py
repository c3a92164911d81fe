"""A script runs tests and ends as if they had passed, whatever their result was."""

import ast
from collections.abc import Iterator

from gate.commands.resolve import Command
from gate.report import Finding, Level
from gate.repository.opening import Repository
from gate.repository.python.config import below
from gate.repository.tree import Tree

ID = "runner-result-dropped"
SUMMARY = (
    "`unittest.TextTestRunner().run(suite)`, `pytest.main()`, `doctest.testmod()` and `unittest.main(exit=False)` return what "
    "became of the tests and do not end the program: a script that drops it exits 0. Looked at are the scripts that a check "
    "starts and the modules that these import.\n"
    "Next: `sys.exit(not result.wasSuccessful())`, `sys.exit(pytest.main())`."
)
_RETURNS = {
    "main": ("pytest", "unittest"),
    "console_main": ("pytest",),
    "testmod": ("doctest",),
    "testfile": ("doctest",),
    "run_unittest": (),
}
_LOOKED = {"wasSuccessful", "failures", "errors", "failed"}
_SUFFIX = "TestRunner"


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each call whose result nothing looks at."""
    told = set[str]()
    for at in repo.checks:
        for command in at.commands:
            for path in _scripts(repo.tree, command):
                if path in told:
                    continue
                told.add(path)
                for line, what, fix in dropped(repo.tree.python(path)):
                    yield Finding(
                        ID, Level.WARNING, f"{at.name}: {what} in this script returns what became of the tests, and nothing looks at it",
                        path, line, fix=fix, reproduce=f"{' '.join(command.argv)[:80]}; echo $?",
                    )  # fmt: skip


def _scripts(tree: Tree, command: Command) -> Iterator[str]:
    """Yield the script that a command starts, and the modules of this repository that it imports."""
    folder = tree.relative(command.cwd)
    folder = "" if folder == "." else folder
    words = [w for w in command.argv[1:] if not w.startswith("-")][:1]
    if command.argv[0] == "python" and words and words[0].endswith(".py"):
        start = [below(folder, words[0])]
    elif command.launcher[-2:] == ("python", "-m"):
        name = command.argv[0].replace(".", "/")
        start = [below(folder, f"{name}.py"), below(folder, f"{name}/__main__.py")]
    else:
        start = [below(folder, command.program)] if command.program.endswith(".py") and "/" in command.program else []
    for path in start:
        if path in tree.known:
            yield path
            yield from _imported(tree, path)


def _imported(tree: Tree, path: str) -> Iterator[str]:
    found = tree.python(path)
    own = path.rpartition("/")[0]
    for node in found.body if found else ():
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
        for name in names:
            for base in {own, ""}:
                module = below(base, f"{name.replace('.', '/')}.py")
                if module in tree.known:
                    yield module


def dropped(tree: ast.Module | None) -> Iterator[tuple[int, str, str]]:
    """Yield the line of each dropped result, what was called, and how to mend it."""
    nodes = list(ast.walk(tree)) if tree else []
    runners = {
        t.id
        for n in nodes
        if isinstance(n, ast.Assign) and _is_runner(n.value)
        for t in n.targets
        if isinstance(t, ast.Name)
    }
    if any(isinstance(n, ast.Attribute) and n.attr in _LOOKED for n in nodes):
        return
    read = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    for node in nodes:
        names = [t.id for t in node.targets if isinstance(t, ast.Name)] if isinstance(node, ast.Assign) else []
        is_dropped = isinstance(node, ast.Expr) or (isinstance(node, ast.Assign) and names and read.isdisjoint(names))
        if is_dropped and isinstance(node, ast.Expr | ast.Assign) and isinstance(node.value, ast.Call):
            found = _what(node.value, runners)
            if found:
                yield node.lineno, *found


def _what(call: ast.Call, runners: set[str]) -> tuple[str, str] | None:
    function = call.func
    if not isinstance(function, ast.Attribute):
        return None
    owner = function.value
    if function.attr == "run" and (_is_runner(owner) or (isinstance(owner, ast.Name) and owner.id in runners)):
        return "the runner's run()", "sys.exit(not result.wasSuccessful())"
    module = owner.id if isinstance(owner, ast.Name) else ""
    if module not in _RETURNS.get(function.attr, ()):
        return None
    is_plain = not any(k.arg == "exit" and getattr(k.value, "value", True) is False for k in call.keywords)
    if module == "unittest" and is_plain:
        return None  # it exits
    mend = (
        "sys.exit(not result.result.wasSuccessful())"
        if module == "unittest"
        else f"sys.exit({module}.{function.attr}(...))"
    )
    return f"{module}.{function.attr}()", "sys.exit(bool(doctest.testmod().failed))" if module == "doctest" else mend


def _is_runner(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name.endswith(_SUFFIX)
