"""Imports point down, the gate knows nothing of the bot, and every member of a family is registered."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# who may import whom; a layer may always import itself
BOT: dict[str, set[str]] = {
    "errors": set(),
    "log": set(),
    "sandbox": {"errors", "log"},
    "serving": {"errors"},
    "settings": {"errors"},
    "tickets": {"errors", "log"},
    "forges": {"tickets", "sandbox", "serving", "errors", "log"},
    "slots": {"sandbox", "tickets", "errors", "log"},
    "inbox": {"tickets", "forges", "errors", "log"},
    "outbox": {"tickets", "forges", "errors", "log"},
    "work": {"slots", "sandbox", "tickets", "forges", "outbox", "serving", "errors", "log"},
    "chat": {"tickets", "forges", "outbox", "work", "errors", "log"},
    "dashboard": {"tickets", "outbox", "work", "errors", "log"},
    "measure": {"tickets", "slots", "sandbox", "errors", "log"},
    "setup": {"inbox", "tickets", "forges", "serving", "settings", "errors", "log"},
    "opening": {"settings", "sandbox", "tickets", "errors"},
    "connecting": {"settings", "forges", "outbox", "sandbox", "tickets", "work", "errors"},
    "demo": {"forges", "work", "settings", "app", "tickets", "sandbox", "serving", "errors", "log"},
    "app": {
        "opening", "connecting", "inbox", "outbox", "work", "dashboard", "slots", "sandbox", "tickets", "forges", "settings", "setup",
        "measure", "chat", "errors", "log",
    },
}  # fmt: skip
EDGES = {"cli", "__main__", "commands", "__init__"}  # may import everything; nothing imports them
MAY_READ_REPORTS = {"outbox", "work", "dashboard", "measure", "commands"}

# folder of siblings -> module and registry that list them; PLUMBING names the modules there that are no siblings
FAMILIES = {
    "gate/tools": ("gate.tools", "TOOLS"),
    "gate/rules": ("gate.rules", "RULES"),
    "gate/canaries": ("gate.canaries", "CANARIES"),
    "bot/slots/ecosystems": ("bot.slots.ecosystems", "ECOSYSTEMS"),
}


def imports(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def sources(package: str) -> list[Path]:
    return sorted(p.relative_to(ROOT) for p in (ROOT / package).rglob("*.py") if "samples" not in p.parts)


@pytest.mark.parametrize("path", sources("bot"), ids=str)
def test_imports_of_the_bot_point_down(path: Path) -> None:
    here = path.parts[1].removesuffix(".py")
    if here in EDGES:
        return
    assert here in BOT, f"{path}: add {here!r} to BOT in test_layers.py with what it may import"
    up = [
        f"{path}:{line} imports {name}: turn the arrow, {here} may import {sorted(BOT[here])}"
        for name, line in imports(path)
        if name.startswith("bot.") and name.split(".")[1] not in BOT[here] | {here}
    ]
    assert up == []


@pytest.mark.parametrize("path", sources("bot"), ids=str)
def test_the_bot_reads_reports_and_nothing_else_of_the_gate(path: Path) -> None:
    allowed = "gate.report" if path.parts[1] in MAY_READ_REPORTS else "nothing"
    found = [
        f"{path}:{line} imports {name}, allowed is {allowed}"
        for name, line in imports(path)
        if name.startswith("gate.") and not name.startswith(allowed)
    ]
    assert found == []


@pytest.mark.parametrize("path", sources("gate"), ids=str)
def test_the_gate_never_imports_the_bot(path: Path) -> None:
    assert [f"{path}:{line} imports {name}" for name, line in imports(path) if name.split(".")[0] == "bot"] == []


@pytest.mark.parametrize("folder", FAMILIES, ids=str)
def test_every_member_of_a_family_is_registered(folder: str) -> None:
    members = {p.stem for p in (ROOT / folder).glob("*.py")} - {"__init__"}
    if not members:
        return
    module, registry = FAMILIES[folder]
    package = importlib.import_module(module)
    listed = getattr(package, registry)
    registered = {m if isinstance(m, str) else m.__name__.rsplit(".", 1)[-1] for m in listed}
    missing = sorted(members - registered - set(getattr(package, "PLUMBING", ())))
    assert missing == [], f"{folder}/__init__.py: add {missing} to {registry}, or to PLUMBING if they are no members"
