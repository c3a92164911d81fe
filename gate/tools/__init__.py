"""Tools whose work the gate can read: one module each, listed in TOOLS.

What counts is what was executed: tests that passed or failed, files that a linter or a compiler looked at. Each tool is
asked for machine-readable results where that changes nothing for the user; else its closing lines are read, the last
one of each invocation, since a test may print lines that look like them.
"""

import math
import re
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from gate.commands.resolve import resolve
from gate.report import Evidence
from gate.tools import (
    biome,
    black,
    bun_test,
    cargo_build,
    cargo_clippy,
    cargo_test,
    ctest,
    cypress,
    deno_test,
    dotnet_test,
    echo,
    eslint,
    gate_notes,
    go_build,
    go_test,
    go_vet,
    golangci_lint,
    gradle,
    gradle_build,
    jest,
    make,
    maven,
    maven_build,
    minitest,
    mocha,
    mypy,
    next_build,
    node_test,
    npm,
    phpunit,
    playwright,
    pre_commit,
    prove,
    pyright,
    pytest,
    rspec,
    rubocop,
    ruff,
    swift_test,
    tsc,
    turbo,
    unittest,
    vite_build,
    vitest,
)
from gate.tools.ask import ALL_S, Asker
from gate.tools.tool import Counts, Invocation, Ran, Tool, load_output, total, unweave

TOOLS: tuple[Tool, ...] = (
    pytest,
    unittest,
    vitest,
    jest,
    mocha,
    node_test,
    playwright,
    bun_test,
    deno_test,
    cypress,
    go_test,
    cargo_test,
    maven,
    gradle,
    dotnet_test,
    swift_test,
    ctest,
    prove,
    rspec,
    minitest,
    phpunit,
    next_build,
    vite_build,
    cargo_build,
    go_build,
    maven_build,
    gradle_build,
    tsc,
    mypy,
    pyright,
    eslint,
    biome,
    ruff,
    black,
    golangci_lint,
    rubocop,
    go_vet,
    cargo_clippy,
    gate_notes,
    pre_commit,
    make,
    npm,
    turbo,
    echo,
)

PLUMBING = ("ask", "formats", "tool")
_KINDS = ("test", "build", "typecheck", "lint")  # the strongest first
_STARTED = "started"
# what a runner writes of a child that was killed, before it exits 0 all the same
_KILLED = re.compile(r"\bexited \(-\d+\)|\bwas killed by SIG|\bterminated by signal SIG")
_LAST_CHARS = 4096


def recognise(command: str, cwd: Path, *, root: Path) -> tuple[Invocation, ...]:
    """Return the runs of known tools in a step's command, in order; nothing is executed."""
    return tuple(
        Invocation(tool, found.argv, found.cwd, found.launcher, found.program, found.sure, found.binds, found.env)
        for found in resolve(command, cwd, root=root)
        for tool in TOOLS
        if tool.matches(found.argv)
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
    if any(i.tool in (npm, turbo) and i.argv[0] != "npm" for i in invocations):
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
    return [
        (tool, group)
        for tool in TOOLS
        if (group := tuple(invocation for invocation in invocations if invocation.tool is tool))
    ]


def _since(scratch: Path) -> float:
    try:
        return (scratch / _STARTED).stat().st_mtime
    except FileNotFoundError:
        return 0.0
