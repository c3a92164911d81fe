"""Propose a gate.toml from what a repository holds, with the reason for each line."""

import configparser
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MOST_FOLDERS = 2000
SKIPPED = frozenset({
    "node_modules", ".git", ".venv", "venv", "vendor", "target", "dist", "build", "__pycache__", ".tox", ".next",
    "fixtures",
})  # fmt: skip
ORDER = ("lint", "typecheck", "build", "test", "check")


@dataclass(frozen=True, slots=True)
class Line:
    """One proposed step."""

    name: str
    run: str
    kind: str
    why: str
    cwd: str = "."
    evidence: str = ""  # as TOML


@dataclass(frozen=True, slots=True)
class Proposal:
    """The steps, in the order in which they are written."""

    lines: tuple[Line, ...]

    def render(self) -> str:
        """Return the text of a gate.toml."""
        if not self.lines:
            return (
                "# Nothing was found here that a gate could run: no package.json scripts, no Python, Go, Rust, JVM\n"
                "# or .NET project, no Makefile. Name what checks this repository:\n#\n"
                '# [steps.test]\n# run = "your test command"\n'
            )
        return "\n".join(_step(line) for line in self.lines)


def propose(repo: Path) -> Proposal:
    """Return the steps that fit the repository; nothing of it is run."""
    found: list[Line] = []
    for folder in _folders(repo):
        for look in LOOKS:
            for line in look(folder):
                cwd = os.fspath(folder.relative_to(repo))
                found.append(Line(line.name, line.run, line.kind, line.why, cwd, line.evidence))
    return Proposal(tuple(_named(sorted(found, key=lambda line: (line.cwd, ORDER.index(line.kind))))))


def _named(lines: list[Line]) -> Iterator[Line]:
    taken: set[str] = set()
    for line in lines:
        folder = "" if line.cwd == "." else re.sub(r"[^A-Za-z0-9]+", "-", line.cwd).strip("-")
        base = f"{line.name}-{folder}" if folder else line.name
        name = next(n for n in (base, *(f"{base}-{i}" for i in range(2, 100))) if n not in taken)
        taken.add(name)
        yield Line(name[:64], line.run, line.kind, line.why, line.cwd, line.evidence)


def _step(line: Line) -> str:
    parts = [f"# {line.why}", f"[steps.{line.name}]", f"run = {_toml(line.run)}", f'kind = "{line.kind}"']
    if line.cwd != ".":
        parts.append(f"cwd = {_toml(line.cwd)}")
    if line.evidence:
        parts.append(f"evidence = {line.evidence}")
    return "\n".join(parts) + "\n"


def _javascript(folder: Path) -> Iterator[Line]:
    package = _json(folder / "package.json")
    scripts = package.get("scripts") if package else None
    if not isinstance(scripts, dict):
        return
    run = _runner(folder)
    for kind, names in (
        ("lint", ("lint",)), ("typecheck", ("typecheck", "type-check", "check-types", "tsc")),
        ("build", ("build",)), ("test", ("test", "test:unit", "test:ci")),
    ):  # fmt: skip
        name = next(
            (n for n in names if isinstance(scripts.get(n), str) and "no test specified" not in scripts[n]), None
        )
        if name is not None:
            yield Line(
                kind, f"{run} run {name}", kind, f"package.json has the script {name!r}: {_short(scripts[name])}"
            )
        elif kind == "typecheck" and (folder / "tsconfig.json").is_file() and not _solution(folder):
            yield Line(kind, "npx tsc --noEmit", kind, "tsconfig.json is here, and no script checks types")


def _runner(folder: Path) -> str:
    for lock, program in (("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")):
        if any((parent / lock).is_file() for parent in (folder, *list(folder.parents)[:3])):
            return program
    return "npm"


def _solution(folder: Path) -> bool:
    text = _read(folder / "tsconfig.json")
    return '"references"' in text and re.search(r'"files"\s*:\s*\[\s*\]', text) is not None


