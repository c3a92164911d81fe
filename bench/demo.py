"""The whole loop: seconds from label to end, and the bot's own share, which is all but agent and gate steps."""

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from bot.demo import loop


async def main() -> int:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        async with loop.running(Path(folder)) as demo:
            began = time.perf_counter()
            ended = await loop.play(demo, told=lambda _: None)
            whole = time.perf_counter() - began
            print(f"{'issue':<16}{'outcome':<10}{'seconds':>9}{'own share':>11}")
            for end in ended:
                print(f"{end.issue:<16}{end.outcome:<10}{sum(end.seconds.values()):>9.2f}{end.own_seconds:>11.2f}")
            print(f"\nall three, beside each other where their paths are disjoint: {whole:.2f} s")
            return 0 if all(end.as_wanted for end in ended) else 1


if __name__ == "__main__":
    code = asyncio.run(main())
    sys.stdout.flush()
    os._exit(code)
