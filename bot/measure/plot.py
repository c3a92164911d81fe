"""A picture of where the seconds go: bars of median seconds by stage and kind, as an SVG."""

from xml.sax.saxutils import escape

from bot.measure.stages import KINDS, PUBLISHED, Measured, Published, Row

COLOURS = {"infrastructure": "#0072b2", "model": "#e69f00", "tools": "#cc79a7", "gate": "#009e73"}  # Okabe and Ito's
LEFT, RIGHT, LINE, BAR = 230, 640, 26, 16
INK = "#222"


def svg(measured: Measured) -> str:
    """Return the picture: seconds by kind, parts of the stages, and the overhead beside the published one."""
    overhead = [(f"overhead, {name}", row) for name, row in measured.overhead.items() if row and name != "install"]
    kinds = [(row.kind, row) for row in measured.kinds if row.total_s]
    parts = [(f"{row.name}: {row.part}", row) for row in measured.stages if row.part]
    longest = max((row.median_s for _, row in (*overhead, *kinds, *parts)), default=0.0) or 1.0
    lines: list[str] = []
    for heading, rows in (("Kinds", kinds), ("Parts of stages", parts), ("Overhead of an attempt", overhead)):
        if rows:
            lines.append(_text(0, len(lines), heading, bold=True))
            lines += [_bar(len(lines) + n, label, row, longest) for n, (label, row) in enumerate(rows)]
    for published in PUBLISHED:
        said = f"published elsewhere: {published.name} {range_of(published)}"
        lines.append(_text(0, len(lines), said))
    legend = "".join(
        f'<rect x="{LEFT + 110 * n}" y="34" width="12" height="12" fill="{COLOURS[kind]}"/>'
        f'<text x="{LEFT + 110 * n + 16}" y="45">{kind}</text>'
        for n, kind in enumerate(KINDS)
    )
    title = f"Median seconds of {measured.attempts} attempts"
    height = 70 + LINE * len(lines)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + RIGHT} {height}" role="img" '
        f'aria-label="{escape(title)}" font-family="system-ui, sans-serif" font-size="13" fill="{INK}">'
        f'<rect width="100%" height="100%" fill="#fff"/>'
        f'<text x="8" y="22" font-size="16" font-weight="600">{escape(title)}</text>{legend}'
        f'<g transform="translate(0 60)">{"".join(lines)}</g></svg>\n'
    )


def range_of(published: Published) -> str:
    """Return a published figure in words."""
    if published.least_s == published.most_s:
        return f"{published.most_s:.0f} s"
    return f"under {published.most_s:.0f} s" if not published.least_s else _between(published)


def _between(published: Published) -> str:
    return f"{published.least_s:.0f} to {published.most_s:.0f} s"


def _text(x: int, line: int, text: str, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x + 8}" y="{line * LINE + 15}"{weight}>{escape(text)}</text>'


def _bar(line: int, label: str, row: Row, longest: float) -> str:
    width = max(1.0, (RIGHT - 90) * row.median_s / longest)
    y = line * LINE
    colour = COLOURS.get("gate" if row.kind == "step" else row.kind, INK)
    shown = label if len(label) <= 32 else f"{label[:31]}…"
    return (
        f'<text x="{LEFT - 8}" y="{y + 15}" text-anchor="end">{escape(shown)}</text>'
        f'<rect x="{LEFT}" y="{y + 3}" width="{width:.1f}" height="{BAR}" fill="{colour}"/>'
        f'<text x="{LEFT + width + 6:.1f}" y="{y + 15}">{row.median_s:.2f} s</text>'
    )