_PYTHON = {"pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "requirements.txt", "pytest.ini", "noxfile.py"}


def _python(folder: Path) -> Iterator[Line]:
    tools = _tomlfile(folder / "pyproject.toml").get("tool", {})
    names = {p.name for p in folder.iterdir()}
    if names & _PYTHON or _tests(folder):
        yield from _python_checks(folder, tools, names)
        yield from _python_tests(folder, tools, names)


def _python_checks(folder: Path, tools: dict[str, Any], names: set[str]) -> Iterator[Line]:
    if "ruff" in tools or names & {"ruff.toml", ".ruff.toml"}:
        yield Line("lint", "ruff check .", "lint", "ruff is configured")
    elif ".flake8" in names or "flake8" in _ini(folder / "setup.cfg") or "flake8" in _ini(folder / "tox.ini"):
        yield Line("lint", "flake8", "lint", "flake8 is configured", evidence='"exit"')
    if "mypy" in tools or names & {"mypy.ini", ".mypy.ini"} or "mypy" in _ini(folder / "setup.cfg"):
        yield Line("typecheck", f"mypy {_packages(folder)}", "typecheck", "mypy is configured")
    elif "pyright" in tools or "pyrightconfig.json" in names:
        yield Line("typecheck", "pyright", "typecheck", "pyright is configured")


def _python_tests(folder: Path, tools: dict[str, Any], names: set[str]) -> Iterator[Line]:
    written = [_read(path) for path in _tests(folder)]
    if "pytest" in tools or names & {"pytest.ini", "conftest.py"} or any(_PYTEST.search(text) for text in written):
        yield Line("test", "pytest -q", "test", "pytest is configured, or tests are written for it")
    elif written:
        where = " -s tests" if "tests" in names else ""
        top = " -t ." if (folder / "tests" / "__init__.py").is_file() else ""
        yield Line("test", f"python3 -m unittest discover{where}{top}", "test", "there are unittest files")
    elif "noxfile.py" in names:
        yield Line("test", "nox", "test", "noxfile.py is here")
    elif "tox.ini" in names:
        yield Line("test", "tox", "test", "tox.ini is here")


_PYTEST = re.compile(r"import pytest|^def test_", re.MULTILINE)


def _tests(folder: Path) -> list[Path]:
    return [p for g in ("test_*.py", "*_test.py", "tests/test_*.py", "tests/**/test_*.py") for p in folder.glob(g)][:50]


def _packages(folder: Path) -> str:
    if (folder / "src").is_dir():
        return "src"
    return " ".join(sorted(p.parent.name for p in folder.glob("*/__init__.py") if p.parent.name != "tests")) or "."


def _go(folder: Path) -> Iterator[Line]:
    if (folder / "go.mod").is_file():
        yield Line("vet", "go vet ./...", "lint", "go.mod is here")
        yield Line("test", "go test ./...", "test", "go.mod is here")


def _rust(folder: Path) -> Iterator[Line]:
    manifest = _tomlfile(folder / "Cargo.toml")
    if not manifest or ("workspace" not in manifest and any((p / "Cargo.toml").is_file() for p in folder.parents[:1])):
        return
    whole = " --workspace" if "workspace" in manifest else ""
    yield Line("clippy", f"cargo clippy{whole} --all-targets -- -D warnings", "lint", "Cargo.toml is here")
    yield Line("test", f"cargo test{whole}", "test", "Cargo.toml is here")


def _jvm(folder: Path) -> Iterator[Line]:
    if (folder / "pom.xml").is_file():
        program = "./mvnw" if (folder / "mvnw").is_file() else "mvn"
        yield Line("test", f"{program} -B verify", "test", "pom.xml is here")
    elif any((folder / name).is_file() for name in ("build.gradle", "build.gradle.kts")):
        program = "./gradlew" if (folder / "gradlew").is_file() else "gradle"
        yield Line("test", f"{program} check", "test", "a Gradle build is here")


def _dotnet(folder: Path) -> Iterator[Line]:
    if any(folder.glob("*.sln")) or (any(folder.glob("*.csproj")) and not any(folder.parent.glob("*.sln"))):
        yield Line("test", "dotnet test", "test", "a .NET solution or project is here")


def _others(folder: Path) -> Iterator[Line]:
    if (folder / "Gemfile").is_file() and (folder / "spec").is_dir():
        yield Line("test", "bundle exec rspec", "test", "a Gemfile and spec/ are here")
    if (folder / "composer.json").is_file() and any(
        (folder / n).is_file() for n in ("phpunit.xml", "phpunit.xml.dist")
    ):
        yield Line("test", "vendor/bin/phpunit", "test", "phpunit.xml is here")
    if (folder / ".pre-commit-config.yaml").is_file():
        yield Line("hooks", "pre-commit run --all-files", "check", "pre-commit is configured")


def _make(folder: Path) -> Iterator[Line]:
    text = _read(folder / "Makefile")
    others = ("package.json", "pyproject.toml", "go.mod", "Cargo.toml", "pom.xml", "setup.py")
    if any((folder / name).is_file() for name in others):
        return
    for target, kind in (("lint", "lint"), ("check", "check"), ("test", "test")):
        if re.search(rf"^{target}\s*:(?!=)", text, re.M):
            yield Line(target, f"make {target}", kind, f"the Makefile has the target {target!r}")


def _notes(folder: Path) -> Iterator[Line]:
    if (folder / ".obsidian").is_dir() or (folder / ".foam").is_dir():
        yield Line("notes", "gate notes .", "check", "this is a vault of notes", evidence='"exit"')


LOOKS: tuple[Callable[[Path], Iterator[Line]], ...] = (
    _javascript, _python, _go, _rust, _jvm, _dotnet, _others, _make, _notes,
)  # fmt: skip


def _folders(repo: Path) -> Iterator[Path]:
    """Yield the root, and below it each folder that is a project of its own; not what a root workspace covers."""
    yield repo
    if _covers_all(repo):
        return
    for seen, (where, folders, files) in enumerate(os.walk(repo)):
        folders[:] = sorted(f for f in folders if f not in SKIPPED and not f.startswith("."))
        if seen > MOST_FOLDERS or len(Path(where).relative_to(repo).parts) > 3:
            folders[:] = []
        marks = {"package.json", "pyproject.toml", "go.mod", "Cargo.toml", "pom.xml"} & set(files)
        if marks and Path(where) != repo:
            yield Path(where)


def _covers_all(repo: Path) -> bool:
    package = _json(repo / "package.json") or {}
    scripts = package.get("scripts") or {}
    return ("workspaces" in package or (repo / "pnpm-workspace.yaml").is_file()) and "test" in scripts


def _json(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(_read(path) or "null")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _tomlfile(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_read(path))
    except tomllib.TOMLDecodeError:
        return {}


def _ini(path: Path) -> list[str]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(_read(path))
    except configparser.Error:
        return []
    return parser.sections()


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace") if path.is_file() and path.stat().st_size < 2_000_000 else ""
    except OSError:
        return ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:79] + "…"


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
