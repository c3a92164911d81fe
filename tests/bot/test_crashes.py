"""The bot is killed in the middle of each stage and started again: the ticket ends well, no finished stage runs twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.forges.local import LocalForge
from tests.bot.living import (
    SHOP,
    TURNS,
    Bot,
    Model,
    Moment,
    behind_edit,
    cart_model,
    in_edit,
    in_merge,
    in_prepare,
    in_publish,
    in_verify,
    left_running,
    open_shop,
    pulls,
)  # fmt: skip
from tests.needs import needs

pytestmark = [needs("bwrap", package="bubblewrap"), pytest.mark.slow(seconds=8)]


@pytest.fixture
def model() -> Iterator[Model]:
    with cart_model() as model:
        yield model


MOMENTS = (in_prepare, in_edit, behind_edit, in_verify, in_publish, in_merge)


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda m: m.__name__)
def test_a_bot_killed_in_a_stage_goes_on_behind_the_last_finished_one(
    tmp_path: Path, forge: LocalForge, model: Model, moment: Moment
) -> None:
    open_shop(forge)
    with Bot(tmp_path, forge, model.url) as bot:
        forge.label_issue(SHOP, 1, "bot", user="ann")
        moment(bot, forge, model)
    left, asked = left_running(tmp_path / "bot"), len(model.requests)
    with Bot(tmp_path, forge, model.url):
        forge.wait(lambda: forge.issue(SHOP, 1).labels == ["bot: merged"], limit_s=60)
    again = TURNS if moment in (in_prepare, in_edit) else 0
    assert (left, pulls(forge), forge.issue(SHOP, 1).state, len(forge.comments(SHOP, 1))) == ([], [True], "closed", 1)
    assert moment is behind_edit or len(model.requests) == asked + again  # kept just before the kill, or just not
