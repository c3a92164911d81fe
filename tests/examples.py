"""GitHub's own example payloads of webhooks, as scripts/refresh_payloads.py extracted them."""

import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent / "bot/payloads"


class Example(NamedTuple):
    """One payload, and where it stands: its set (api.github.com or an Enterprise Server), event and place."""

    source: str
    event: str
    index: int
    payload: dict[str, Any]

    @property
    def id(self) -> str:
        """Return a name for a test's table."""
        return f"{self.source}-{self.event}-{self.payload.get('action', '')}-{self.index}"


@cache
def load_examples(source: str = "*") -> tuple[Example, ...]:
    """Return the examples of one set, or of all; the caller does not change them."""
    found = []
    for path in sorted(FOLDER.glob(f"{source}.json.xz")):
        events = json.loads(lzma.decompress(path.read_bytes()))
        name = path.name.removesuffix(".json.xz")
        found += [Example(name, e, i, payload) for e, given in events.items() for i, payload in enumerate(given)]
    return tuple(found)
