"""`gate audit` on the command line."""

import sys
from argparse import Namespace
from datetime import date
from pathlib import Path

from gate import git, output
from gate import policy as policies
from gate.audit import Audit, audit, exit_code
from gate.cli_run import folder, read_policy
from gate.errors import PolicyError
from gate.render.audit import render_audit
from gate.repository.tree import Unread


def command(arguments: Namespace) -> int:
    """Audit a repository, write what was found, and return the exit code."""
    output.check_target(arguments.output)
    root, _ = git.worktree(folder(arguments.repo))
    try:
        found = audit(root, read_policy(arguments, root), today=date.today())  # noqa: DTZ011 a waiver ends with the day here
    except PolicyError as error:
        if not str(error).startswith(f"{policies.FILE}: "):
            raise  # the operator's file, which is an option of the command
        found = Audit((), (Unread(policies.FILE, str(error).removeprefix(f"{policies.FILE}: ")),))
    write(found, arguments.format, arguments.output)
    return exit_code(found, arguments.fail_on)


def write(found: Audit, form: str, target: Path | None) -> None:
    """Write an audit in a format to a file or to the standard output."""
    text = render_audit(found, form, colour=target is None and output.colours(sys.stdout))
    output.put(text, form=form, output=target)
