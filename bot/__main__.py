"""Start the command line of the bot, or say in one line what is not installed."""

import gc
import sys


def main() -> int:
    """Run the command line; without the extra `bot` this is one clear line and exit code 2."""
    gc.set_threshold(100_000, 30, 30)  # imports make no garbage; looking for it costs a tenth of a start
    try:
        from bot import cli
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in {"bot", "gate"}:
            raise
        print(f"bot: expected the extra 'bot' to be installed, {error.name} is missing. "
              "Mend: pip install 'sluice[bot]'", file=sys.stderr)  # fmt: skip
        return 2
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
