"""The report for a job summary or a comment."""

from gate.render.words import MARKS, bad_steps, place, what
from gate.report import Report, StepReport, Verdict

SUMMARY_BYTES = 1024 * 1024 - 4096  # GitHub drops a job summary over 1 MiB
COMMENT_LENGTH = 65_536
LOG_CHARS = 12_000  # of each failing step, at most
LEAST_CHARS = 200  # of a step's output that are worth showing
_NO_CODE = str.maketrans("`\n", "' ")  # in a name that is shown as code
CUT = "\n\n… cut at the platform's length limit\n"


def render_markdown(report: Report, *, length: int = SUMMARY_BYTES, proposal: str = "") -> str:
    """Return the report for a job summary, or with `length` for a comment; cut to fit, saying so."""
    parts = [f"## {'✅' if report.verdict is Verdict.GREEN else '❌'} Gate: {report.verdict}", cell(report.reason)]
    if report.steps:
        rows = [
            f"| {cell(s.name)} | {MARKS[s.outcome]} {s.outcome} | {cell(what(s))} | {s.seconds:.1f} |"
            for s in report.steps
        ]
        parts.append("\n".join(["| step | outcome | evidence | seconds |", "|---|---|---|--:|", *rows]))
    if report.findings:
        parts.append("\n".join(f"- **{f.level}** `{f.rule}` {cell(place(f) + f.message)}" for f in report.findings))
    if proposal:
        parts.append(f"A `gate.toml` that would fit this repository:\n\n{_fence(proposal, 'toml')}")
    parts.append(f"Policy: `{(report.policy.source or 'none').translate(_NO_CODE)}`")
    head = _bytes("\n\n".join(parts))
    limit = length - len(_bytes(CUT)) - 1
    if len(head) > limit:
        return head[:limit].decode("utf-8", "ignore").rpartition("\n")[0] + CUT
    text, whole = head.decode(), True
    for step in bad_steps(report):
        block = _output(step, limit - len(_bytes(text)))
        text += block
        whole = whole and bool(block or not step.log.strip())
    return text + ("\n" if whole else CUT)


def _output(step: StepReport, room: int) -> str:
    """Return the end of a step's output as a block that folds, nothing where there is no room."""
    log = step.log.strip("\n")
    if not log.strip():
        return ""
    start, end = f"\n\n<details><summary>Output of {cell(step.name)}</summary>\n\n", "\n\n</details>"
    for chars in (LOG_CHARS, LOG_CHARS // 4, LEAST_CHARS):
        block = f"{start}{_fence(log[-chars:], 'text')}{end}"
        if len(_bytes(block)) <= room:
            return block
    return ""


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def cut(text: str, *, length: int = SUMMARY_BYTES) -> str:
    """Return text of at most so many bytes, at the end of a line and saying so where it is cut."""
    whole = _bytes(text)
    if len(whole) <= length:
        return whole.decode()
    return whole[: length - len(_bytes(CUT))].decode("utf-8", "ignore").rpartition("\n")[0] + CUT


def cell(text: str) -> str:
    """Return text that stays in one line, or one cell of a table, and is no markup."""
    return text.replace("\n", " ").replace("|", "\\|").replace("<", "&lt;").replace("@", "@\u200b")


def _fence(text: str, language: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
