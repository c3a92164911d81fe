"""Errors that a person can mend; each says what was expected, where, and what was found."""


class GateError(Exception):
    """Anything that ends the gate with exit code 2 and one clear line, whatever names and values it quotes."""

    def __str__(self) -> str:
        """Return the message as one line of printable characters, in which nothing is a command to a runner."""
        line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in super().__str__())
        return line.replace("##[", "#\u200b#[")


class UsageError(GateError):
    """The command line or the place it was run in cannot be used."""


class PolicyError(GateError):
    """A policy cannot be read: `file: key: expected X, got Y`."""


class Interrupted(Exception):
    """A signal ended what was going on; there is nothing to report."""
