"""Tools whose work the gate can read: one module each, listed in TOOLS.

What counts is what was executed: tests that passed or failed, files that a linter or a compiler looked at. Each tool is
asked for machine-readable results where that changes nothing for the user; else its closing lines are read, the last
one of each invocation, since a test may print lines that look like them.
"""

import importlib
import math
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gate.commands.resolve import resolve
from gate.patterns import later
from gate.report import Evidence
from gate.tools.ask import ALL_S, Asker
from gate.tools.tool import Counts, Invocation, Ran, Tool, load_output, total, unweave

# module: the programs whose command lines it may know; in the order of reports
TOOLS: Mapping[str, str] = {
    "pytest": "pytest py.test pytest-3",
    "unittest": "unittest unittest2 django-admin manage.py",
    "vitest": "vitest",
    "jest": "jest jest-cli react-scripts craco react-app-rewired ng vue-cli-service wp-scripts tsdx kcd-scripts",
    "mocha": "mocha _mocha electron-mocha ts-mocha",
    "node_test": "node nodejs tsx glob borp",
    "playwright": "playwright",
    "bun_test": "bun",
    "deno_test": "deno",
    "cypress": "cypress",
    "go_test": "go gotestsum",
    "cargo_test": "cargo cargo-nextest cross",
    "maven": "mvn mvnw mvnd",
    "gradle": "gradle gradlew",
    "dotnet_test": "dotnet",
    "swift_test": "swift xcodebuild",
    "ctest": "ctest",
    "prove": "prove bats",
    "rspec": "rspec parallel_rspec turbo_tests spec rake rails",
    "minitest": "ruby rails rake",
    "phpunit": "phpunit paratest pest simple-phpunit phpunit.phar php artisan",
    "diff_cover": "diff-cover",
    "next_build": "next",
    "vite_build": "vite rolldown-vite",
    "cargo_build": "cargo",
    "go_build": "go",
    "maven_build": "mvn mvnw mvnd",
    "gradle_build": "gradle gradlew",
    "tsc": "tsc vue-tsc tsgo",
    "mypy": "mypy dmypy",
    "pyright": "pyright basedpyright",
    "eslint": "eslint eslint_d",
    "biome": "biome rome",
    "ruff": "ruff",
    "black": "black",
    "golangci_lint": "golangci-lint staticcheck",
    "rubocop": "rubocop standardrb",
    "go_vet": "go",
    "cargo_clippy": "cargo",
    "gate_notes": "gate",
    "pre_commit": "pre-commit prek pre_commit",
    "make": "make gmake ninja",
    "npm": "npm pnpm yarn bun concurrently run-p npm-run-all npm-run-all2 run-s lint-staged",
    "turbo": "turbo nx lerna moon rush",
    "echo": "echo printf",
}

PLUMBING = ("ask", "formats", "tool")
_KINDS = ("test", "build", "typecheck", "lint")  # the strongest first
_STARTED = "started"
# what a runner writes of a child that was killed, before it exits 0 all the same
_KILLED = later(r"\bexited \(-\d+\)|\bwas killed by SIG|\bterminated by signal SIG")
_LAST_CHARS = 4096
_BY_PROGRAM: dict[str, list[str]] = {}
for _name, _programs in TOOLS.items():
    for _program in _programs.split():
        _BY_PROGRAM.setdefault(_program, []).append(_name)


def load(name: str) -> Tool:
    """Return the tool of a module's name; a run needs few of the family, so each is imported when it is met."""
    tool: Tool = importlib.import_module(f"gate.tools.{name}")
    return tool


def all_tools() -> tuple[Tool, ...]:
    """Return the whole family."""
    return tuple(load(name) for name in TOOLS)


def matching(argv: Sequence[str]) -> Iterator[Tool]:
    """Yield the tools that a command line runs; argv[0] is a bare name."""
    for name in _BY_PROGRAM.get(argv[0], ()):
        tool = load(name)
        if tool.matches(argv):
            yield tool


def recognise(command: str, cwd: Path, *, root: Path) -> tuple[Invocation, ...]:
    """Return the runs of known tools in a step's command, in order; nothing is executed."""
    return tuple(
        Invocation(tool, found.argv, found.cwd, found.launcher, found.program, found.sure, found.binds, found.env)
        for found in resolve(command, cwd, root=root)
        for tool in matching(found.argv)
    )


def kind(invocations: Sequence[Invocation]) -> str:
    """Return lint, typecheck, build, test or check: the strongest of what a step runs."""
    kinds = {invocation.tool.KIND for invocation in invocations}
    return next((name for name in _KINDS if name in kinds), "check")


