"""Which files PHPUnit's configurations take: the suites of each, and which of them a run uses.

https://docs.phpunit.de/en/10.5/configuration.html#the-testsuites-element
"""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from gate.commands.part import option_values
from gate.repository.checks import Check
from gate.repository.opening import Repository
from gate.repository.places import folder_of, inside
from gate.repository.tree import Tree
from gate.tools.phpunit import matches

NAMES = ("phpunit.xml", "phpunit.dist.xml", "phpunit.xml.dist")
_CONFIG = frozenset({"-c", "--configuration"})
_SUITES = frozenset({"--testsuite"})
# options whose next word is their value
_VALUES = frozenset(
    ("-c", "--configuration", "--testsuite", "--filter", "--group", "--exclude-group", "--bootstrap", "--log-junit", "--coverage-clover",
     "--coverage-text", "--coverage-html", "--coverage-php", "--coverage-xml", "-d", "--order-by", "--colors", "--printer", "-p",
     "--processes", "--runner", "--test-suffix", "--exclude-testsuite", "--memory-limit", "--cache-directory", "--random-order-seed")
)  # fmt: skip


class Suite(NamedTuple):
    """A suite: folders with the ends and beginnings of file names that they take, files, and what is left out."""

    name: str
    folders: tuple[tuple[str, str, str], ...]  # folder, suffix, prefix
    files: frozenset[str]
    excluded: tuple[str, ...]

    def takes(self, path: str) -> bool:
        """Return whether a file is part of the suite."""
        name = path.rpartition("/")[2]
        if path in self.files:
            return True
        return not self.leaves_out(path) and any(
            _is_in(path, folder) and name.endswith(suffix) and name.startswith(prefix)
            for folder, suffix, prefix in self.folders
        )

    def leaves_out(self, path: str) -> bool:
        """Return whether a file is excluded by name."""
        return any(path == e or _is_in(path, e) for e in self.excluded)

    def holds(self, path: str) -> bool:
        """Return whether a file lies in one of its folders."""
        return any(_is_in(path, folder) for folder, _, _ in self.folders)


class PhpRun(NamedTuple):
    """A run of PHPUnit: its configuration (nothing without one), the suites that it takes."""

    at: Check
    config: str
    suites: tuple[Suite, ...]


def configurations(tree: Tree) -> dict[str, tuple[Suite, ...]]:
    """Return the configurations of the repository with their suites."""

    def make() -> dict[str, tuple[Suite, ...]]:
        paths = tree.named("**/phpunit*.xml", "**/phpunit*.xml.dist")
        return {p: tuple(_suites(tree, p)) for p in paths if "/vendor/" not in f"/{p}" and "/ixtures/" not in p}

    return tree.once("phpunit", make)


def php_runs(repo: Repository, checks: Sequence[Check]) -> list[PhpRun] | None:
    """Return the runs of PHPUnit in checks; None where one of them cannot be told."""
    found = list[PhpRun]()
    for at in checks:
        for command in at.commands:
            if not matches(command.argv) or command.argv[0] == "artisan":
                continue
            folder = folder_of(repo, command.cwd)
            run = None if folder is None or "$" in " ".join(command.argv) else _run(repo, at, command.argv, folder)
            if run is None:
                return None
            found.append(run)
    return found


def _run(repo: Repository, at: Check, argv: Sequence[str], folder: str) -> PhpRun | None:
    """Return one run; None for one that names no configuration, or files by hand."""
    known = configurations(repo.tree)
    given = option_values(argv, _CONFIG) or [
        w[2:] for w in argv if w.startswith("-c") and len(w) > 2 and not w.startswith("-c=")
    ]
    base = inside(folder, given[-1]) if given else folder
    if base is None:
        return None
    places = [base, *(f"{base}/{n}" if base else n for n in NAMES)]
    config = next((p for p in places if p in known), "")
    words = argv[2:] if argv[0] == "php" else argv[1:]
    named = [w for i, w in enumerate(words) if not w.startswith("-") and (i == 0 or words[i - 1] not in _VALUES)]
    if (
        not config
        or not known[config]
        or named
        or {"--no-configuration", "--test-suffix"} & {w.split("=")[0] for w in argv}
    ):
        return None
    chosen = {s for v in option_values(argv, _SUITES) for s in v.split(",")}
    left_out = {s for v in option_values(argv, frozenset({"--exclude-testsuite"})) for s in v.split(",")}
    return PhpRun(
        at, config, tuple(s for s in known[config] if (not chosen or s.name in chosen) and s.name not in left_out)
    )


def _suites(tree: Tree, path: str) -> Iterator[Suite]:
    root = tree.xml(path)
    folder = path.rpartition("/")[0]
    if root is None or root.tag != "phpunit":
        return
    for entry in [*root.all("testsuites", "testsuite"), *root.all("testsuite")]:
        folders = [
            (f, e.attributes.get("suffix", "Test.php"), e.attributes.get("prefix", ""))
            for e in entry.all("directory")
            if (f := inside(folder, e.text)) is not None
        ]
        files = {f for e in entry.all("file") if (f := inside(folder, e.text)) is not None}
        excluded = [f for e in entry.all("exclude") if e.text and (f := inside(folder, e.text)) is not None]
        yield Suite(entry.attributes.get("name", ""), tuple(folders), frozenset(files), tuple(excluded))


def _is_in(path: str, folder: str) -> bool:
    if not re.search(r"[*?\[]", folder):
        return not folder or path.startswith(f"{folder}/")
    depth = folder.count("/") + 1
    start = "/".join(path.split("/")[:depth])
    return path.count("/") >= depth and (fnmatchcase(start, folder) or "**" in folder)
