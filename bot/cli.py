"""The command line of the bot."""


def main() -> int:
    """Run one command and return its exit code."""
    raise NotImplementedError
