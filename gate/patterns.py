"""Regular expressions that are compiled when they are first used: a run meets few of some two hundred."""

import re
from typing import Any, AnyStr, cast


class _Later:
    def __init__(self, pattern: Any, flags: int) -> None:
        self._wanted = pattern, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._wanted), name)  # `re` keeps what it compiled
        setattr(self, name, found)
        return found


def later(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what `re.compile` returns, save that an error in the pattern shows at its first use."""
    return cast("re.Pattern[AnyStr]", _Later(pattern, flags))
