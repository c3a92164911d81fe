"""The command line of the gate."""


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    raise NotImplementedError(argv)
