"""What in a change weakens its own gate, against the base commit."""

from pathlib import Path

from gate import git
from gate.errors import PolicyError
from gate.globs import matches
from gate.policy import FILE, Policy, Step, parse_repository
from gate.report import Finding, Level


def compare(repo: Path, base: str, base_policy: Policy) -> tuple[Finding, ...]:
    """Return what the worktree weakens against the base; any finding of level error makes the verdict TAMPERED."""
    changed = git.changed(repo, base)
    findings: list[Finding] = []
    if FILE in changed:
        findings += _policy(repo, base_policy)
    for path in changed:
        if any(matches(path, glob) for glob in base_policy.protected):
            findings.append(_error("protected-path", f"{path} is protected by the policy and was changed", path))
    return tuple(findings)


def _policy(repo: Path, before: Policy) -> list[Finding]:
    try:
        after = parse_repository((repo / FILE).read_bytes(), FILE)
    except FileNotFoundError:
        return [_error("policy-removed", f"{FILE} was removed", FILE)]
    except PolicyError as error:
        return [_error("policy-broken", str(error), FILE)]
    now = {s.name: s for s in after.steps}
    by_run = {s.run: s for s in after.steps}
    found: list[Finding] = []
    for step in before.steps:
        other = now.get(step.name) or by_run.get(step.run)
        if other is None:
            found.append(_error("step-removed", f"step {step.name} ({step.run}) was removed", FILE))
        else:
            found += _loosened(step, other)
    found += [
        _error("protection-removed", f"{glob} is no longer protected", FILE)
        for glob in before.protected
        if glob not in after.protected
    ]
    return found


def _loosened(before: Step, after: Step) -> list[Finding]:
    found = []
    if before.run != after.run and not (after.run.startswith(before.run) and "||" not in after.run):
        found.append(_error("step-changed", f"step {before.name} ran {before.run!r}, now {after.run!r}", FILE))
    if (before.evidence or 1) != (after.evidence or 1) and _less(before, after):
        found.append(
            _error("evidence-lowered", f"step {before.name} asked for {before.evidence}, now {after.evidence}", FILE)
        )
    return found


def _less(before: Step, after: Step) -> bool:
    if after.evidence == "exit":
        return True
    return before.evidence != "exit" and int(after.evidence or 1) < int(before.evidence or 1)


def _error(rule: str, message: str, path: str) -> Finding:
    return Finding(rule, Level.ERROR, message, path, fix="take it back, or let a person merge it knowingly")
