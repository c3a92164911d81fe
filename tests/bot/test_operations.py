"""The operator's page names every setting, key and command that there is."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from bot.cli import COMMANDS as PROGRAMS
from bot.inbox.commands import COMMANDS
from bot.settings import Settings
from bot.tickets.repository import RepositorySettings

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()


def keys(kind: type, prefix: str = "") -> Iterator[str]:
    for field in dataclasses.fields(kind):
        made = field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default
        yield from keys(type(made), f"{field.name}.") if dataclasses.is_dataclass(made) else [prefix + field.name]


def test_every_setting_is_explained() -> None:
    assert [name for name in Settings.model_fields if f"`{name}`" not in PAGE] == []


def test_every_key_of_a_repository_is_explained() -> None:
    assert [key for key in keys(RepositorySettings) if f"`{key}`" not in PAGE] == []


def test_every_command_in_a_comment_is_explained() -> None:
    assert [c.name for c in COMMANDS if f"`/bot {c.name}" not in PAGE] == []


def test_every_program_exists() -> None:
    folder = Path(__file__).parents[2] / "bot" / "commands"
    assert [name for name, (module, _) in PROGRAMS.items() if not (folder / f"{module}.py").exists()] == []
