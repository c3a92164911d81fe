"""The real Claude Code, in the box, against the scripted model. Not in CI: it is 235 MB of somebody else's program."""

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from bot.sandbox.out import way_out
from bot.work.agents.agent import AgentSettings, Ending, Limits
from tests.bot.agents.conftest import Work
from tests.needs import needs

PREFIX = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "sluice-tests", "claude")
CLAUDE = shutil.which("claude") or shutil.which(PREFIX / "node_modules/.bin/claude")
GET = f"npm install --prefix {PREFIX} @anthropic-ai/claude-code"

pytestmark = [
    needs("bwrap", package="bubblewrap"),
    pytest.mark.skipif(CLAUDE is None, reason=f"needs Claude Code: {GET}"),
    pytest.mark.slow,
]


@pytest.mark.parametrize("network", ["none", "open"])
async def test_claude_code_works_in_the_box_without_a_key(work: Work, network: Literal["none", "open"]) -> None:
    box = replace(work.box, mode="bubblewrap", network=network)
    settings = AgentSettings(command=(str(CLAUDE),), api_key="sk-ant-the-real-key-0123456789")
    fix = "sed -i 's/>/>=/' cart.py; env"
    async with way_out(box) as work.box:
        result = await work.run({"say": "I look.", "bash": fix}, {"say": "Fixed."}, settings=settings)

    cart = (work.box.workdir / "cart.py").read_text()
    transcript = work.transcript.read_text()
    assert (
        result.ending, result.reason, result.message, result.model, result.usage.turns, result.usage.tokens() > 0,
        (result.usage.dollars or 0) > 0, cart, "sk-ant-the-real-key" in transcript, work.lines[-2:],
    ) == (
        Ending.FINISHED, "", "Fixed.", "claude-sonnet-5-5", 2, True,
        True, "def discount(total):\n    return total >= 100\n", False, [f"$ {fix}", "Fixed."],
    )  # fmt: skip


async def test_claude_code_ends_at_its_turn_limit(work: Work) -> None:
    settings = AgentSettings(command=(str(CLAUDE),))
    result = await work.run(*[{"bash": "true"}] * 9, settings=settings, limits=Limits(turns=2))

    assert (result.ending, result.reason) == (Ending.TURN_LIMIT, "it is not finished at its limit of turns")
