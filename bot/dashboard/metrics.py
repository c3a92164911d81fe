"""What is counted, in the text format of Prometheus."""

from collections.abc import Mapping

HELP = {
    "sluice_tickets": "Tickets by state and outcome.",
    "sluice_deliveries": "Webhook deliveries by what became of them.",
    "sluice_slots": "Slots by host and state.",
    "sluice_dollars": "Dollars spent on models, where their price is known.",
    "sluice_posts_due": "Things on the forge that are not yet as wanted.",
    "sluice_hosts": "Hosts that ever worked here.",
}


def render_metrics(counts: Mapping[str, Mapping[tuple[tuple[str, str], ...], float]]) -> str:
    """Return the exposition text."""
    lines: list[str] = []
    for name, text in HELP.items():
        if name in counts:
            lines += [f"# HELP {name} {text}", f"# TYPE {name} gauge"]
            lines += [f"{name}{_labels(labels)} {value:g}" for labels, value in sorted(counts[name].items())]
    return "\n".join(lines) + "\n"


def _labels(labels: tuple[tuple[str, str], ...]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{key}="{_escaped(value)}"' for key, value in labels) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
