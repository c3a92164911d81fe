"""Errors that a person can mend; each says what was expected, where, and what was found."""


class GateError(Exception):
    """Anything that ends the gate with exit code 2 and one clear message."""


class UsageError(GateError):
    """The command line or the place it was run in cannot be used."""


class PolicyError(GateError):
    """A policy cannot be read: `file: key: expected X, got Y`."""
