"""`gate prove` on the command line: from its options to a copy, a proof and an exit code."""

import contextlib
import os
import shutil
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from gate import git, output
from gate import policy as policies
from gate.cli_run import INTERRUPTED, STOP, charge, cores, folder, read_policy
from gate.errors import GateError, Interrupted, UsageError
from gate.judge import ungated
from gate.policy import Policy
from gate.proof import EXIT_CODES, Proof, ProofVerdict
from gate.prove import AUTO, Wish, prove
from gate.render.proof import render_proof
from gate.report import PolicyStamp
from gate.scratch.copying import Copy, link_packages
from gate.scratch.history import History
from gate.scratch.surroundings import Move, environment, lead_python, relocate
from gate.tools.ask import ALL_S, Asker
from gate.trial import Subject


def command(arguments: Namespace) -> int:
    """Prove what the checks see, write the report, and return the exit code."""
    output.check_target(arguments.output)
    try:
        proof = _asked(arguments)
    except Interrupted:
        return INTERRUPTED
    except GateError as error:
        if arguments.format == "text" and not arguments.output:
            raise
        output.say(f"gate: {error}")
        proof = Proof(ProofVerdict.ERROR, str(error), arguments.level or AUTO, repository=arguments.name)
    write(proof, arguments.format, arguments.output)
    return EXIT_CODES[proof.verdict]


def write(proof: Proof, form: str, target: Path | None) -> None:
    """Write a proof in a format to a file or to the standard output."""
    text = render_proof(proof, form, colour=target is None and output.colours(sys.stdout))
    output.put(text, form=form, output=target)


def _asked(arguments: Namespace) -> Proof:
    began = time.monotonic()
    until = began + policies.duration(arguments.budget, "gate prove", "--budget")
    root, head = git.worktree(folder(arguments.repo))
    policy = read_policy(arguments, root)
    if not policy.steps:
        raise UsageError(f"expected steps to prove, got none: {ungated(policy)}")
    asked = _since(root, arguments.since) if arguments.since is not None else _named(arguments, root)
    tell = output.say if output.is_watched() else _nobody
    with charge() as on_folder, _own_folder(on_folder) as own:
        tell(f"copying {root}")
        subject = _subject(arguments, root, policy, own)
        files = _expand(asked, subject.history.files, strict=bool(arguments.paths)) if asked is not None else None
        proof = prove(subject, Wish(arguments.level or AUTO, files, until), stop=STOP, tell=tell)
    stamp = PolicyStamp(policy.source or None, policy.hash or None)
    seconds = round(time.monotonic() - began, 3)
    return proof._replace(repository=arguments.name, head=head, policy=stamp, seconds=seconds)


@contextlib.contextmanager
def _own_folder(on_folder: Callable[[Path], None]) -> Iterator[Path]:
    """Yield a folder for all that a proof writes; it is gone at the end, and the guardian knows of it before."""
    own = None
    try:
        own = Path(tempfile.mkdtemp(prefix="gate-prove-")).resolve()
        on_folder(own)
        tempfile.tempdir = os.fspath(own)  # what asks a tool needs room for a moment, and goes with all this
        yield own
    except OSError as error:
        where = own or "the folder for temporary files"
        raise UsageError(f"expected room for a copy in {where}, got: {error.strerror or error}") from error
    finally:
        tempfile.tempdir = None
        if own is not None:
            shutil.rmtree(own, onerror=_open_up)


def _subject(arguments: Namespace, root: Path, policy: Policy, own: Path) -> Subject:
    """Return the copy, made in a folder of our own, with all that its steps need."""
    for name in ("in", "logs"):
        (own / name).mkdir()
    tree = link_packages(root, own / "in")
    copy = Copy(root, tree, STOP, without=[own])
    move = Move(root, tree)
    for inner in copy.environments:
        relocate(tree / inner, move)
    history = History(root, tree, without=copy.environments)
    env = environment(os.environ, move, own)
    steps = tuple(move.step(step) for step in policy.steps)
    asker = Asker(env, time.monotonic() + ALL_S, stop=STOP)
    if path := lead_python(steps, move, env, asker, [tree / inner for inner in copy.environments]):
        env["PYTHONPATH"] = path
    return Subject(tree, history, policy._replace(steps=steps), env, own / "logs", arguments.name, cores())


def _since(root: Path, ref: str) -> frozenset[str]:
    """Return what the worktree changed since it branched off from a commit."""
    return frozenset(git.changed(root, git.branched(root, git.resolve_base(root, ref, option="--since"))))


def _named(arguments: Namespace, root: Path) -> frozenset[str] | None:
    """Return the paths that were named, from the root; None where all files are meant."""
    if not arguments.paths:
        return None
    return frozenset(_inside(name, [Path.cwd(), arguments.repo.absolute()], root) for name in arguments.paths)


def _inside(name: str, starts: Sequence[Path], root: Path) -> str:
    """Return a path from the root, as it is named from the first place where it is there and inside."""
    there = [start / name for start in starts if os.path.lexists(start / name)]
    for where in there:
        whole = where.parent.resolve() / where.name if where.is_symlink() else where.resolve()
        if whole.is_relative_to(root):
            return whole.relative_to(root).as_posix()
    if there:
        raise UsageError(f"PATH: expected a path inside {root}, got {name!r}")
    raise UsageError(f"PATH: expected a file or a folder that is there, got {name!r}")


def _expand(asked: frozenset[str], files: Iterable[str], *, strict: bool) -> frozenset[str]:
    """Return the files that were asked for, or lie below a folder that was; where strict, each must bring some."""
    brought = dict[str, set[str]]((name, set()) for name in asked)
    for path in files:
        parts = path.split("/")
        for name in (".", *("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))):
            if name in brought:
                brought[name].add(path)
    empty = sorted(name for name, paths in brought.items() if not paths)
    if strict and empty:
        raise UsageError(f"PATH: expected files that git does not ignore, got none at {empty[0]!r}")
    return frozenset[str]().union(*brought.values())


def _nobody(_line: str) -> None:
    """Tell nobody: the standard error is neither a terminal nor a CI service's log."""


def _open_up(remove: Callable[..., object], path: str, _: object) -> None:
    """Remove once more what a step made read-only; what stays then is told by nobody, and holds nothing of worth."""
    with contextlib.suppress(OSError):
        Path(path).parent.chmod(0o700)
        Path(path).chmod(0o700)
        remove(path)
