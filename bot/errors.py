"""Errors that a person can mend."""


class BotError(Exception):
    """Base of what is told to people as one line, without a traceback."""


class UserError(BotError):
    """Somebody asked for what cannot be done; becomes a comment or a line on the terminal."""


class ConfigError(BotError):
    """A setting cannot be used: `file: key: expected X, got Y`."""
