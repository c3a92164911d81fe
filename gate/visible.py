"""Strangers' text as people may see it: what a terminal would obey is taken out, what hides is written out."""

from gate.patterns import later
from gate.report import Report

# ECMA-48: control sequences, strings up to their end (titles, links), and two-character escapes
_SEQUENCE = later(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?"
)
_COLOUR = later(r"\x1b\[[0-9;:]*m")
_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069"  # the last ones turn text around
_CONTROL = later(f"[{_CONTROLS}]")
_NOT_PLAIN = later(f"[\r{_CONTROLS}]")
_PLAIN = bytes([9, 10, *range(32, 127)])
_NOT_ONE_LINE = later(f"[\n\t\r\u2028\u2029{_CONTROLS}]")


def lines(text: str, *, colours: bool = False) -> str:
    """Return output without what moves the cursor, clears the screen or renames the window; colours where wanted."""
    if _is_plain(text):
        return text
    kept = _SEQUENCE.sub(lambda found: found[0] if colours and _COLOUR.fullmatch(found[0]) else "", text)
    if not colours:
        return _CONTROL.sub("", kept.replace("\r\n", "\n").replace("\r", "\n"))
    parts = _COLOUR.split(kept)
    shown = [_CONTROL.sub("", part.replace("\r\n", "\n").replace("\r", "\n")) for part in parts]
    marks = _COLOUR.findall(kept)
    return "".join(part + mark for part, mark in zip(shown, [*marks, "\x1b[0m" if marks else ""], strict=True))


def _is_plain(text: str) -> bool:
    """Return whether nothing is to be taken out; most text needs no regular expression for that."""
    return (text.isascii() and not text.encode().translate(None, _PLAIN)) or _NOT_PLAIN.search(text) is None


def one_line(text: str) -> str:
    """Return text whose control characters are written out, so that a file's name cannot make a line of its own."""
    if text.isprintable():  # none of them is; most text has none
        return text
    return _NOT_ONE_LINE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def made_visible(report: Report, *, colours: bool = False, paths: bool = True) -> Report:
    """Return a report that is safe to show: everything in it came from a repository, its tools or its file names.

    `paths` says whether the findings' paths are made so too; a format that escapes them itself needs them as they are.
    """
    return report._replace(
        reason=one_line(report.reason),
        steps=tuple(
            s._replace(log=lines(s.log, colours=colours), reason=one_line(s.reason), run=one_line(s.run))
            for s in report.steps
        ),
        findings=tuple(
            f._replace(
                message=one_line(f.message),
                fix=one_line(f.fix),
                path=one_line(f.path) if f.path is not None and paths else f.path,
            )
            for f in report.findings
        ),
    )
