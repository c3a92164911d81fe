"""The command line of the gate."""

import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from gate.errors import GateError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

INTERRUPTED = 130
GRANTED = "`label:NAME` that the pull request has; lets weakening pass where the base's `protect.allow` names it"
OURS = 70
FAILING = "exit 1 for findings of this level and above (error)"
HOW = "how to write the report"


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # no name of a file and no encoding of a terminal may end a run
            if sys.platform == "win32":
                stream.reconfigure(encoding="utf-8", newline="\n")
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _dispatch(sys.argv[1:] if argv is None else argv)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except GateError as error:
        print(f"gate: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INTERRUPTED
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as leave:
        return leave.code if isinstance(leave.code, int) else 2
    except Exception:
        import traceback

        traceback.print_exc()
        print("gate: this is a bug of gate, not of your repository", file=sys.stderr)
        return OURS


def _dispatch(argv: list[str]) -> int:
    _refuse_empty(argv)
    arguments = _parser(argv).parse_args(argv)
    try:
        code: int = arguments.command(arguments)
    except FileNotFoundError as error:
        try:
            os.getcwd()  # noqa: PTH109 whether it is there, not what it is
        except FileNotFoundError:
            raise GateError("the working directory: expected a folder that is there; it was deleted") from error
        raise
    return code


def _refuse_empty(argv: list[str]) -> None:
    """Raise GateError for an empty word: a variable that was not set, which must not switch anything off."""
    for at, word in enumerate(argv):
        name, equals, value = word.partition("=")
        if not word.strip() or (name.startswith("--") and equals and not value.strip()):
            option = name.strip() or (argv[at - 1] if at > 1 and argv[at - 1].startswith("-") else "the command line")
            raise GateError(f"{option}: expected a value, got nothing: is a variable not set?")


def _parser(argv: list[str]) -> "argparse.ArgumentParser":
    """Return the parser; where the line names its command, the options of the others cost too much to be made."""
    import argparse

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            # words that a command does not know are told by the parser above it
            about = f"gate {argv[0]}" if self.prog == "gate" and argv and argv[0] in known else self.prog
            self.exit(2, f"{about}: {message}; `{about} --help` explains\n")

    known = {name for name, _, _ in COMMANDS}
    parser = Parser(prog="gate", description="A verify gate that can fail.", allow_abbrev=False)
    parser.add_argument("--version", action=_version_action(), nargs=0, help="show the version and end")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, help_, add_options in COMMANDS:
        if argv[:1] == [name] or not known.intersection(argv[:1]):
            add_options(commands.add_parser(name, help=help_, allow_abbrev=False))
    return parser


def _run_options(run: "argparse.ArgumentParser") -> None:
    import argparse

    run.set_defaults(command=_run)
    run.add_argument("--repo", type=Path, default=Path(), metavar="DIR", help="the repository (this folder)")
    run.add_argument("--name", metavar="OWNER/REPO", help="its name in an operator's policy")
    run.add_argument("--policy", type=Path, metavar="FILE", help="an operator's policy for many repositories")
    run.add_argument("--base", metavar="REF", help="judge the change since this commit; the policy is read there")
    run.add_argument("--base-report", type=Path, metavar="FILE", help="a JSON report of the base, to compare counts")
    run.add_argument("--since", metavar="REF", help="skip steps whose `paths` did not change since this commit")
    run.add_argument("--jobs", type=_positive, metavar="N", help="steps at the same time (the machine's cores)")
    run.add_argument("--only", action="append", metavar="STEP", help="run this step and what it needs; may be repeated")
    run.add_argument("--fail-fast", action="store_true", help="start nothing new once a step failed")
    run.add_argument("--granted", action="append", default=[], metavar="WORD", help=GRANTED)
    run.add_argument("--plan", action="store_true", help="say what would run, and run nothing")
    run.add_argument("--wrap", metavar="JSON", help="a list of words put before every step's shell, such as a sandbox")
    run.add_argument("--logs", type=Path, metavar="DIR", help="keep every step's whole output here")
    run.add_argument(
        "--quiet",
        action=argparse.BooleanOptionalAction,
        help="hide the steps' output while they run (in a pipe outside CI)",
    )
    _output(run)


def _audit_options(audit: "argparse.ArgumentParser") -> None:
    from gate.audit import FAIL_ON
    from gate.render import OF_REPORTS

    audit.set_defaults(command=_audit)
    audit.add_argument("--repo", type=Path, default=Path(), metavar="DIR", help="the repository (this folder)")
    audit.add_argument("--name", metavar="OWNER/REPO", help="its name in an operator's policy")
    audit.add_argument("--policy", type=Path, metavar="FILE", help="an operator's policy for many repositories")
    audit.add_argument("--fail-on", choices=FAIL_ON, default="error", help=FAILING)
    audit.add_argument("--format", choices=OF_REPORTS, default="text", help=HOW)
    audit.add_argument("--output", type=Path, metavar="FILE", help="write the report here instead")


def _prove_options(prove: "argparse.ArgumentParser") -> None:
    from gate.canaries.canary import Level
    from gate.render import OF_REPORTS

    prove.set_defaults(command=_prove)
    prove.add_argument("paths", nargs="*", metavar="PATH", help="break these files, or all below these folders")
    prove.add_argument("--repo", type=Path, default=Path(), metavar="DIR", help="the repository (this folder)")
    prove.add_argument("--name", metavar="OWNER/REPO", help="its name in an operator's policy")
    prove.add_argument("--policy", type=Path, metavar="FILE", help="an operator's policy for many repositories")
    prove.add_argument("--since", metavar="REF", help="break what changed since HEAD branched off from this commit")
    prove.add_argument("--all", action="store_true", help="break all files (the same as naming none)")
    prove.add_argument(
        "--level",
        choices=[str(level) for level in Level if level is not Level.NAME],
        help="what to break (a name, else the syntax)",
    )
    prove.add_argument("--budget", default="10m", metavar="TIME", help="start no run after this time (10m)")
    prove.add_argument("--format", choices=OF_REPORTS, default="text", help=HOW)
    prove.add_argument("--output", type=Path, metavar="FILE", help="write the report here instead")


def _report_options(report: "argparse.ArgumentParser") -> None:
    from gate.render import FORMATS

    report.set_defaults(command=_report)
    report.add_argument("file", type=Path, metavar="FILE", help="a report that --format json wrote")
    report.add_argument(
        "--repo", type=Path, default=Path(), metavar="DIR", help="for a proposal where nothing is gated"
    )
    report.add_argument("--format", choices=(*FORMATS, "outputs"), default="text", help="outputs: name=value lines")
    report.add_argument("--output", type=Path, metavar="FILE", help="write it here instead")


def _init_options(init: "argparse.ArgumentParser") -> None:
    init.set_defaults(command=_init)
    init.add_argument("--repo", type=Path, default=Path(), metavar="DIR", help="the repository (this folder)")
    init.add_argument("--write", action="store_true", help="write gate.toml; one that is there is never overwritten")
    init.add_argument("--check", action="store_true", help="run the proposed steps once and say which fail today")


def _notes_options(notes: "argparse.ArgumentParser") -> None:
    notes.set_defaults(command=_notes)
    notes.add_argument("folder", type=Path, metavar="DIR")
    notes.add_argument("--require", action="append", default=[], metavar="KEY", help="a key that frontmatter needs")
    notes.add_argument("--allow-missing", type=int, metavar="N", help="so many links to notes to be written")
    notes.add_argument("--format", choices=("text", "json"), default="text", help="how to write the findings")


def _explain_options(explain: "argparse.ArgumentParser") -> None:
    explain.set_defaults(command=_explain)
    explain.add_argument("word", metavar="RULE|VERDICT")


COMMANDS: "tuple[tuple[str, str, Callable[[argparse.ArgumentParser], None]], ...]" = (
    ("run", "run the steps and say what they prove", _run_options),
    ("audit", "find what the checks cannot see, from the files alone", _audit_options),
    ("prove", "break files in a copy, and say which the checks see", _prove_options),
    ("report", "write a JSON report in another format", _report_options),
    ("init", "propose a gate.toml for this repository", _init_options),
    ("notes", "check a vault of Markdown notes", _notes_options),
    ("explain", "explain a verdict or a rule", _explain_options),
)


def _version_action() -> "type[argparse.Action]":
    """Return an action that looks the version up only when somebody asks for it: that costs more than a start."""
    import argparse

    class Show(argparse.Action):
        def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
            from importlib.metadata import PackageNotFoundError, version

            try:
                print(f"gate {version('sluice')}")
            except PackageNotFoundError:
                print("gate (not installed)")
            parser.exit()

    return Show


def _output(parser: "argparse.ArgumentParser") -> None:
    from gate.render import FORMATS

    parser.add_argument("--format", choices=FORMATS, default="text", help=HOW)
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the report here instead")


def _positive(text: str) -> int:
    import argparse

    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number of at least 1, got {text!r}")
    return int(text)


def _run(arguments: "argparse.Namespace") -> int:
    from gate.cli_run import command

    return command(arguments)


def _audit(arguments: "argparse.Namespace") -> int:
    from gate.cli_audit import command

    return command(arguments)


def _prove(arguments: "argparse.Namespace") -> int:
    chosen = [bool(arguments.paths), arguments.since is not None, arguments.all]
    if sum(chosen) > 1:
        raise GateError("prove: expected one of PATH, --since and --all, got several")
    from gate.cli_prove import command

    return command(arguments)


def _report(arguments: "argparse.Namespace") -> int:
    from gate.cli_report import command

    return command(arguments)


def _init(arguments: "argparse.Namespace") -> int:
    from gate import output
    from gate.cli_run import folder
    from gate.init import propose
    from gate.policy import FILE

    asked = folder(arguments.repo)
    repo = output.root_of(asked)
    if (repo / "HEAD").is_file() and (repo / "objects").is_dir():
        raise GateError(f"{repo}: expected a folder of sources, found git's own; go to a worktree of it")
    if repo != asked:
        print(f"for the whole worktree at {repo}: `gate run` reads its {FILE}", file=sys.stderr)
    proposal = propose(repo)
    text = proposal.render()
    if arguments.write and not proposal.lines:
        print(text, end="")
        raise GateError(f"--write: expected something that can be checked in {repo}, found nothing to propose")
    if arguments.write:
        try:
            with (repo / FILE).open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError as error:
            raise GateError(
                f"--write: {repo / FILE} is there already and is never overwritten; compare by hand"
            ) from error
        except OSError as error:
            raise GateError(f"--write: expected a folder that can be written, got {repo}: {error.strerror}") from error
        print(f"wrote {repo / FILE}", file=sys.stderr)
    print(text, end="")
    return _try(repo, text) if arguments.check else 0


def _try(repo: Path, text: str) -> int:
    """Run the proposed steps once; exit like `gate run` does."""
    from gate import git
    from gate.cli_run import STOP, cores, in_charge
    from gate.output import colours
    from gate.policy import parse_repository
    from gate.render import render
    from gate.report import EXIT_CODES
    from gate.run import Options, Place

    policy = parse_repository(text.encode(), "the proposal")
    root, head = git.worktree(repo)
    report = in_charge(policy, Place(root, None, None, head), Options(jobs=cores()))
    print(render(report, "text", root=root, colour=colours(sys.stdout)))
    return INTERRUPTED if STOP.is_set() else EXIT_CODES[report.verdict]


def _notes(arguments: "argparse.Namespace") -> int:
    import json

    from gate import visible
    from gate.cli_run import folder
    from gate.notes import Wants, check
    from gate.policy import notes_policy

    vault = folder(arguments.folder, option="the vault")
    asked = notes_policy(vault)
    missing = arguments.allow_missing if arguments.allow_missing is not None else asked.get("allow_missing", 0)
    wants = Wants((*asked.get("require", ()), *arguments.require), missing)
    count, findings = check(vault, wants)
    if arguments.format == "json":
        found = {"schema": "gate.notes/1", "notes": count, "findings": [f._asdict() for f in findings]}
        print(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        for f in findings:
            print(visible.one_line(f"{f.path}:{f.line}: {f.rule}: {f.message}"))
        print(f"{count} notes checked, {len(findings)} problems")
    if count == 0:
        print(visible.one_line(f"gate: expected notes (*.md) in {vault}, found none: HOLLOW"), file=sys.stderr)
        return 4
    return 1 if findings else 0


def _explain(arguments: "argparse.Namespace") -> int:
    from gate.explain import explain

    print(explain(arguments.word))
    return 0
