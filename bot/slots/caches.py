"""What tools keep to be faster next time: where it lies, what makes it valid, and which of it must not be believed."""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property

from bot.slots.install import program

DEEPEST = 3  # folders below the root in which projects are looked for
MARKERS = frozenset({
    "package.json", "tsconfig.json", "pyproject.toml", "setup.cfg", "setup.py", "requirements.txt", "mypy.ini",
    "Cargo.toml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts",
})  # fmt: skip
JS = ("package.json", "tsconfig*.json", "jsconfig.json", "*.config.[jt]s", "*.config.[cm][jt]s", "*.config.json",
      ".babelrc*", ".swcrc", ".eslintrc*", ".eslintignore", "biome.json*")  # fmt: skip
PYTHON = ("pyproject.toml", "setup.cfg", "tox.ini", "pytest.ini", "mypy.ini", ".mypy.ini", "ruff.toml", ".ruff.toml")
GRADLE = ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.properties")


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool with what it keeps; all paths count from a project's folder."""

    name: str
    paths: Sequence[str]  # the last part may be a pattern
    config: Sequence[str]  # tracked files of the project, or above it, that decide what an entry means
    programs: Sequence[str] = ()  # which no lockfile pins
    needs: Sequence[str] = ()  # one of these must be tracked in the folder, or the name means something else


