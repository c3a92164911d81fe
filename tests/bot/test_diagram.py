"""The picture in the documentation is the table in the code."""

from pathlib import Path

from bot.tickets.diagram import states

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"


def test_the_page_shows_the_transitions_as_they_are() -> None:
    assert states() in PAGE.read_text()
