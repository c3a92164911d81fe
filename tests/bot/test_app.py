"""What wakes the service's loops, and what ends them."""

import asyncio

import pytest

from bot.app import woken


@pytest.mark.parametrize("turns", range(4))
async def test_a_loop_that_is_woken_just_as_it_is_cancelled_ends(turns: int) -> None:
    event = asyncio.Event()

    async def loop() -> None:
        while True:
            await woken(event, limit_s=60.0)

    task = asyncio.create_task(loop())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    event.set()
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=5.0)
    assert (done, task.cancelled()) == ({task}, True)