TOOLS: Sequence[Tool] = (
    Tool("eslint", (".eslintcache",), JS, ("node",)),
    Tool("typescript", ("*.tsbuildinfo",), JS, ("node",)),
    Tool("next", (".next/cache",), (*JS, ".env", ".env.*"), ("node",)),
    Tool("node_modules", ("node_modules/.cache", "node_modules/.tmp"), (*JS, "gate.toml"), ("node",)),
    Tool("vite", (".vite", "node_modules/.vite", "node_modules/.vitest"), JS, ("node",)),
    Tool("turbo", (".turbo",), (*JS, "turbo.json", "turbo.jsonc"), ("node",)),
    Tool("nx", (".nx",), (*JS, "nx.json", "project.json"), ("node",)),
    Tool("mypy", (".mypy_cache",), PYTHON, ("python3", "mypy")),
    Tool("ruff", (".ruff_cache",), PYTHON, ("ruff",)),
    Tool("pytest", (".pytest_cache",), (*PYTHON, "conftest.py", "gate.toml"), ("python3", "pytest")),
    Tool("cargo", ("target",), ("Cargo.toml", "rust-toolchain*"), ("cargo", "rustc"), ("Cargo.toml",)),
    Tool("gradle", (".gradle",), GRADLE, ("gradle", "java"), GRADLE[:4]),
)  # fmt: skip
NAMED = Tool("named", (), (*JS, *PYTHON, *GRADLE, "Cargo.toml", "turbo.json", "nx.json", "gate.toml"),
             ("node", "python3", "cargo", "java"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """Where one cache lies, from the root, and whose it is."""

    path: str
    tool: Tool
    folder: str  # of the project it belongs to


class Ground:
    """A commit as caches see it: everything is read from what is committed, nothing from what a job left."""

    def __init__(self, sha: str, blobs: Mapping[str, str], *, fingerprint: str, keep: Iterable[str] = ()) -> None:
        """Take the commit, its paths with their blobs, what is installed, and what the repository names."""
        self.sha = sha
        self.fingerprint = fingerprint
        self._blobs = blobs
        named = [path.strip("/") for path in keep]
        self._named = tuple(p for p in named if p and not {"", ".", "..", ".git"} & set(p.split("/")))

    @cached_property
    def _names(self) -> Mapping[str, Sequence[str]]:
        names: dict[str, list[str]] = {}
        for path in self._blobs:
            folder, _, name = path.rpartition("/")
            names.setdefault(folder, []).append(name)
        return names

    @cached_property
    def _held(self) -> Collection[str]:
        """The folders with something tracked in them."""
        held = {"", ".git"}
        for folder in self._names:
            while folder not in held:
                held.add(folder)
                folder = folder.rpartition("/")[0]
        return held

    def projects(self) -> list[str]:
        """Return the folders in which tools keep something: those with a project file, and the root."""
        found = {f for f, names in self._names.items() if f.count("/") < DEEPEST and not MARKERS.isdisjoint(names)}
        return sorted(found | {""})

    def named(self) -> list[Place]:
        """Return what the repository wants to find again, none of it tracked."""
        return [place for path in self._named if (place := self.place(path)) is not None]

    def place(self, path: str) -> Place | None:
        """Return whose cache a path is; None where nothing may be kept there."""
        if path in self._held or path in self._blobs or path.startswith(".git/"):
            return None
        for tool in TOOLS:
            for pattern in tool.paths:
                last = "/".join(path.split("/")[-pattern.count("/") - 1 :])
                folder = path[: -len(last)].rstrip("/")
                if fnmatchcase(last, pattern) and self.fits(tool, folder):
                    return Place(path, tool, folder)
        return Place(path, NAMED, "") if path in self._named else None

    def fits(self, tool: Tool, folder: str) -> bool:
        """Return whether a folder's names mean this tool."""
        return not tool.needs or not set(tool.needs).isdisjoint(self._names.get(folder, ()))

    def config(self, tool: Tool, folder: str) -> list[str]:
        """Return the tracked files that decide what the tool's entries mean, the project's own first."""
        found = []
        while True:
            for name in sorted(self._names.get(folder, ())):
                if any(fnmatchcase(name, pattern) for pattern in tool.config):
                    found.append(f"{folder}/{name}" if folder else name)
            if not folder:
                return found
            folder = folder.rpartition("/")[0]

    def key(self, place: Place) -> str:
        """Return the hash over all that an entry of this cache depends on besides the files that its tool looks at."""
        tool = place.tool
        digest = hashlib.sha256(f"1\0{tool.name}\0{self.fingerprint}\0".encode())
        for path in self.config(tool, place.folder):
            digest.update(f"{path}\0{self._blobs[path]}\0".encode(errors="surrogateescape"))
        for name in tool.programs:
            digest.update(f"{program(name)}\0".encode())
        return digest.hexdigest()


# Rules of these look at one file at a time; whatever else a configuration draws in may look at others
PER_FILE = frozenset({
    "eslint", "@eslint/js", "@eslint/json", "@eslint/css", "@eslint/markdown", "@eslint/eslintrc", "@eslint/compat",
    "eslint-config-prettier", "eslint-plugin-prettier", "eslint-plugin-react", "eslint-plugin-react-hooks",
    "eslint-plugin-react-refresh", "eslint-plugin-jsx-a11y", "eslint-plugin-unicorn", "eslint-plugin-promise",
    "eslint-plugin-simple-import-sort", "eslint-plugin-testing-library", "eslint-plugin-jest", "eslint-plugin-vitest",
    "@vitest/eslint-plugin", "@stylistic/eslint-plugin",
})  # fmt: skip
ACROSS_FILES = "with `{}` a file's result depends on other files, and the cache holds each file for itself"
ONLY_SOME = "`{}` runs only what the cache says, so the verdict would depend on an earlier job"
WRITTEN = "its compiler would not write again what it wrote beside it, and that is gone with the job"
_PART_OF_TESTS = re.compile(r"(?<![\w-])(--lf|--last-failed|--nf|--sw|--stepwise)(?![\w-])")
_DRAWN_IN = re.compile(r"""['"](plugin:[\w@./-]+|[\w@./-]*eslint[\w./-]*)['"]|\b(projectService)\b""")


def eslint_looks_at_other_files(texts: Mapping[str, str]) -> str:
    """Return why ESLint's cache must not be believed here; empty where each file stands for itself.

    `texts` are the configurations and package.json. Type-aware rules and those of the import plugins are the known
    cases; what is not known to be harmless is taken for one of them.
    """
    for path, text in texts.items():
        if path.rpartition("/")[2] == "package.json":
            asked, text = _package(text)
        else:
            asked = []
        asked += [_package_of(found[1] or found[2]) for found in _DRAWN_IN.finditer(text)]
        across = [name for name in asked if name not in PER_FILE and ("eslint" in name or name == "projectService")]
        if across:
            return ACROSS_FILES.format(across[0])
    return ""


def _package(text: str) -> tuple[list[str], str]:
    """Return what a package.json depends on, and the configuration of ESLint in it."""
    try:
        found = json.loads(text)
        names = [str(n) for table in ("dependencies", "devDependencies") for n in found.get(table) or {}]
        return names, json.dumps(found.get("eslintConfig") or "")
    except (ValueError, AttributeError):
        return ["eslint configuration that cannot be read"], ""


def _package_of(asked: str) -> str:
    """Return the package that `plugin:x/recommended`, `@a/b/c` or `x/y` lies in."""
    name = asked.removeprefix("plugin:")
    name = "/".join(name.split("/")[: 2 if name.startswith("@") and "plugin:" not in asked else 1])
    return name if name == asked or "eslint" in name else f"eslint-plugin-{name}"


def pytest_runs_a_part(texts: Mapping[str, str]) -> str:
    """Return why pytest's cache must not be believed here; empty where it only decides the order."""
    found = next((m for text in texts.values() if (m := _PART_OF_TESTS.search(text))), None)
    return ONLY_SOME.format(found[1]) if found else ""


def typescript_wrote_output(data: bytes) -> str:
    """Return why a .tsbuildinfo must not be believed; empty where the compiler only checked, and wrote nothing.

    tsc trusts that what it once wrote is still there; files still to be written are listed as pending.
    https://github.com/microsoft/TypeScript/issues/30602
    """
    try:
        found = json.loads(data)
        names = found["fileNames"]
        pending = {p[0] if isinstance(p, list) else p for p in found.get("affectedFilesPendingEmit", [])}
        own = {n for n, name in enumerate(names, 1) if name.startswith(".") and "/node_modules/" not in name}
        sources = {n for n in own if not names[n - 1].endswith((".d.ts", ".d.mts", ".d.cts", ".json"))}
    except (ValueError, KeyError, TypeError, AttributeError):
        return "it cannot be read"
    return "" if sources <= pending else WRITTEN


CHECKED = {"eslint": eslint_looks_at_other_files, "pytest": pytest_runs_a_part}
