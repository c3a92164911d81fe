"""The report as SARIF 2.1.0, for code scanning: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from gate.policy import FILE
from gate.render.github import places
from gate.render.words import bad_steps
from gate.report import Level, Report, Verdict

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")  # RFC 3986, 2.3


def render_sarif(report: Report, root: Path) -> str:
    """Return the verdict where it is bad, findings, and failing steps with the places that their tools name."""
    return log(list(_results(report, root)), successful=report.verdict is not Verdict.ERROR, verdict=report.verdict)


def log(results: list[dict[str, object]], *, successful: bool, verdict: str) -> str:
    """Return results as a whole SARIF log of one run."""
    rules = [{"id": rule} for rule in sorted({str(r["ruleId"]) for r in results})]
    run = {
        "tool": {"driver": {"name": "gate", "rules": rules}},
        "invocations": [{"executionSuccessful": successful}],
        "results": results,
        "properties": {"verdict": verdict},
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _results(report: Report, root: Path) -> Iterator[dict[str, object]]:
    if report.verdict is not Verdict.GREEN:
        yield result(f"verdict-{report.verdict.lower()}", Level.ERROR, report.reason, FILE, None)
    for f in report.findings:
        yield result(f.rule, f.level, f.message, f.path, f.line)
    for step in bad_steps(report):
        yield result(f"step-{step.outcome}", Level.ERROR, f"{step.name}: {step.reason}", FILE, None)
        for found in places(step, root):
            yield result(f"step-{step.name}", found.level, found.message, found.path, found.line)


def result(rule: str, level: Level, message: str, path: str | None, line: int | None) -> dict[str, object]:
    """Return one result of a SARIF run."""
    found: dict[str, object] = {"ruleId": rule, "level": str(level), "message": {"text": message}}
    if path:
        where: dict[str, object] = {"artifactLocation": {"uri": _uri(path)}}
        if line:
            where["region"] = {"startLine": line}
        found["locations"] = [{"physicalLocation": where}]
    return found


def _uri(path: str) -> str:
    """Return a path as a reference; the standard library's own costs 13 ms to load."""
    return "".join(chr(b) if b in _PLAIN else f"%{b:02X}" for b in os.fsencode(path.replace("\\", "/")))
