"""Python: what is configured, depended on or written, started as the project's lock file asks for."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gate.proposals.line import Line, read, read_sections, read_toml

_MARKS = {
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "tox.ini",
    "requirements.txt",
    "pytest.ini",
    "noxfile.py",
    "Pipfile",
}
_STARTS = (
    ("uv.lock", "uv run "),
    ("poetry.lock", "poetry run "),
    ("pdm.lock", "pdm run "),
    ("Pipfile.lock", "pipenv run "),
)
_PYTEST = re.compile(r"import pytest|^def test_", re.MULTILINE)


def look(folder: Path) -> Iterator[Line]:
    """Yield lint, types and tests."""
    names = {path.name for path in folder.iterdir()}
    written = [read(path) for path in _tests(folder)]
    if not (names & _MARKS or written or any(name.startswith("requirements") for name in names)):
        return
    project = read_toml(folder / "pyproject.toml")
    tools = _table(project.get("tool"))
    start = next((words for lock, words in _STARTS if lock in names), "")
    depends = _depends(folder, project)
    yield from _checks(folder, tools, names, depends, start)
    yield from _runs(folder, tools, names, depends | _written_for(written), start)


def _checks(folder: Path, tools: dict[str, Any], names: set[str], depends: set[str], start: str) -> Iterator[Line]:
    sections = {*read_sections(folder / "setup.cfg"), *read_sections(folder / "tox.ini")}
    if "ruff" in tools or names & {"ruff.toml", ".ruff.toml"} or "ruff" in depends:
        yield Line("lint", f"{start}ruff check .", "lint", f"ruff is {_how('ruff', tools, depends)}")
    elif ".flake8" in names or "flake8" in sections or "flake8" in depends:
        yield Line("lint", f"{start}flake8", "lint", f"flake8 is {_how('flake8', tools, depends)}", evidence='"exit"')
    if "black" in tools or "black" in depends:
        yield Line("format", f"{start}black --check .", "lint", f"black is {_how('black', tools, depends)}")
    if "mypy" in tools or names & {"mypy.ini", ".mypy.ini"} or "mypy" in sections or "mypy" in depends:
        where = (
            ""
            if isinstance(tools.get("mypy"), dict) and {"files", "packages", "modules"} & tools["mypy"].keys()
            else _packages(folder)
        )
        yield Line("typecheck", f"{start}mypy {where}".rstrip(), "typecheck", f"mypy is {_how('mypy', tools, depends)}")
    elif "pyright" in tools or "pyrightconfig.json" in names or "pyright" in depends:
        yield Line("typecheck", f"{start}pyright --stats", "typecheck", f"pyright is {_how('pyright', tools, depends)}")


def _runs(folder: Path, tools: dict[str, Any], names: set[str], found: set[str], start: str) -> Iterator[Line]:
    if "tox.ini" in names and "pytest" not in tools and not start:
        yield Line("test", "tox", "test", "tox.ini is here")
    elif "noxfile.py" in names and "pytest" not in tools and not start:
        yield Line("test", "nox", "test", "noxfile.py is here")
    elif "manage.py" in names:
        yield Line(
            "test",
            f"{start}python3 manage.py test" if not start else f"{start}python manage.py test",
            "test",
            "manage.py is here",
        )
    elif "pytest" in tools or names & {"pytest.ini", "conftest.py"} or "pytest" in found:
        yield Line("test", f"{start}pytest -q", "test", "pytest is configured, or tests are written for it")
    elif "unittest" in found:
        where = " -s tests" if "tests" in names else ""
        top = " -t ." if (folder / "tests" / "__init__.py").is_file() else ""
        python = f"{start}python" if start else "python3"
        yield Line("test", f"{python} -m unittest discover{where}{top}", "test", "there are unittest files")


def _written_for(texts: list[str]) -> set[str]:
    if any(_PYTEST.search(text) for text in texts):
        return {"pytest"}
    return {"unittest"} if texts else set()


def _how(tool: str, tools: dict[str, Any], depends: set[str]) -> str:
    return "a dependency" if tool in depends and tool not in tools else "configured"


def _depends(folder: Path, project: dict[str, Any]) -> set[str]:
    """Return the tools that the project depends on for its development."""
    own = _table(project.get("project"))
    lists = [
        own.get("dependencies"),
        *_values(own.get("optional-dependencies")),
        *_values(project.get("dependency-groups")),
    ]
    names = [str(item) for found in lists if isinstance(found, list) for item in found]
    poetry = _table(_table(project.get("tool")).get("poetry"))
    for table in (
        poetry.get("dev-dependencies"),
        *(g.get("dependencies") for g in _values(poetry.get("group")) if isinstance(g, dict)),
    ):
        names += list(table) if isinstance(table, dict) else []
    for path in sorted(folder.glob("requirements*.txt")):
        names += read(path).splitlines()
    return {match[0].lower() for name in names if (match := re.match(r"[A-Za-z0-9_-]+", name.strip()))}


def _table(found: object) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


def _values(table: object) -> list[Any]:
    return list(table.values()) if isinstance(table, dict) else []


def _tests(folder: Path) -> list[Path]:
    globs = ("test_*.py", "*_test.py", "tests/test_*.py", "tests/**/test_*.py", "tests/**/*_test.py")
    return [path for glob in globs for path in folder.glob(glob)][:50]


def _packages(folder: Path) -> str:
    if (folder / "src").is_dir():
        return "src"
    return " ".join(sorted(p.parent.name for p in folder.glob("*/__init__.py") if p.parent.name != "tests")) or "."
