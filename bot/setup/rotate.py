"""Give a webhook a new secret without losing what the old one signed."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.errors import UserError
from bot.settings import FILE, Settings, in_environment, load, need
from bot.setup.keep import keep_settings

NEXT = (
    "The webhook has a new secret; the old one counts too, as webhook_secret_previous. Restart `bot serve`: {after}."
    " Later take webhook_secret_previous out of {where}."
)
OF_APP = "what it refuses until then is asked for again at its start"
OF_REPOSITORY = (
    "it finds labelled issues at its start, but a personal token cannot ask for comments of the time between"
)


def refuse_to_lose_to_environment(*names: str) -> None:
    """Raise UserError where a variable is set, which would win over what is about to be stored."""
    found = in_environment(names)
    if found:
        raise UserError(
            f"{', '.join(found)}: expected none in the environment, which wins over what is stored in "
            f"{Path(FILE).resolve()}. Mend: unset it, here and where `bot serve` is started"
        )


@contextmanager
def rotated(settings: Settings) -> Iterator[Settings]:
    """Store a new secret and yield the settings with it; where the forge does not get it, the old one stays first.

    Both are stored whatever happens: the forge may have the one or the other.
    """
    need(settings, ["webhook_secret"])
    refuse_to_lose_to_environment("webhook_secret", "webhook_secret_previous")
    old, new = settings.webhook_secret.get_secret_value() if settings.webhook_secret else "", secrets.token_hex(32)
    keep_settings(Path(FILE), {"webhook_secret_previous": old, "webhook_secret": new})
    try:
        yield load()
    except BaseException:
        keep_settings(Path(FILE), {"webhook_secret_previous": new, "webhook_secret": old})
        raise
