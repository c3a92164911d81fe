"""What stands in the way of a tool: files that Python, a shell or npm take for it, functions and settings of that kind."""

import re
from collections.abc import Iterator
from pathlib import Path

from gate.integrity.change import Change, File, error
from gate.patterns import later
from gate.policy import Policy
from gate.report import Finding

# programs of checks; a file of that name beside the code is run or imported in their stead
TOOLS = frozenset({
    "pytest", "unittest", "coverage", "mypy", "ruff", "flake8", "pylint", "black", "tox", "nox", "pyright", "eslint", "tsc",
    "vitest", "jest", "mocha", "playwright", "biome", "turbo", "nx", "npm", "npx", "pnpm", "yarn", "node", "go", "cargo", "mvn",
    "gradle", "make", "rspec", "phpunit", "dotnet", "ctest", "cmake", "pre-commit", "git", "python", "python3", "bash", "sh",
    "rubocop", "prove", "bun", "deno", "swift", "golangci-lint", "uv", "uvx", "pip", "django", "nose2", "hypothesis",
})  # fmt: skip
_MODULES = frozenset({
    "pytest", "_pytest", "pluggy", "unittest", "coverage", "mypy", "ruff", "flake8", "pylint", "black", "tox", "nox", "pyright",
    "nose2", "hypothesis", "pip", "django", "isort", "bandit",
})  # fmt: skip
_STARTS_PYTHON = later(r"(?:^|/)(?:sitecustomize|usercustomize)\.py$|\.pth$")
_DEFINES = later(r"^\s*(?:function\s+)?([\w-]+)\s*\(\)|^\s*function\s+([\w-]+)|\balias\s+([\w-]+)=")
_SHELL = later(r"(?:^|/)[^/.]+$|\.(?:sh|bash|mk|envrc|profile)$")
_NPM = later(
    r"^[^\S\n]*(script-shell|ignore-scripts|if-present|node-options|yarnPath|yarn-path|scripts-prepend-node-path)\s*[=:]\s*(.+)$",
    re.M,
)


def look(change: Change, policy: Policy) -> Iterator[Finding]:
    """Yield what is new and would run, or be imported, in place of a tool."""
    del policy
    for file in change.files:
        if file.now is None:
            continue
        name = file.path.rpartition("/")[2]
        if file.before is None and _STARTS_PYTHON.search(file.path):
            yield error("tool-shadowed", f"Python runs {file.path} before everything else", file.path, 1)
        elif file.before is None and (_is_program(file.path) or _is_module(change.root, file.path)):
            message = f"{file.path} is new, and can run in place of the tool of its name"
            yield error("tool-shadowed", message, file.path, 1)
        elif name in (".npmrc", ".yarnrc", ".yarnrc.yml"):
            yield from _npm(file)
        elif _SHELL.search(file.path):
            yield from _functions(file)


def _is_program(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return "node_modules/.bin/" in path or (name in TOOLS and folder.rpartition("/")[2] not in ("completions", "docs"))


def _is_module(root: Path, path: str) -> bool:
    """Return whether Python could import a file, or a folder, of the repository in place of a tool."""
    where = Path(path.removesuffix("/__init__.py"))
    return (
        where.name.removesuffix(".py") in _MODULES
        and path.endswith(".py")
        and not (root / where.parent / "__init__.py").exists()
    )


def _npm(file: File) -> Iterator[Finding]:
    had = {(m[1], m[2].strip()) for m in _NPM.finditer(file.before or "")}
    for number, line in file.added():
        match = _NPM.match(line)
        if match and (match[1], match[2].strip()) not in had and match[2].strip() not in ("false",):
            yield error("tool-shadowed", f"scripts run otherwise: {line.strip()[:160]}", file.path, number)


def _functions(file: File) -> Iterator[Finding]:
    for number, line in file.added():
        match = _DEFINES.search(line)
        name = next((g for g in match.groups() if g), "") if match else ""
        if name in TOOLS:
            yield error("tool-shadowed", f"{name} is defined anew: {line.strip()[:160]}", file.path, number)
