"""The files of a repository, read once and never executed; what cannot be read is remembered, never "no problems"."""

import ast
import json
import os
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping
from configparser import ConfigParser
from configparser import Error as IniError
from functools import cached_property
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from gate import git
from gate.errors import UsageError
from gate.globs import matches_one
from gate.integrity.config_files import read_json
from gate.policy import Policy
from gate.repository.xml_lines import Element, read_xml
from gate.repository.yaml_lines import YamlError, read_yaml

T = TypeVar("T")
MOST_BYTES = 2_000_000  # of one file; people write none that is larger
# folders of files that nobody of the repository wrote, or that are wrong on purpose
NOT_SOURCE = frozenset({
    "node_modules", "vendor", "third_party", "third-party", "bower_components", "dist", "build", "out", "coverage",
    "target", "generated", "__generated__", "fixtures", "__fixtures__", "fixture", "testdata", "test-data",
    "__snapshots__", "snapshots", ".venv", "venv", ".git",
})  # fmt: skip


class Unread(NamedTuple):
    """A file that could not be read, and why."""

    path: str
    reason: str


class Tree:
    """A repository: `files` are those git knows or would add, with `/` between folders; `policy` is what gates it."""

    def __init__(self, root: Path, files: tuple[str, ...], policy: Policy) -> None:
        self.root = root
        self._top = os.fspath(root)
        self.files = files
        self.policy = policy
        self._texts: dict[str, str | None] = {}
        self._parsed: dict[tuple[str, str], Any] = {}
        self._unread: dict[str, str] = {}
        self._inside: dict[str, bool] = {}
        self._kept: dict[str, Any] = {}

    @cached_property
    def known(self) -> frozenset[str]:
        """Return the files as a set."""
        return frozenset(self.files)

    @cached_property
    def folders(self) -> frozenset[str]:
        """Return every folder that holds a file, without the root."""
        found = set[str]()
        for path in self.files:
            folder = path.rpartition("/")[0]
            while folder and folder not in found:
                found.add(folder)
                folder = folder.rpartition("/")[0]
        return frozenset(found)

    @property
    def unread(self) -> tuple[Unread, ...]:
        """Return what could not be read until now."""
        return tuple(Unread(path, why) for path, why in sorted(self._unread.items()))

    def once(self, key: str, make: Callable[[], T]) -> T:
        """Return what rules share and one of them had to work out: `make` is called for the first of them."""
        if key not in self._kept:
            self._kept[key] = make()
        kept: T = self._kept[key]
        return kept

    def named(self, *globs: str) -> Iterator[str]:
        """Yield the files that fit one of the globs (`**/jest.config.*`), in order."""
        return (path for path in self.files if matches_one(path, globs))

    def sources(self, *suffixes: str) -> Iterator[str]:
        """Yield the files with one of the suffixes (`.ts`) that people wrote here and mean to be right."""
        for path in self.files:
            if path.endswith(suffixes) and NOT_SOURCE.isdisjoint(path.split("/")[:-1]):
                yield path

    def relative(self, path: Path) -> str:
        """Return a path of the file system as the audit names it: relative to the root, `.` for the root itself."""
        return Path(os.path.relpath(path, self.root)).as_posix()

    def text(self, path: str) -> str | None:
        """Return a file's text; None where there is none, or where it leads out of the repository or is too large."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def line_of(self, path: str, needle: str, start: int = 1) -> int | None:
        """Return the number of the first line, from `start` on, that holds a text."""
        lines = (self.text(path) or "").splitlines()
        return next((n for n, line in enumerate(lines, 1) if n >= start and needle in line), None)

    def json(self, path: str) -> Mapping[str, Any] | None:
        """Return the object of a JSON file, with comments if it has some; None where there is none."""
        return self._parse(path, "JSON", _json)

    def toml(self, path: str) -> Mapping[str, Any] | None:
        """Return the table of a TOML file; None where there is none."""
        return self._parse(path, "TOML", tomllib.loads)

    def yaml(self, path: str) -> Any:
        """Return what a YAML file holds, its mappings knowing their lines; None where there is none."""
        return self._parse(path, "YAML", read_yaml)

    def xml(self, path: str) -> Element | None:
        """Return the root element of an XML file; None where there is none."""
        return self._parse(path, "XML", read_xml)

    def ini(self, path: str) -> Mapping[str, Mapping[str, str]] | None:
        """Return the sections of an INI file; None where there is none."""
        return self._parse(path, "INI", _ini)

    def python(self, path: str) -> ast.Module | None:
        """Return the syntax tree of a Python file; None where there is none."""
        return self._parse(path, "Python", _python)

    def _parse(self, path: str, what: str, parse: Callable[[str], T]) -> T | None:
        key = (path, what)
        if key not in self._parsed:
            self._parsed[key] = None
            text = self.text(path)
            try:
                self._parsed[key] = None if text is None else parse(text)
            except RecursionError:
                self._unread[path] = f"expected {what}: it is nested too deeply"
            except (ValueError, SyntaxError, YamlError, IniError) as error:
                self._unread[path] = f"expected {what}: {' '.join(str(error).split())[:200]}"
        found: T | None = self._parsed[key]
        return found

    def _is_inside(self, path: str) -> bool:
        """Return whether no link leads from a path out of the repository; each folder is looked at once."""
        folder = path.rpartition("/")[0]
        if os.path.islink(f"{self._top}/{path}"):  # noqa: PTH114 thousands of files: three times as fast
            return (self.root / path).resolve().is_relative_to(self.root)
        if folder not in self._inside:
            self._inside[folder] = (self.root / folder).resolve().is_relative_to(self.root)
        return self._inside[folder]

    def _read(self, path: str) -> str | None:
        if path not in self.known:
            return None
        file = f"{self._top}/{path}"
        try:
            if not os.path.isfile(file) or not self._is_inside(path):  # noqa: PTH113
                return None
            with FileIO(file) as stream:
                data = stream.read(MOST_BYTES + 1) or b""
        except OSError as error:
            self._unread[path] = f"expected a file that can be read: {error.strerror}"
            return None
        if len(data) > MOST_BYTES:
            return None
        return data.decode("utf-8-sig", "replace").replace("\r\n", "\n")


def open_tree(root: Path, policy: Policy) -> Tree:
    """Return the files of a worktree. Raises UsageError with git's words where it cannot say them, never "no files"."""
    listed = git.ask(root, "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "-z")
    if listed.code != 0:
        raise UsageError(f"not-a-worktree: expected git to list the files of {root}, got: {listed.error}")
    files = sorted({os.fsdecode(path) for path in listed.out.split(b"\0") if path})
    return Tree(root.resolve(), tuple(files), policy)


def _json(text: str) -> Mapping[str, Any]:
    try:
        found: Any = json.loads(text)
    except ValueError:
        found = read_json(text)  # with comments and trailing commas
        if found is None:
            raise
    if not isinstance(found, dict):
        raise ValueError(f"expected an object, got {type(found).__name__}")
    return found


def _python(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a stranger's code: an escape that means nothing
        return ast.parse(text)


def _ini(text: str) -> Mapping[str, Mapping[str, str]]:
    parser = ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    parser.read_string(text)
    return {name: {k: v or "" for k, v in parser.items(name)} for name in parser.sections()}
