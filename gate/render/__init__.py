"""The report as people and machines read it: one module a format, loaded when it is asked for."""

from pathlib import Path

from gate.report import Report, render_json
from gate.visible import made_visible

FORMATS = ("text", "json", "markdown", "comment", "github", "junit", "sarif")
OF_REPORTS = tuple(form for form in FORMATS if form != "comment")  # of audits and proofs


def render(report: Report, form: str, *, root: Path, colour: bool = False, proposal: str = "") -> str:
    """Return a report in a format. Tools name files below `root`; markdown shows the proposal of a policy."""
    if form != "json":
        # SARIF writes a path as a reference, in which every odd byte is escaped: it needs the name as it is
        report = made_visible(report, colours=colour, paths=form != "sarif")
    match form:
        case "text":
            from gate.render.text import render_text

            return render_text(report, colour=colour)
        case "json":
            return render_json(report) + "\n"
        case "markdown":
            from gate.render.markdown import render_markdown

            return render_markdown(report, proposal=proposal)
        case "comment":
            from gate.render.markdown import COMMENT_LENGTH, render_markdown

            return render_markdown(report, length=COMMENT_LENGTH, proposal=proposal)
        case "github":
            from gate.render.github import render_github

            return render_github(report, root)
        case "junit":
            from gate.render.junit import render_junit

            return render_junit(report)
        case "sarif":
            from gate.render.sarif import render_sarif

            return render_sarif(report, root)
        case _:
            raise ValueError(f"expected one of {', '.join(FORMATS)}, got {form!r}")