def environment(
    invocations: Sequence[Invocation],
    scratch: Path,
    *,
    env: Mapping[str, str] | None = None,
    wrap: Sequence[str] = (),
) -> dict[str, str]:
    """Return what to add to a step's environment `env` so that its tools write results into scratch.

    Call it right before the step starts: the time is noted, and reports that are older count for nothing. Inside a
    sandbox (`wrap`) scratch may be out of reach, so no file is asked for there.
    """
    (scratch / _STARTED).touch()
    added = dict[str, str]()
    for tool, group in _groups(invocations):
        prepare = getattr(tool, "environment", None)
        if prepare is not None:
            added |= prepare(group, scratch, dict(env or {}) | added)
    return {name: value for name, value in added.items() if not wrap or str(scratch) not in value}


def read_evidence(
    invocations: Sequence[Invocation],
    log: Path,
    scratch: Path,
    *,
    exit_code: int,
    env: Mapping[str, str] | None = None,
    wrap: Sequence[str] = (),
    stop: threading.Event | None = None,
) -> Evidence:
    """Return what a step did; questions to its tools run in its environment, behind `wrap`, until `stop`.

    `hollow` is set exactly when it is known that nothing was verified. A tool that is known but whose count is not
    leaves None; a step without any known tool leaves `tool` None.
    """
    asker = Asker(dict(env or {}), time.monotonic() + ALL_S, tuple(wrap), stop)
    output = load_output(log)
    if any(i.tool.NAME in {"npm", "turbo"} and i.argv[0] != "npm" for i in invocations):
        output = unweave(output)
    since = _since(scratch)
    read = [
        (tool, tool.read(Ran(group, output, scratch, exit_code, since, asker))) for tool, group in _groups(invocations)
    ]
    read = [(tool, c) for tool, c in read if c != Counts() or not _is_guess(tool, invocations)]
    named = [tool.NAME for tool, _ in read if tool.KIND != "runner"]
    counts = [c for _, c in read]
    if not exit_code and _KILLED.search(output[-_LAST_CHARS:]):
        counts.append(Counts(failed=1))
    return Evidence(
        tool=", ".join(named) or None,
        tests=total([c.tests for c in counts]),
        files=total([c.files for c in counts]),
        skipped=total([c.skipped for c in counts]),
        failed=total([c.failed for c in counts]),
        hollow=_forged(invocations) or _hollow(read),
        note=", ".join(c.note for c in counts if c.note),
    )


def _hollow(read: Sequence[tuple[Tool, Counts]]) -> str:
    """Return why nothing was verified; each kind of tool that ran must have verified something."""
    for name in _KINDS:
        of_kind = [c for tool, c in read if name == tool.KIND]
        if any(c.tests or c.files or (not c.hollow and c.tests is None and c.files is None) for c in of_kind):
            continue
        reason = next((c.hollow for c in of_kind if c.hollow), "")
        if reason or of_kind:
            return reason or f"{', '.join(tool.NAME for tool, _ in read if name == tool.KIND)} executed nothing"
    if any(c.tests or c.files for _, c in read):
        return ""
    return next((c.hollow for tool, c in read if tool.KIND == "runner" and c.hollow), "")


def _forged(invocations: Sequence[Invocation]) -> str:
    """Return which tool's closing line the step prints by itself, beside running the tool."""
    if not any(i.tool.NAME == "echo" for i in invocations):
        return ""
    from gate.tools import echo  # noqa: PLC0415 loaded already

    said = echo.printed(invocations)
    if not said:
        return ""
    for tool, group in _groups(invocations):
        counts = tool.read(Ran(group, said, Path("/nonexistent"), exit_code=1, since=math.inf))
        if counts.tests or counts.files:
            return f"the step itself prints what {tool.NAME} would say of its work"
    return ""


def _is_guess(tool: Tool, invocations: Sequence[Invocation]) -> bool:
    """Return whether no command line is surely this tool's: then its silence says that it was another."""
    guess = getattr(tool, "is_guess", None)
    return guess is not None and all(guess(i.argv) for i in invocations if i.tool is tool)


def _groups(invocations: Sequence[Invocation]) -> list[tuple[Tool, tuple[Invocation, ...]]]:
    """Return the invocations of each tool, in the order of TOOLS."""
    met = {invocation.tool.__name__.rpartition(".")[2]: invocation.tool for invocation in invocations}
    return [(met[name], tuple(i for i in invocations if i.tool is met[name])) for name in TOOLS if name in met]


def _since(scratch: Path) -> float:
    try:
        return (scratch / _STARTED).stat().st_mtime
    except FileNotFoundError:
        return 0.0
