"""The command line of the gate."""

import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from gate.errors import GateError

if TYPE_CHECKING:
    import argparse

    from gate.policy import Policy
    from gate.report import Finding, Report
    from gate.run import Place

FORMATS = ("text", "json", "markdown", "github", "junit", "sarif")
INTERRUPTED = 130
OURS = 70


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        return _dispatch(sys.argv[1:] if argv is None else argv)
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
    arguments = _parser().parse_args(argv)
    command: int = arguments.command(arguments)
    return command


def _parser() -> "argparse.ArgumentParser":
    import argparse

    parser = argparse.ArgumentParser(prog="gate", description="A verify gate that can fail.", allow_abbrev=False)
    parser.add_argument("--version", action=_version_action(), nargs=0, help="show the version and end")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="run the steps and say what they prove", allow_abbrev=False)
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
    run.add_argument("--plan", action="store_true", help="say what would run, and run nothing")
    run.add_argument("--wrap", metavar="JSON", help="a list of words put before every step's shell, such as a sandbox")
    run.add_argument("--logs", type=Path, metavar="DIR", help="keep every step's whole output here")
    run.add_argument("--quiet", action="store_true", help="do not show the steps' output while they run")
    _output(run)

    report = commands.add_parser("report", help="write a JSON report in another format", allow_abbrev=False)
    report.set_defaults(command=_report)
    report.add_argument("file", type=Path, metavar="FILE", help="a report that `gate run --format json` wrote")
    report.add_argument(
        "--repo", type=Path, default=Path(), metavar="DIR", help="for a proposal where nothing is gated"
    )
    report.add_argument("--format", choices=(*FORMATS, "outputs"), default="text", help="outputs: name=value lines")
    report.add_argument("--output", type=Path, metavar="FILE", help="write it here instead")

    init = commands.add_parser("init", help="propose a gate.toml for this repository", allow_abbrev=False)
    init.set_defaults(command=_init)
    init.add_argument("--repo", type=Path, default=Path(), metavar="DIR", help="the repository (this folder)")
    init.add_argument("--write", action="store_true", help="write gate.toml; one that is there is never overwritten")
    init.add_argument("--check", action="store_true", help="run the proposed steps once and say which fail today")

    notes = commands.add_parser("notes", help="check a vault of Markdown notes", allow_abbrev=False)
    notes.set_defaults(command=_notes)
    notes.add_argument("folder", type=Path, metavar="DIR")
    notes.add_argument("--require", action="append", default=[], metavar="KEY", help="a key that frontmatter needs")
    notes.add_argument("--allow-missing", type=int, default=0, metavar="N", help="so many links to notes to be written")
    notes.add_argument("--format", choices=("text", "json"), default="text", help="how to write the findings")

    explain = commands.add_parser("explain", help="explain a verdict or a rule")
    explain.set_defaults(command=_explain)
    explain.add_argument("word", metavar="RULE|VERDICT")
    return parser


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
    parser.add_argument("--format", choices=FORMATS, default="text", help="how to write the report")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the report here instead")


def _positive(text: str) -> int:
    import argparse

    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number of at least 1, got {text!r}")
    return int(text)


def _run(arguments: "argparse.Namespace") -> int:
    from gate import git, run
    from gate.report import EXIT_CODES, Report, Verdict

    try:
        root = git.toplevel(_folder(arguments.repo))
        base = git.resolve_base(root, arguments.base) if arguments.base else None
        place = run.Place(root, arguments.name, base, git.head(root))
        policy, findings = _policy(arguments, place)
        if arguments.only:
            policy = _only(policy, arguments.only)
        report = run.plan(policy, place) if arguments.plan else _steps(arguments, policy, place, findings)
    except GateError as error:
        if arguments.format == "text" and not arguments.output:
            raise
        report = Report(Verdict.ERROR, str(error), arguments.name)
    if arguments.base_report:
        report = _compare(report, arguments.base_report)
    _write(arguments, report)
    return INTERRUPTED if _stop.is_set() else EXIT_CODES[report.verdict]


_stop = threading.Event()


def _steps(
    arguments: "argparse.Namespace", policy: "Policy", place: "Place", findings: "tuple[Finding, ...]"
) -> "Report":
    from gate import git, run

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: _stop.set())
    changed = git.changed(place.root, git.resolve_base(place.root, arguments.since)) if arguments.since else None
    before, after = run.stop_commands(os.environ)
    if before:
        print(before, file=sys.stderr, flush=True)
    options = run.Options(
        jobs=arguments.jobs or _cores(), fail_fast=arguments.fail_fast, wrap=_wrap(arguments.wrap), changed=changed,
        on_line=None if arguments.quiet else _Live(policy), logs=arguments.logs,
    )  # fmt: skip
    try:
        return run.run(policy, place, options, env=dict(os.environ), stop=_stop, findings=findings)
    finally:
        if after:
            print(after, file=sys.stderr, flush=True)


class _Live:
    """Shows the steps' lines while they run: a prefix each, coloured on a terminal."""

    def __init__(self, policy: "Policy") -> None:
        self._width = max((len(s.name) for s in policy.steps), default=0)
        self._colour = _colour(sys.stderr)
        self._tones = {s.name: f"\x1b[3{n % 6 + 1}m" for n, s in enumerate(policy.steps)}

    def __call__(self, step: str, line: str) -> None:
        start, end = (self._tones[step], "\x1b[0m") if self._colour else ("", "")
        sys.stderr.write(f"{start}{step:<{self._width}} │{end} {line}\n")


