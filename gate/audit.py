"""Find the blind spots of a repository's checks, from its files alone; nothing of it is run."""

from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from gate.globs import matches
from gate.policy import Policy
from gate.report import Finding, Level, read_finding
from gate.repository.opening import open_repository
from gate.repository.tree import Unread
from gate.rules import RULES, all_rules

SCHEMA = "gate.audit/1"
FAIL_ON = ("error", "warning", "never")
UNREAD = "unread"
_WEIGHT = {Level.ERROR: 0, Level.WARNING: 1, Level.NOTE: 2}


class Audit(NamedTuple):
    """What was found, the worst first: `waived` says which findings a waiver of the policy excuses, and why."""

    findings: tuple[Finding, ...]
    unread: tuple[Unread, ...] = ()
    waived: tuple[Finding, ...] = ()
    files: int = 0
    checks: int = 0
    rules: int = 0

    @property
    def verdict(self) -> str:
        """Return CLEAN (but for notes), FINDINGS, or ERROR where something could not be read."""
        weighty = any(f.level is not Level.NOTE for f in self.findings)
        return "ERROR" if self.unread else "FINDINGS" if weighty else "CLEAN"

    @property
    def unreadable(self) -> tuple[Finding, ...]:
        """Return what could not be read as findings."""
        why = "could not be read, so nothing is known of it: "
        return tuple(Finding(UNREAD, Level.ERROR, why + u.reason, u.path, fix="mend it") for u in self.unread)

    def count(self, level: Level) -> int:
        """Return how many findings are of a level."""
        return sum(f.level is level for f in self.findings)

    @property
    def summary(self) -> str:
        """Return one line for people: what was looked at, and how much was found."""
        parts = [_many(self.count(level), str(level)) for level in Level]
        looked = f"{_many(self.rules, 'rule')} over {_many(self.files, 'file')} and {_many(self.checks, 'check')}"
        more = [f"{_many(len(self.unread), 'file')} could not be read"] if self.unread else []
        more += [f"{len(self.waived)} waived"] if self.waived else []
        return f"{looked}: {', '.join([*parts, *more])}"


def audit(root: Path, policy: Policy, *, today: date) -> Audit:
    """Return the findings of every rule. Raises UsageError where git cannot list the files."""
    repo = open_repository(root, policy)
    found = sorted(
        {f for rule in all_rules() for f in rule.check(repo)},
        key=lambda f: (_WEIGHT[f.level], f.path or "", f.line or 0, f.rule, f.message),
    )
    unread = repo.tree.unread
    for waiver in policy.waivers:
        if waiver.rule and waiver.expires < today:
            what = f"the waiver of {waiver.rule} expired on {waiver.expires}: {waiver.reason}"
            found.append(Finding("waiver-expired", Level.ERROR, what, policy.file, fix="mend what it excused"))
    waived = tuple(w for f in found if (w := _waived(f, policy, today)))
    kept = tuple(f for f in found if not _waived(f, policy, today))
    unread = tuple(u for u in unread if not _waived(Finding(UNREAD, Level.ERROR, u.reason, u.path), policy, today))
    return Audit(kept, unread, waived, len(repo.tree.files), len(repo.checks), len(RULES))


def exit_code(found: Audit, fail_on: str) -> int:
    """Return 0 clean, 1 with findings at or above a level, 2 when something could not be read."""
    if found.unread:
        return 2
    levels: Iterable[Level] = {"error": (Level.ERROR,), "warning": (Level.ERROR, Level.WARNING)}.get(fail_on, ())
    return 1 if any(f.level in levels for f in found.findings) else 0


def read_audit(found: Mapping[str, Any]) -> Audit:
    """Return the audit that JSON of our schema holds; unknown keys are ignored. Raises ValueError."""
    try:
        return Audit(
            findings=tuple(read_finding(f) for f in found["findings"]),
            unread=tuple(Unread(str(u["path"]), str(u["reason"])) for u in found.get("unread", [])),
            waived=tuple(read_finding(f) for f in found.get("waived", [])),
            files=int(found.get("files", 0)),
            checks=int(found.get("checks", 0)),
            rules=int(found.get("rules", 0)),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a whole {SCHEMA} report: {error!r}") from error


def _waived(finding: Finding, policy: Policy, today: date) -> Finding | None:
    """Return a finding as the note that a waiver makes of it, None where none excuses it."""
    for waiver in policy.waivers:
        fits = waiver.rule == finding.rule and (not waiver.path or matches(finding.path or "", waiver.path))
        if fits and waiver.expires >= today:
            message = f"{finding.message} (waived until {waiver.expires}: {waiver.reason})"
            return finding._replace(level=Level.NOTE, message=message)
    return None


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
