"""Strike secrets out of text before it leaves: known values in every usual encoding, and well-known token shapes."""

import base64
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

STRUCK = "[redacted]"
LONGEST = 16_384  # of a secret that stands on one line
SHORTEST = 8  # a shorter "secret" would strike out ordinary words
# Shapes as their issuers document them: GitHub, Anthropic, OpenAI, AWS, Slack, npm, PyPI, JSON web tokens, PEM keys
SHAPES = (
    r"gh[pousr]_[A-Za-z0-9]{36,255}", r"github_pat_[A-Za-z0-9_]{60,255}", r"sk-ant-[A-Za-z0-9_-]{20,}",
    r"sk-(?:proj-)?[A-Za-z0-9_-]{32,}", r"AKIA[0-9A-Z]{16}", r"xox[abprs]-[A-Za-z0-9-]{10,}", r"npm_[A-Za-z0-9]{36}",
    r"pypi-[A-Za-z0-9_-]{50,}", r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
)  # fmt: skip

_END = re.compile(r"-----END [A-Z ]*-----")


class Redactor:
    """Knows secret values; strikes them and everything token-shaped out of text."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {form for secret in secrets if len(secret) >= SHORTEST for form in encodings(secret)}
        parts = [re.escape(form) for form in sorted(known, key=len, reverse=True)]
        self._pattern = re.compile("|".join([*parts, *SHAPES]))

    def text(self, text: str) -> str:
        """Return the text without secrets."""
        return self._pattern.sub(STRUCK, text)

    def found(self, text: str) -> Iterator[re.Match[str]]:
        """Yield where secrets stand."""
        return self._pattern.finditer(text)


class Stream:
    """Strikes secrets out of text that comes in pieces, also where a secret is cut between two of them.

    It holds back what could be the start of one: all since the last line's end, and a private key until its end came.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""

    def feed(self, piece: str) -> str:
        """Take a piece; return what can be shown by now."""
        self._held += piece
        cut = self._held.rfind("\n") + 1
        key = self._held.rfind("-----BEGIN ")
        if key != -1 and not _END.search(self._held, key, cut):
            cut = min(cut, key)
        if cut <= 0 and len(self._held) > 2 * LONGEST:  # neither a line nor a key is that long
            cut = self._whole(len(self._held) - LONGEST)
        shown, self._held = self._held[:cut], self._held[cut:]
        return self._redactor.text(shown)

    def _whole(self, cut: int) -> int:
        """Return the last place up to `cut` that no secret spans."""
        spans = [found.span() for found in self._redactor.found(self._held)]
        return next((start for start, end in spans if start < cut < end), cut)

    def close(self) -> str:
        """Return the rest."""
        rest, self._held = self._held, ""
        return self._redactor.text(rest)


def encodings(secret: str) -> set[str]:
    """Return the forms in which a secret may turn up: as it is, base64 at each offset, URL, hex."""
    raw = secret.encode()
    forms = {secret, quote(secret, safe=""), quote_plus(secret), raw.hex(), raw.hex().upper()}
    for offset in range(3):  # the three ways in which it may stand inside longer base64
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = encode(b"\0" * offset + raw).decode().rstrip("=")
            middle = text[(offset * 8 + 5) // 6 : len(text) - (1 if (offset + len(raw)) % 3 else 0)]
            if len(middle) >= SHORTEST:
                forms.add(middle)
    return {form for form in forms if len(form) >= SHORTEST}
