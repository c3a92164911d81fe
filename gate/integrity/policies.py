"""Weakening of gate.toml itself. A renamed step, another order, more steps and stricter values keep its strength."""

from collections.abc import Iterator

from gate.errors import PolicyError
from gate.integrity.change import Change, error
from gate.policy import FILE, Policy, Step, parse_repository
from gate.report import Finding

STRICTER_SHELL = "pipefail"


def look(change: Change, before: Policy) -> Iterator[Finding]:
    """Yield what the new gate.toml loosens."""
    file = next((f for f in change.files if f.path == FILE), None)
    if file is None or file.before is None:
        return
    if file.now is None:
        yield error("policy-removed", f"{FILE} was removed", FILE)
        return
    try:
        was = parse_repository(file.before.encode("utf-8", "surrogateescape"), FILE)
        after = parse_repository(file.now.encode("utf-8", "surrogateescape"), FILE)
    except PolicyError as problem:
        yield error("policy-broken", str(problem), FILE)
        return
    del before  # an operator's policy is not the change's to edit: what counts here is the repository's own
    yield from _steps(was, after, file.now)
    yield from _notes(was, after, file.now)
    for glob in was.protected:
        if glob not in after.protected:
            yield error("protection-removed", f"{glob} was protected, now it is not", FILE)
    if after.allow and after.allow != was.allow:
        yield error("protection-loosened", f"protect.allow was {was.allow!r}, now it is {after.allow!r}", FILE)
    for waiver in after.waivers:
        if waiver not in was.waivers:
            excused = f"{waiver.step} may be hollow" if waiver.step else f"the audit passes over {waiver.rule}"
            message = f"a waiver was added: {excused} until {waiver.expires}"
            yield error("waiver-added", message, FILE, _line(file.now, "[[waivers]]"))


def _notes(was: Policy, after: Policy, text: str) -> Iterator[Finding]:
    line = _line(text, "[notes]")
    for key in was.notes.get("require", ()):
        if key not in after.notes.get("require", ()):
            yield error("check-loosened", f"notes.require: {key} was asked for, now it is not", FILE, line)
    before, now = (policy.notes.get("allow_missing", 0) for policy in (was, after))
    if now > before:
        message = f"notes.allow_missing was {before}, now it is {now}"
        yield error("check-loosened", message, FILE, _line(text, "allow_missing"))


def _steps(was: Policy, after: Policy, text: str) -> Iterator[Finding]:
    now = {step.name: step for step in after.steps}
    by_command = {_words(step.run): step for step in after.steps}
    for step in was.steps:
        other = now.get(step.name) or by_command.get(_words(step.run))
        if other is None:
            yield error("step-removed", f"step {step.name} ({step.run}) was there, now it is not", FILE)
        else:
            yield from _loosened(step, other, _line(text, f"[steps.{other.name}]"))


def _loosened(was: Step, now: Step, line: int | None) -> Iterator[Finding]:
    def moved(rule: str, what: str, before: object, after: object) -> Finding:
        return error(rule, f"step {was.name}: {what} was {before!r}, now it is {after!r}", FILE, line)

    if _words(was.run) != _words(now.run):
        yield moved("step-changed", "its command", was.run, now.run)
    if _weight(now) < _weight(was):
        yield moved("evidence-lowered", "evidence", was.evidence or 1, now.evidence or 1)
    if was.kind == "test" and now.kind not in ("test", ""):
        yield moved("step-changed", "kind", was.kind, now.kind)
    if was.cwd != now.cwd:
        yield moved("step-changed", "cwd", was.cwd, now.cwd)
    if STRICTER_SHELL in was.shell and STRICTER_SHELL not in now.shell:
        yield moved("shell-loosened", "shell", was.shell, now.shell)
    if now.paths and set(now.paths) != set(was.paths):
        yield moved("step-narrowed", "paths", list(was.paths), list(now.paths))
    for name, value in now.env.items():
        if was.env.get(name) != value:
            yield moved("step-changed", f"env.{name}", was.env.get(name), value)


def _weight(step: Step) -> float:
    """Return how much a step asks for; an exit code alone is the least."""
    return 0.0 if step.evidence == "exit" else float(step.evidence or 1)


def _words(command: str) -> tuple[str, ...]:
    return tuple(command.split())


def _line(text: str, needle: str) -> int | None:
    return next((n for n, line in enumerate(text.splitlines(), 1) if needle in line), None)
