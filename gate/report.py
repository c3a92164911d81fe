"""What a run of the gate found: the data behind every output, and its JSON form (schema gate.report/1)."""

import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

SCHEMA = "gate.report/1"


class Verdict(StrEnum):
    """How a run ended; only GREEN may pass."""

    GREEN = "GREEN"
    RED = "RED"
    ERROR = "ERROR"
    UNGATED = "UNGATED"
    HOLLOW = "HOLLOW"
    TAMPERED = "TAMPERED"


EXIT_CODES: Mapping[Verdict, int] = {
    Verdict.GREEN: 0,
    Verdict.RED: 1,
    Verdict.ERROR: 2,
    Verdict.UNGATED: 3,
    Verdict.HOLLOW: 4,
    Verdict.TAMPERED: 5,
}


class StepOutcome(StrEnum):
    """How one step ended."""

    PASSED = "passed"
    FAILED = "failed"
    HOLLOW = "hollow"
    TIMED_OUT = "timed_out"
    NOT_RUN = "not_run"


class Level(StrEnum):
    """How much a finding weighs."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Evidence(NamedTuple):
    """What a step did: tests executed (passed + failed), files looked at, tests skipped; None is "not known".

    `tool` is None when no known tool ran. `failed` is part of `tests`: above 0 beside exit code 0 means that a failure
    was swallowed. `hollow` says why nothing was verified; empty when something was, or when that is not known.
    `note` is what else is to be told of a step that passed.
    """

    tool: str | None = None
    tests: int | None = None
    files: int | None = None
    skipped: int | None = None
    failed: int | None = None
    hollow: str = ""
    note: str = ""


class StepReport(NamedTuple):
    """One step as it ended; `seconds` is wall time, `log` the tail of its output, `cwd` its folder below the root."""

    name: str
    kind: str
    run: str
    outcome: StepOutcome
    exit_code: int | None = None
    seconds: float = 0.0
    evidence: Evidence = Evidence()
    log: str = ""
    reason: str = ""
    cwd: str = "."


class Finding(NamedTuple):
    """One thing to mend: where it is, what is wrong, how to mend it, and the command that shows it once more."""

    rule: str
    level: Level
    message: str
    path: str | None = None
    line: int | None = None
    files: tuple[str, ...] = ()
    count: int | None = None  # type: ignore[assignment] # hides tuple.count
    fix: str = ""
    reproduce: str = ""


class PolicyStamp(NamedTuple):
    """Which policy judged: `gate.toml@<sha>` or a path, and the hash of its bytes."""

    source: str | None = None
    hash: str | None = None


class Report(NamedTuple):
    """A whole run."""

    verdict: Verdict
    reason: str
    repository: str | None = None
    base: str | None = None
    head: str | None = None
    policy: PolicyStamp = PolicyStamp()
    steps: tuple[StepReport, ...] = ()
    findings: tuple[Finding, ...] = ()
    seconds: float = 0.0


def render_json(report: Report) -> str:
    """Return the report as JSON text, schema first."""
    import json  # noqa: PLC0415 only for this format

    return json.dumps({"schema": SCHEMA, **plain(report)}, indent=2, ensure_ascii=False)


def read_report(text: str | bytes) -> Report:
    """Return the report that JSON text of our schema holds; unknown keys are ignored. Raises ValueError."""
    import json  # noqa: PLC0415 only to read

    found = json.loads(text)
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise ValueError(f"expected a JSON object with schema {SCHEMA!r}")
    try:
        return Report(
            verdict=Verdict(found["verdict"]),
            reason=str(found["reason"]),
            repository=found.get("repository"),
            base=found.get("base"),
            head=found.get("head"),
            policy=PolicyStamp(**_known(PolicyStamp, found.get("policy") or {})),
            steps=tuple(_read_step(s) for s in found.get("steps", [])),
            findings=tuple(read_finding(f) for f in found.get("findings", [])),
            seconds=float(found.get("seconds", 0.0)),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a whole {SCHEMA} report: {error!r}") from error


def write_atomically(path: Path, text: str) -> None:
    """Write the text so that a reader sees the old file or the new one, never half; a device is written to as it is."""
    data = text.encode("utf-8", "backslashreplace")  # what is no UTF-8 in a file's name is shown, and stays JSON
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    import tempfile  # noqa: PLC0415 only for files

    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def plain(value: Any) -> Any:
    """Return a report, or a part of one, as JSON knows it: an object for a named tuple, a list for any other."""
    if not isinstance(value, tuple):
        return value
    names = getattr(value, "_fields", None)
    return [plain(v) for v in value] if names is None else dict(zip(names, map(plain, value), strict=True))


def _known(kind: type[NamedTuple], found: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if key in kind._fields}


def _read_step(found: Mapping[str, Any]) -> StepReport:
    fields = _known(StepReport, found)
    fields["outcome"] = StepOutcome(fields["outcome"])
    fields["evidence"] = Evidence(**_known(Evidence, fields.get("evidence") or {}))
    return StepReport(**fields)


def read_finding(found: Mapping[str, Any]) -> Finding:
    """Return the finding that an object of JSON holds."""
    fields = _known(Finding, found)
    fields["level"] = Level(fields["level"])
    fields["files"] = tuple(fields.get("files") or ())
    return Finding(**fields)
