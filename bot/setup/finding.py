"""One line of `bot doctor`: what was looked at, and the mend where it is not well."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; what is not `needed` is advice."""

    name: str
    ok: bool
    said: str
    mend: str = ""
    needed: bool = True
