"""A host falls silent in the middle of a stage: another one goes on, and what comes back from the dead changes nothing."""

import signal
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
    cart_model,
    in_edit,
    in_publish,
    in_verify,
    is_told,
    open_shop,
    pulls,
)  # fmt: skip
from tests.needs import needs

pytestmark = [needs("bwrap", package="bubblewrap"), pytest.mark.slow(seconds=16)]


@pytest.fixture
def model() -> Iterator[Model]:
    with cart_model() as model:
        yield model


def is_shown(method: str, path: str) -> bool:
    """Return whether a request changes what people see: tokens and lost deliveries that are asked for do not."""
    return method not in ("GET", "HEAD") and not path.startswith("/app/")


@pytest.mark.parametrize("moment", [in_edit, in_verify, in_publish], ids=lambda m: m.__name__)
def test_another_host_goes_on_where_one_fell_silent_and_what_comes_back_changes_nothing(
    tmp_path: Path, forge: LocalForge, model: Model, postgres_url: str, moment: Moment
) -> None:
    open_shop(forge)
    shared = {"BOT_DATABASE_URL": postgres_url, "BOT_DEAD_AFTER_S": "3"}
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
        with model.thinking():  # else an agent may well be done before its host looks
            first.signal(signal.SIGCONT)
            first.until("fenced")
        written = [request for request in forge.requests[said:] if is_shown(*request)]
    assert (pulls(forge), len(forge.comments(SHOP, 1)), written) == ([True], 1, [])
    late = len(model.requests) - asked - again  # at most what follows the answer that was on its way
    assert (again, late <= 1) == (TURNS if moment is in_edit else 0, True)
