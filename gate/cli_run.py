"""The command `gate run`: from its options to a report and an exit code."""

import argparse
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from gate import git, guardian, output, run
from gate import policy as policies
from gate.errors import GateError
from gate.judge import allowed
from gate.movement import moved
from gate.orphans import FAMILY, MARK
from gate.policy import Policy
from gate.report import EXIT_CODES, Finding, Report, Verdict, read_report
from gate.run import Options, Place

INTERRUPTED = 130
STOP = threading.Event()  # set by the signals that end a run


def command(arguments: argparse.Namespace) -> int:
    """Run the steps, write the report and return its exit code."""
    output.check_target(arguments.output)
    try:
        report = _judged(arguments)
    except GateError as error:
        if arguments.format == "text" and not arguments.output:
            raise
        output.say(f"gate: {error}")
        report = Report(Verdict.ERROR, str(error), arguments.name)
    output.write(report, form=arguments.format, output=arguments.output, repo=arguments.repo)
    return INTERRUPTED if STOP.is_set() else EXIT_CODES[report.verdict]


def in_charge(policy: Policy, place: Place, options: Options, findings: Sequence[Finding] = ()) -> Report:
    """Run the steps as the one process that answers for them."""
    with charge() as on_folder:
        return run.run(
            policy, place, options, env=dict(os.environ), stop=STOP, findings=findings, on_folder=on_folder
        )  # fmt: skip


@contextlib.contextmanager
def charge() -> Iterator[Callable[[Path], None]]:
    """Answer for all that is started within: signals set STOP, and nothing outlives us.

    Yields what to tell of a folder, the last one told of, that must be gone even where this process is killed.
    """
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: STOP.set())
    if sys.platform != "win32":
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a caller that ignored it would hide how children end
    watched = guardian.watch(f"{MARK}={FAMILY.name}", os.environ)
    FAMILY.adopt()
    before, after = run.stop_commands(os.environ)
    if before:
        output.say(before)
    try:
        yield lambda folder: guardian.leave(watched, folder)
    finally:
        guardian.dismiss(watched)
        if after:
            output.say(after)


def read_policy(arguments: argparse.Namespace, root: Path, base: str | None = None) -> Policy:
    """Return the policy that counts, the operator's or the repository's own: of a commit, else of the worktree.

    Raises PolicyError.
    """
    data = git.show(root, base, policies.FILE) if base else policies.read_own(root)
    source = f"{policies.FILE}@{base}" if base else policies.FILE
    own = policies.parse_repository(data, source) if data is not None else None
    operator, digest = policies.load_operator(arguments.policy) if arguments.policy else (None, "")
    return policies.choose(arguments.name, own, operator, source=str(arguments.policy or ""), hash=digest)


def folder(path: Path, *, option: str = "--repo") -> Path:
    """Return a folder that is there, as a whole path. Raises GateError."""
    if not path.is_dir():
        raise GateError(f"{option}: expected a folder, got {path}")
    return path.resolve()


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _judged(arguments: argparse.Namespace) -> Report:
    root, head = git.worktree(folder(arguments.repo))
    base = git.resolve_base(root, arguments.base) if arguments.base is not None else None
    since = git.resolve_base(root, arguments.since, option="--since") if arguments.since is not None else None
    changed = git.changed(root, since) if since else None
    before = _read_report(arguments.base_report) if arguments.base_report else None
    wrap = _wrap(arguments.wrap)
    place = Place(root, arguments.name, base, head)
    whole, findings = _policy(arguments, place)
    policy = _only(whole, arguments.only) if arguments.only else whole
    if arguments.plan:
        report = run.plan(policy, place)
    else:
        quiet = not output.is_watched() if arguments.quiet is None else arguments.quiet
        on_lines = None if quiet else output.Live([s.name for s in policy.steps])
        options = Options(
            jobs=arguments.jobs or cores(), fail_fast=arguments.fail_fast, wrap=wrap, changed=changed,
            on_lines=on_lines, logs=arguments.logs,
        )  # fmt: skip
        report = in_charge(policy, place, options, findings)
    left_out = len(whole.steps) - len(policy.steps)
    if left_out:
        report = report._replace(reason=f"{report.reason}; {left_out} of {len(whole.steps)} steps left out (--only)")
    return moved(report, before) if before else report


def _policy(arguments: argparse.Namespace, place: Place) -> tuple[Policy, tuple[Finding, ...]]:
    base = place.base
    chosen = read_policy(arguments, place.root, base)
    if base is None:
        return chosen, ()
    from gate import integrity  # noqa: PLC0415 only with --base

    findings = integrity.compare(place.root, git.branched(place.root, base), chosen)
    return chosen, allowed(findings, chosen.allow) if chosen.allow and chosen.allow in arguments.granted else findings


def _only(policy: Policy, names: list[str]) -> Policy:
    """Return the policy with the named steps and what they need."""
    known = {s.name: s for s in policy.steps}
    wanted: set[str] = set()
    queue = list(names)
    while queue:
        name = queue.pop()
        if name not in known:
            import difflib  # noqa: PLC0415 only for errors

            close = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise GateError(f"--only: expected one of {', '.join(known) or 'no step'}, got {name!r}{hint}")
        if name not in wanted:
            wanted.add(name)
            queue += known[name].needs
    return policy._replace(steps=tuple(s for s in policy.steps if s.name in wanted))


def _read_report(path: Path) -> Report:
    try:
        return read_report(path.read_bytes())
    except (OSError, ValueError) as error:
        raise GateError(f"--base-report: expected a gate report at {path}: {error}") from error


def _wrap(text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    import json  # noqa: PLC0415 only with --wrap

    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise GateError(f"--wrap: expected a JSON list of words, got {text!r}")
    return tuple(found)
