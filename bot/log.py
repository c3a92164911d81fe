"""One line of JSON per event on standard error: fixed words, data in fields."""

import json
import logging
import sys
from typing import Any

_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class _Lines(logging.Formatter):
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
        return json.dumps(fields, default=str, ensure_ascii=False)


def logger(part: str) -> logging.Logger:
    """Return the logger of one part of the bot."""
    return logging.getLogger(f"bot.{part}")


def set_up(level: str = "INFO") -> None:
    """Write the bot's own log to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    root = logging.getLogger("bot")
    root.handlers[:] = [handler]
    root.setLevel(level)
    root.propagate = False
