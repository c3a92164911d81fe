"""The bot is killed in the middle of each stage and started again: the ticket ends well, no finished stage runs twice."""

import contextlib
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.forges.local import LocalForge
from bot.tickets import posts
from bot.tickets.store import open_store
from tests.bot.living import SHOP, TURNS, Bot, Model, cart_model, left_running, open_shop
from tests.needs import needs

pytestmark = [needs("bwrap", package="bubblewrap"), pytest.mark.slow]


@pytest.fixture
def model() -> Iterator[Model]:
    with cart_model() as model:
        yield model


def in_prepare(bot: Bot, _forge: LocalForge, _model: Model) -> None:
    bot.until("stage started", stage="prepare")


def in_edit(_bot: Bot, forge: LocalForge, model: Model) -> None:
    forge.wait(lambda: len(model.requests) >= 3, limit_s=60)


def behind_edit(bot: Bot, _forge: LocalForge, _model: Model) -> None:
    bot.until("stage ended", stage="edit")


def in_verify(bot: Bot, _forge: LocalForge, _model: Model) -> None:
    bot.until("stage started", stage="verify")


def in_publish(_bot: Bot, forge: LocalForge, _model: Model) -> None:
    forge.fail_next("POST", r"/pulls$", "done, then cut")
    forge.wait(lambda: pulls(forge), limit_s=60)


def in_merge(_bot: Bot, forge: LocalForge, _model: Model) -> None:
    forge.fail_next("PUT", r"/merge$", "done, then cut")
    forge.wait(lambda: any(merged for merged in pulls(forge)), limit_s=60)


def pulls(forge: LocalForge) -> list[bool]:
    """Return of each pull request whether it is merged."""
    return [i.merged_sha is not None for i in forge.state.repositories[SHOP].issues.values() if i.head is not None]


def is_told(url: str) -> bool:
    """Return whether the forge shows all that is wanted."""
    store = open_store(url)
    with contextlib.closing(store), store.read() as c:
        return posts.next_due_at(c, 0.0) is None


MOMENTS = (in_prepare, in_edit, behind_edit, in_verify, in_publish, in_merge)
Moment = Callable[[Bot, LocalForge, Model], None]


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


@pytest.mark.parametrize("moment", [in_edit, in_verify, in_publish], ids=lambda m: m.__name__)
def test_another_host_goes_on_where_one_fell_silent_and_what_comes_back_changes_nothing(
    tmp_path: Path, forge: LocalForge, model: Model, postgres_url: str, moment: Moment
) -> None:
    open_shop(forge)
    shared = {"BOT_DATABASE_URL": postgres_url, "BOT_DEAD_AFTER_S": "2"}
    with (
        Bot(tmp_path / "one", forge, model.url, BOT_NAME="one", **shared) as first,
        Bot(tmp_path / "two", forge, model.url, command="worker", BOT_NAME="two", **shared) as other,
    ):
        other.signal(signal.SIGSTOP)  # so that the first one takes the ticket
        forge.label_issue(SHOP, 1, "bot", user="ann")
        moment(first, forge, model)
        first.signal(signal.SIGSTOP)
        other.signal(signal.SIGCONT)
        asked = len(model.requests)
        forge.wait(lambda: is_told(postgres_url) and forge.issue(SHOP, 1).labels == ["bot: merged"], limit_s=60)
        again, said = len(model.requests) - asked, len(forge.requests)
        first.signal(signal.SIGCONT)
        first.until("fenced")
        written = [request for request in forge.requests[said:] if request[0] not in ("GET", "HEAD")]
    assert (pulls(forge), len(forge.comments(SHOP, 1)), written) == ([True], 1, [])
    late = len(model.requests) - asked - again  # at most the one that was on its way
    assert (again, late <= 1) == (TURNS if moment is in_edit else 0, True)
