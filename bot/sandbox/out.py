"""Give a box its one way out while commands run in it."""

import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from bot.sandbox import proxy
from bot.sandbox.box import Box
from bot.sandbox.proxy import Rule


@asynccontextmanager
async def way_out(
    box: Box,
    *,
    hosts: Sequence[str] = (),
    private: Sequence[str] = (),
    on_refused: Callable[[str], None] = lambda _: None,
) -> AsyncIterator[Box]:
    """Yield the box with what its network allows: nothing, the registries and `hosts`, or the whole internet."""
    if box.network == "none" or box.mode == "off":
        yield box
        return
    named = (*proxy.REGISTRIES, *hosts) if box.network == "registries" else None
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        socket = Path(folder, "out")
        async with proxy.serve(socket, Rule(named, tuple(private), on_refused=on_refused)):
            yield replace(box, proxy=socket)
