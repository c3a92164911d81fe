"""A proof as people and machines read it."""

import json
from collections.abc import Iterable, Sequence

from gate.attribution import tally
from gate.proof import SCHEMA, Proof, ProofVerdict, Told
from gate.render import OF_REPORTS
from gate.render.github import command, shown, unspoken
from gate.render.junit import attribute, escaped
from gate.render.markdown import cell, cut
from gate.render.sarif import log, result
from gate.report import Level, plain
from gate.visible import lines as plain_lines
from gate.visible import one_line

MOST_NAMES = 8  # of files of which the same is to be said, where people read; JSON has all of them
_RED, _GREEN, _YELLOW, _BOLD, _OFF = "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[1m", "\x1b[0m"
_TONES = {ProofVerdict.SEEN: _GREEN, ProofVerdict.UNSETTLED: _YELLOW}


def render_proof(proof: Proof, form: str, *, colour: bool = False) -> str:
    """Return a proof in one of OF_REPORTS."""
    match form:
        case "text":
            return _text(proof, colour=colour)
        case "json":
            return json.dumps({"schema": SCHEMA, **plain(proof)}, indent=2, ensure_ascii=False) + "\n"
        case "markdown":
            return _markdown(proof)
        case "github":
            return "\n".join([*shown(_annotations(proof)), unspoken(_text(proof, colour=False))])
        case "junit":
            return _junit(proof)
        case "sarif":
            told = [(f"gate-{what}", level, t) for what, level, t in _bad(proof)]
            results = [result(rule, level, one_line(t.reason), t.path, None) for rule, level, t in told]
            if proof.verdict is ProofVerdict.ERROR:
                results.append(result("gate-prove-error", Level.ERROR, one_line(proof.reason), None, None))
            return log(results, successful=proof.verdict is not ProofVerdict.ERROR, verdict=proof.verdict)
        case _:
            raise ValueError(f"expected one of {', '.join(OF_REPORTS)}, got {form!r}")


def _bad(proof: Proof) -> list[tuple[str, Level, Told]]:
    return [
        *(("unseen", Level.ERROR, told) for told in proof.unseen),
        *(("unsettled", Level.WARNING, told) for told in proof.unsettled),
    ]


def _annotations(proof: Proof) -> list[str]:
    commands = [
        command(level, f"{what}: {one_line(t.reason)}", one_line(t.path), None, f"Gate: {what}")
        for what, level, t in _bad(proof)
    ]
    if proof.verdict is not ProofVerdict.SEEN:
        commands.insert(0, command(Level.ERROR, one_line(proof.reason), None, None, f"Gate prove: {proof.verdict}"))
    return commands


def _text(proof: Proof, *, colour: bool) -> str:
    paint = (lambda text, tone: f"{tone}{text}{_OFF}") if colour else (lambda text, _tone: text)
    lines = []
    for title, tone, groups in _sections(proof):
        count = sum(len(paths) for _, paths in groups)
        if count:
            lines.append(f"{paint(f'{count:>5} {title}', tone)}{_by(proof) if title == 'seen' else ''}")
            lines += [f"        {why}: {_names(paths)}" for why, paths in groups]
    lines += ["", *(f"note: {plain_lines(note)}" for note in proof.notes)] if proof.notes else []
    verdict = paint(proof.verdict, _TONES.get(proof.verdict, _RED) + _BOLD)
    lines += ["", f"{verdict}  {one_line(proof.reason)}", _effort(proof)]
    return "\n".join(lines).lstrip("\n") + "\n"


def _effort(proof: Proof) -> str:
    how = "a name that nobody defines, else the syntax" if proof.level == "auto" else f"level {proof.level}"
    return f"broken: {how}; {proof.gate_runs} runs of the steps, {proof.seconds:.1f} s; policy: {proof.policy.source}"


def _by(proof: Proof) -> str:
    return f"  ({tally(seen.steps for seen in proof.seen)})"


def _sections(proof: Proof) -> list[tuple[str, str, list[tuple[str, list[str]]]]]:
    """Return title, colour, and the files by what is to be said of them; the bad ones last."""
    seen = [(f"{', '.join(s.steps)} ({s.level})", s.path) for s in proof.seen]
    return [
        ("untried", "", _grouped((t.reason, t.path) for t in proof.untried)),
        ("seen", _GREEN, _grouped(seen)),
        ("unsettled", _YELLOW, _grouped((t.reason, t.path) for t in proof.unsettled)),
        ("unseen", _RED, _grouped((t.reason, t.path) for t in proof.unseen)),
    ]


def _grouped(told: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    groups = dict[str, list[str]]()
    for why, path in told:
        groups.setdefault(one_line(why), []).append(one_line(path))
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def _names(paths: Sequence[str]) -> str:
    more = len(paths) - MOST_NAMES
    return ", ".join(paths[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _markdown(proof: Proof) -> str:
    mark = "✅" if proof.verdict is ProofVerdict.SEEN else "❌"
    parts = [f"## {mark} Gate prove: {proof.verdict}", cell(one_line(proof.reason))]
    for title, _, groups in reversed(_sections(proof)):
        rows = [f"| {cell(', '.join(paths))} | {cell(why)} |" for why, paths in groups]
        table = "\n".join([f"| {title} | why |", "|---|---|", *rows])
        count = sum(len(paths) for _, paths in groups)
        if title in ("unseen", "unsettled") and rows:
            parts.append(table)
        elif rows:
            parts.append(f"<details><summary>{count} {title}</summary>\n\n{table}\n\n</details>")
    parts += [f"- {cell(plain_lines(note))}" for note in proof.notes]
    parts.append(cell(_effort(proof)))
    return cut("\n\n".join(parts) + "\n")


def _junit(proof: Proof) -> str:
    """Return one case a file, and the verdict as one more; what is unsettled or untried is skipped."""
    total = len(proof.seen) + len(proof.unseen) + len(proof.unsettled) + len(proof.untried) + 1
    bad = proof.verdict is not ProofVerdict.SEEN
    skipped = len(proof.unsettled) + len(proof.untried)
    head = f'tests="{total}" failures="{len(proof.unseen) + bad}"'
    case = '    <testcase classname="gate prove" name={}{}'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuites name="gate prove" {head}>',
             f'  <testsuite name="gate prove" {head} errors="0" skipped="{skipped}">']  # fmt: skip
    lines += [case.format(attribute(one_line(seen.path)), "/>") for seen in proof.seen]
    for word, told in (("failure", proof.unseen), ("skipped", (*proof.unsettled, *proof.untried))):
        for one in told:
            body = f"><{word} message={attribute(one_line(one.reason))}/></testcase>"
            lines.append(case.format(attribute(one_line(one.path)), body))
    message = attribute(f"{proof.verdict}: {one_line(proof.reason)}")
    notes = escaped("\n".join(proof.notes))
    lines.append(case.format('"verdict"', f"><failure message={message}>{notes}</failure></testcase>" if bad else "/>"))
    return "\n".join([*lines, "  </testsuite>", "</testsuites>"]) + "\n"