def _policy(arguments: "argparse.Namespace", place: "Place") -> "tuple[Policy, tuple[Finding, ...]]":
    from gate import git
    from gate import policy as policies

    base = place.base
    data = git.show(place.root, base, policies.FILE) if base else _read(place.root / policies.FILE)
    source = f"{policies.FILE}@{base}" if base else policies.FILE
    own = policies.parse_repository(data, source) if data is not None else None
    operator, digest = (None, "")
    if arguments.policy:
        operator, digest = policies.load_operator(arguments.policy)
    chosen = policies.choose(arguments.name, own, operator, source=str(arguments.policy or ""), hash=digest)
    if base is None:
        return chosen, ()
    from gate import integrity

    return chosen, integrity.compare(place.root, base, chosen)


def _only(policy: "Policy", names: list[str]) -> "Policy":
    import difflib
    from dataclasses import replace

    known = {s.name: s for s in policy.steps}
    wanted: set[str] = set()
    queue = list(names)
    while queue:
        name = queue.pop()
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise GateError(f"--only: expected one of {', '.join(known) or 'no step'}, got {name!r}{hint}")
        if name not in wanted:
            wanted.add(name)
            queue += known[name].needs
    return replace(policy, steps=tuple(s for s in policy.steps if s.name in wanted))


def _compare(report: "Report", path: Path) -> "Report":
    """Say how the counts moved against a report of the base."""
    from dataclasses import replace

    from gate.report import read_report

    try:
        base = read_report(path.read_bytes())
    except (OSError, ValueError) as error:
        raise GateError(f"--base-report: expected a gate report at {path}: {error}") from error
    before, after = (sum(s.evidence.tests or 0 for s in r.steps) for r in (base, report))
    return replace(report, reason=f"{report.reason}; tests {after} ({after - before:+d})")


def _write(arguments: "argparse.Namespace", report: "Report") -> None:
    from gate import render
    from gate.report import Verdict, write_atomically

    to_file = arguments.output is not None
    if arguments.format == "text":
        text = render.render_text(report, colour=not to_file and _colour(sys.stdout))
    elif arguments.format == "markdown" and report.verdict is Verdict.UNGATED:
        text = render.render_markdown(report, proposal=_proposal(arguments.repo))
    else:
        text = render.FORMATS[arguments.format](report)
    if to_file:
        try:
            write_atomically(arguments.output, text)
        except OSError as error:
            raise GateError(
                f"--output: expected a file that can be written, got {arguments.output}: {error.strerror}"
            ) from error
    else:
        sys.stdout.write(text)


def _proposal(repo: Path) -> str:
    from gate.init import propose

    return propose(repo).render()


def _report(arguments: "argparse.Namespace") -> int:
    from gate.report import read_report

    try:
        report = read_report(arguments.file.read_bytes())
    except (OSError, ValueError) as error:
        raise GateError(f"expected a gate report at {arguments.file}: {error}") from error
    if arguments.format == "outputs":
        tests = sum(s.evidence.tests or 0 for s in report.steps)
        print(f"verdict={report.verdict}\ntests={tests}")
        return 0
    _write(arguments, report)
    return 0


def _init(arguments: "argparse.Namespace") -> int:
    from gate.init import propose
    from gate.policy import FILE

    repo = _folder(arguments.repo)
    text = propose(repo).render()
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
    from gate import git, run
    from gate.policy import parse_repository
    from gate.render import render_text
    from gate.report import EXIT_CODES

    policy = parse_repository(text.encode(), "the proposal")
    place = run.Place(git.toplevel(repo), None, None, git.head(repo))
    options = run.Options(jobs=_cores(), on_line=None)
    report = run.run(policy, place, options, env=dict(os.environ), stop=_stop)
    print(render_text(report, colour=_colour(sys.stdout)))
    return EXIT_CODES[report.verdict]


def _notes(arguments: "argparse.Namespace") -> int:
    import json
    from dataclasses import asdict

    from gate.notes import Wants, check

    wants = Wants(tuple(arguments.require), arguments.allow_missing)
    count, findings = check(_folder(arguments.folder), wants)
    if arguments.format == "json":
        found = {"schema": "gate.notes/1", "notes": count, "findings": [asdict(f) for f in findings]}
        print(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        for f in findings:
            print(f"{f.path}:{f.line}: {f.rule}: {f.message}")
        print(f"{count} notes checked, {len(findings)} problems")
    return 1 if findings else 0


def _explain(arguments: "argparse.Namespace") -> int:
    from gate.explain import explain

    print(explain(arguments.word))
    return 0


def _folder(path: Path) -> Path:
    if not path.is_dir():
        raise GateError(f"--repo: expected a folder, got {path}")
    return path.resolve()


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise GateError(f"{path.name}: expected a file that can be read: {error.strerror}") from error


def _wrap(text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    import json

    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise GateError(f"--wrap: expected a JSON list of words, got {text!r}")
    return tuple(found)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _colour(stream: object) -> bool:
    return bool(getattr(stream, "isatty", lambda: False)()) and "NO_COLOR" not in os.environ
