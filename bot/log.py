"""One line of JSON per event on standard error: fixed words, data in fields."""

import json
import logging
import sys
from collections.abc import Callable
from typing import Any

_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


_strike: Callable[[Any], Any] = lambda fields: fields  # noqa: E731 takes secrets out of a line


class Lines(logging.Formatter):
    """Makes a record one line of JSON, without the secrets that `strike` was told of."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = {
            "at": round(record.created, 3),
            "level": record.levelname.lower(),
            "part": record.name.removeprefix("bot."),
            "event": record.getMessage(),
        }
        fields |= {key: value for key, value in vars(record).items() if key not in _PLAIN}
        if record.exc_info:
            fields["trace"] = self.formatException(record.exc_info)
        plain = json.loads(json.dumps(fields, default=str))  # whatever it is, it is text when secrets are looked for
        return json.dumps(_strike(plain), ensure_ascii=False)


def logger(part: str) -> logging.Logger:
    """Return the logger of one part of the bot."""
    return logging.getLogger(f"bot.{part}")


def set_up(level: str = "INFO") -> None:
    """Write the bot's own log to standard error, and what libraries warn of; one formatter, so that nothing leaks."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    logging.getLogger().handlers[:] = [handler]
    logging.getLogger("bot").setLevel(level)


def strike(function: Callable[[Any], Any]) -> None:
    """Take secrets out of every line from now on; `function` takes and returns JSON-like data."""
    global _strike
    _strike = function
