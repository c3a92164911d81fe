"""What can go wrong when talking to a forge."""

from bot.errors import BotError


class ForgeError(BotError):
    """The forge did not do what was asked."""


class Refused(ForgeError):
    """The forge answered no; `status` is HTTP's."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message


class NotGranted(Refused):
    """A permission is missing, or its installer has not accepted it yet."""

    def __init__(self, repository: str, permission: str) -> None:
        super().__init__(403, f"{repository} has not granted the permission {permission}. Its owner accepts it under"
                              " Settings, GitHub Apps, Configure (or Review request)")  # fmt: skip
        self.permission = permission


class RateLimited(ForgeError):
    """The forge asks to wait; `until` is in seconds since the epoch."""

    def __init__(self, until: float, message: str) -> None:
        super().__init__(message)
        self.until = until


class Unreachable(ForgeError):
    """No whole answer came; whether the request was carried out is not known."""
