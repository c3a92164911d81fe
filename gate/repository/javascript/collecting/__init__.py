"""Which test files the runners of JavaScript collect: one module for each runner, listed in RUNNERS."""

import importlib
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gate import tools
from gate.commands.resolve import Command, resolve
from gate.repository.checks import Check, invocation
from gate.repository.javascript.collecting.collection import Collection
from gate.repository.javascript.configs import imports, join
from gate.repository.javascript.packages import packages
from gate.repository.javascript.tests import SUFFIXES
from gate.repository.javascript.tokens import IMPORT
from gate.repository.opening import Repository
from gate.repository.shell_files import place
from gate.tools.tool import Invocation

RUNNERS = ("bun_test", "jest", "mocha", "node_test", "playwright", "vitest")
# runners whose tests look like those of jest and mocha, and whose configuration is not read
_OTHERS = {
    "karma", "jasmine", "jasmine-node", "ng", "wtr", "web-test-runner", "web-test-runner-puppeteer", "craco", "react-app-rewired",
    "vue-cli-service", "wp-scripts", "tsdx", "kcd-scripts", "ava", "tap", "tape", "uvu", "lab", "gulp", "grunt", "lage", "moon",
    "rush", "bazel", "stencil", "detox", "wdio", "testcafe", "nightwatch", "aegir", "qunit", "ember", "jake", "rstest", "poku",
    "mocha-parallel-tests", "mochapack", "electron-mocha", "hardhat", "truffle", "vscode-test", "nps", "xt", "deno", "vp", "nx",
    "meteor", "razzle", "ionic", "umi-test", "father", "dumi", "backstage-cli", "gts", "expo", "sfdx-lwc-jest", "c8", "sf",
}  # fmt: skip
_OUT = re.compile(r"(?:out|dist|lib|build|es|cjs|esm|tmp|temp|target|compiled|output)(?:[-_.][\w-]*)?|\.[\w-]+")
_TESTING = ("test", "spec", "jest", "mocha", "vitest")


class Collected(NamedTuple):
    """What runs of a set of checks collect, with the check and the command; and folders below which nobody can say."""

    runs: tuple[tuple[Collection, Check, Command], ...]
    unknown: tuple[str, ...]


def gated(repo: Repository) -> Collected:
    """Return what the checks that decide collect."""
    return repo.tree.once("collected by the gate", lambda: _collected(repo, repo.gate))


def reached(repo: Repository) -> frozenset[str]:
    """Return the files of JavaScript that run with the tests: those collected, and what they import by relative names."""

    def make() -> frozenset[str]:
        runs = gated(repo).runs
        found = {p for p in repo.tree.sources(*SUFFIXES) if any(one.takes(p) for one, _, _ in runs)}
        open_ = list(found)
        while open_:
            path = open_.pop()
            for match in IMPORT.finditer(repo.tree.text(path) or ""):
                target = imports(repo.tree, path, match[1])
                if target and target not in found and target.endswith(SUFFIXES):
                    found.add(target)
                    open_.append(target)
        return frozenset(found)

    return repo.tree.once("reached by tests", make)


def by_scripts(repo: Repository) -> tuple[Collection, ...]:
    """Return what the scripts of all packages would collect, whether something runs them or not."""

    def make() -> tuple[Collection, ...]:
        root = repo.tree.root
        found = list[Collection]()
        for member in packages(repo.tree).values():
            for text in member.scripts.values():
                if any(word in text for word in _TESTING) or "--test" in text:
                    commands = resolve(text, root / member.folder, root=root)
                    found += [c for command in commands for c, _ in _runs(repo, command) if c is not None]
        return tuple(found)

    return repo.tree.once("collected by scripts", make)


def whereabouts(repo: Repository, one: Collection, check: Check, command: Command) -> tuple[str, int | None]:
    """Return where the patterns of a run stand: in its configuration, else where the run is written."""
    return (one.path, one.line) if one.path else place(repo.tree, check, command)


def _collected(repo: Repository, checks: Iterable[Check]) -> Collected:
    runs, unknown = list[tuple[Collection, Check, Command]](), list[str]()
    for check in checks:
        for command in check.commands:
            for one, folder in _runs(repo, command):
                if one is None:
                    unknown.append(folder)
                else:
                    runs.append((one, check, command))
    return Collected(tuple(runs), tuple(unknown))


def _runs(repo: Repository, command: Command) -> Iterator[tuple[Collection | None, str]]:
    folder = repo.tree.relative(command.cwd)
    if folder.startswith(".."):
        return
    argv = command.argv
    tests = [t for t in tools.matching(argv) if t.KIND == "test"]
    known = {t.__name__.rpartition(".")[2] for t in tests} & set(RUNNERS)
    if argv[0] in _OTHERS - {"c8", "nx"} or (argv[0] in ("node", "nodejs") and not known and _is_test_script(argv)):
        yield None, folder
    for tool in tests:
        name = tool.__name__.rpartition(".")[2]
        if name in RUNNERS:
            found = _collect(repo, name, invocation(command, tool))
            compiled = any(_is_compiled(repo, one, folder) for one in found or ())
            yield from ((one, folder) for one in found) if found is not None and not compiled else [(None, folder)]


def _is_compiled(repo: Repository, one: Collection, cwd: str) -> bool:
    """Return whether a run looks for tests where a build puts them: in a folder that is not there."""
    for pattern in one.patterns:
        inner = pattern.removeprefix("<rootDir>/").removeprefix("./").partition("/")[0]
        if "/" in pattern and _OUT.fullmatch(inner) and join(cwd, inner) not in repo.tree.folders:
            return True
    return False


def _collect(repo: Repository, name: str, run: Invocation) -> list[Collection] | None:
    found: list[Collection] | None = importlib.import_module(f"gate.repository.javascript.collecting.{name}").collect(
        repo.tree, run
    )
    return found


def _is_test_script(argv: tuple[str, ...]) -> bool:
    return any(part in word for word in argv[1:] for part in _TESTING)
