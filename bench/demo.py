"""The whole loop: seconds from label to end, and the bot's own share, which is all but agent and gate steps."""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from bot.demo import loop


async def played(stories: Sequence[loop.Story]) -> tuple[list[loop.Ended], float]:
    """Return how stories ended in a demo of their own, and the seconds from the first label to the last end."""
    with tempfile.TemporaryDirectory() as folder:
        async with loop.running(Path(folder)) as demo:
            began = time.perf_counter()
            ended = await loop.play(demo, told=lambda _: None, of=stories)
            return ended, time.perf_counter() - began


def main() -> int:
    """Print the table."""
    good = True
    print(f"{'':<14}{'issue':<16}{'outcome':<10}{'seconds':>9}{'own share':>11}{'label to end':>14}")
    for name, stories in (("one alone", loop.STORIES[:1]), ("three at once", loop.STORIES)):
        ended, whole = asyncio.run(played(stories))  # a loop each: the engine keeps the one it began in
        good = good and len(ended) == len(stories) and all(end.as_wanted for end in ended)
        for end in ended:
            row = f"{end.issue:<16}{end.outcome:<10}{sum(end.seconds.values()):>9.2f}{end.own_seconds:>11.2f}"
            print(f"{name:<14}{row}{whole:>14.2f}")
    return 0 if good else 1


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)
