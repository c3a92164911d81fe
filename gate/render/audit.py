"""An audit as people and machines read it."""

import json

from gate.audit import SCHEMA, Audit
from gate.render import OF_REPORTS
from gate.render.github import command, shown, unspoken
from gate.render.junit import attribute, escaped
from gate.render.markdown import cell, cut
from gate.render.sarif import log, result
from gate.render.words import place
from gate.report import Finding, Level, plain
from gate.visible import one_line

MOST_FILES = 10  # named of each finding where people read; JSON has all of them
_TONES = {Level.ERROR: "\x1b[31m", Level.WARNING: "\x1b[33m", Level.NOTE: "\x1b[2m"}
_OFF = "\x1b[0m"


def render_audit(found: Audit, form: str, *, colour: bool = False) -> str:
    """Return an audit in one of OF_REPORTS."""
    match form:
        case "text":
            return _text(found, colour=colour)
        case "json":
            return json.dumps({"schema": SCHEMA, **plain(found)}, indent=2, ensure_ascii=False) + "\n"
        case "markdown":
            return _markdown(found)
        case "github":
            commands = [command(f.level, _with_mend(f), f.path, f.line, f.rule) for f in _all(found)]
            return "\n".join([*shown(commands), unspoken(_text(found, colour=False))])
        case "junit":
            return _junit(found)
        case "sarif":
            results = [result(f.rule, f.level, _with_mend(f), f.path, f.line) for f in _all(found, paths=False)]
            return log(results, successful=not found.unread, verdict=found.verdict)
        case _:
            raise ValueError(f"expected one of {', '.join(OF_REPORTS)}, got {form!r}")


def _all(found: Audit, *, paths: bool = True) -> list[Finding]:
    """Return everything to be told, safe to show: names and texts come from a stranger's repository."""
    return [
        f._replace(
            message=one_line(f.message), fix=one_line(f.fix), reproduce=one_line(f.reproduce),
            path=one_line(f.path) if f.path and paths else f.path, files=tuple(map(one_line, f.files)),
        )
        for f in [*found.unreadable, *found.findings, *found.waived]
    ]  # fmt: skip


def _with_mend(f: Finding) -> str:
    return f"{f.message}. Mend: {f.fix}" if f.fix else f.message


def _text(found: Audit, *, colour: bool) -> str:
    lines = []
    for f in _all(found):
        level = f"{_TONES[f.level]}{f.level}{_OFF}" if colour else str(f.level)
        lines.append(f"{level} {f.rule}: {place(f)}{f.message}")
        lines += [f"  {path}" for path in _some(f)]
        lines += [f"  mend: {f.fix}"] if f.fix else []
        lines += [f"  see it: {f.reproduce}"] if f.reproduce else []
        lines.append("")
    return "\n".join([*lines, f"{found.verdict}  {found.summary}"]) + "\n"


def _some(f: Finding) -> list[str]:
    more = len(f.files) - MOST_FILES
    return [*f.files[:MOST_FILES], *([f"… and {more} more"] if more > 0 else [])]


def _markdown(found: Audit) -> str:
    mark = "✅" if found.verdict == "CLEAN" else "❌"
    parts = [f"## {mark} Gate audit: {found.verdict}", cell(found.summary)]
    for f in _all(found):
        text = f"- **{f.level}** `{f.rule}` {cell(place(f) + f.message)}"
        text += f"<br>Mend: {cell(f.fix)}" if f.fix else ""
        text += "".join(f"\n  - {cell(path)}" for path in _some(f))
        parts.append(text)
    return cut("\n\n".join(parts) + "\n")


def _junit(found: Audit) -> str:
    """Return one case a finding; what is a note does not fail."""
    told = _all(found)
    failures = sum(f.level is not Level.NOTE for f in told)
    head = f'tests="{len(told) + 1}" failures="{failures}"'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuites name="gate audit" {head}>',
             f'  <testsuite name="gate audit" {head} errors="0" skipped="0">',
             f'    <testcase classname="gate audit" name={attribute(found.summary)}/>']  # fmt: skip
    for f in told:
        name = attribute(f"{f.rule}: {place(f)}{f.message}")
        if f.level is Level.NOTE:
            lines.append(f'    <testcase classname="gate audit" name={name}/>')
        else:
            body = escaped("\n".join([*f.files, f"mend: {f.fix}", f"see it: {f.reproduce}"]))
            failure = f"<failure message={attribute(f'{f.level}: {f.message}')}>{body}</failure>"
            lines.append(f'    <testcase classname="gate audit" name={name}>{failure}</testcase>')
    return "\n".join([*lines, "  </testsuite>", "</testsuites>"]) + "\n"
