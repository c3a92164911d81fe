"""Tell by what git said how the forge's side of git stands: away for now, tired of our token, or refusing."""

import re

from bot.errors import BotError

TELLING = 500  # characters of what git said that are shown
_STATUS = re.compile(r"requested URL returned error: (\d{3})")
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_TOKEN = ("could not read Username", "Authentication failed")
_MISSING = ("' not found", "Repository not found")
# curl's words for a network that failed, and git's for a conversation that broke off
_NETWORK = re.compile(
    r"could not resolve|failed to connect|couldn't connect|timed out|timeout|too slow"
    r"|connection (was )?(reset|refused|closed)"
    r"|empty reply|transfer closed|recv failure|send failure|curl (7|18|28|35|52|55|56|92) |early eof|ssl_connect"
    r"|hung up unexpectedly|unexpected disconnect|\[remote failure\]",
    re.IGNORECASE,
)


class Away(BotError):
    """The forge could not serve git for now: asking again mends it."""


class TokenSpent(Away):
    """The forge no longer takes the token: a new one mends it, once."""


class NoAccess(BotError):
    """The forge refuses git here, and will do so again until somebody changes something."""


def trouble(action: str, said: str) -> Away | NoAccess | None:
    """Return what stands between us and the forge, from git's output; None where git had the forge's own answer."""
    if any(line.startswith("!\t") and "[remote failure]" not in line for line in said.splitlines()):
        return None  # a branch was judged: `push --porcelain` says so in a line of its own
    told = f"git {action}: {said.strip()[-TELLING:]}"
    found = _STATUS.search(said)
    if found is not None:
        status = int(found[1])
        return Away(told) if status in _PASSING else NoAccess(f"{told}. {_mend(status)}")
    if any(words in said for words in _TOKEN):
        return TokenSpent(told)
    if any(words in said for words in _MISSING):
        return NoAccess(f"{told}. {_mend(404)}")
    return Away(told) if _NETWORK.search(said) else None


def _mend(status: int) -> str:
    """Return what to look at after a refusal."""
    if status in (401, 403, 404):
        return "Look whether the App is installed on this repository and may write its contents; then `/bot retry`"
    return "`/bot retry` tries again"
