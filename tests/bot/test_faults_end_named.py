"""Whatever model and program do wrong, the ticket ends with an outcome and a reason, and the work is kept on a ref."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.bot.world import World, change, living
from tests.needs import needs

pytestmark = [needs("bwrap", package="bubblewrap"), pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]
MODEL: dict[str, tuple[dict[str, Any], str, str]] = {
    "401": ({"fault": 401}, "failed", "The model's server refused the API key (401): authentication_error: a scripted 401."),
    "silent": ({"fault": "silent", "delay_s": 9}, "failed", "The model's server was silent for too long."),
    "endless loop": ({"bash": "true"}, "over_budget", "Not finished after 4 turns."),
}  # fmt: skip
PROGRAMS = {
    "crashes": ("echo kept > kept; echo 'out of luck'; exit 3", "failed", "Exit code 3: out of luck."),
    "hangs": ("echo kept > kept; sleep 60", "over_budget", "The budget of this ticket, 2 s, is used up (2 s taken)."),
}  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with living(tmp_path_factory.mktemp("faults"), model_retries=0, model_silence_s=0.3) as world:
        yield world


def kept(world: World, repo: str) -> str:
    """Return the file that the kept ref holds."""
    mirror = next((world.folder.parent / "bot" / "slots").rglob(f"*{repo.rpartition('/')[2]}*/mirror.git"))
    return world.git_in(mirror, "show", "refs/sluice/work/" + world.ref(repo) + ":kept")


@pytest.mark.parametrize("name", MODEL)
async def test_a_fault_of_the_model_ends_named_and_keeps_the_work(world: World, name: str) -> None:
    fault, outcome, reason = MODEL[name]
    repo = world.repository(f"acme/model-{name.replace(' ', '-')}", "[budget]\nturns = 4\n")
    world.model.says(repo, change("kept\n", "kept"), *[{**fault, "times": 99} if "fault" in fault else fault] * 5)
    ended = await world.ask(repo)

    said, _, where = ended.reason.partition(" The work so far is kept as ")
    assert (ended.outcome, said, len(where) > 10, kept(world, repo)) == (outcome, reason, True, "kept")


@pytest.mark.parametrize("name", PROGRAMS)
async def test_a_fault_of_a_program_ends_named_and_keeps_the_work(world: World, name: str) -> None:
    script, outcome, reason = PROGRAMS[name]
    command = f'[agent]\nkind = "command"\ncommand = ["sh", "-c", """{script}"""]\n[budget]\nwall_s = 2\n'
    repo = world.repository(f"acme/program-{name}", command)
    ended = await world.ask(repo)

    said, _, where = ended.reason.partition(" The work so far is kept as ")
    assert (ended.outcome, said, len(where) > 10, kept(world, repo)) == (outcome, reason, True, "kept")
