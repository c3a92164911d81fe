"""Strike secrets out of text before it leaves: known values in every usual encoding, and well-known token shapes."""

import base64
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

STRUCK = "[redacted]"
SHORTEST = 8  # a shorter "secret" would strike out ordinary words
# Shapes as their issuers document them: GitHub, Anthropic, OpenAI, AWS, Slack, npm, PyPI, JSON web tokens, PEM keys
SHAPES = (
    r"gh[pousr]_[A-Za-z0-9]{36,255}", r"github_pat_[A-Za-z0-9_]{60,255}", r"sk-ant-[A-Za-z0-9_-]{20,}",
    r"sk-(?:proj-)?[A-Za-z0-9_-]{32,}", r"AKIA[0-9A-Z]{16}", r"xox[abprs]-[A-Za-z0-9-]{10,}", r"npm_[A-Za-z0-9]{36}",
    r"pypi-[A-Za-z0-9_-]{50,}", r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
)  # fmt: skip


class Redactor:
    """Knows secret values; strikes them and everything token-shaped out of text."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {form for secret in secrets if len(secret) >= SHORTEST for form in encodings(secret)}
        parts = [re.escape(form) for form in sorted(known, key=len, reverse=True)]
        self._pattern = re.compile("|".join([*parts, *SHAPES]))

    def text(self, text: str) -> str:
        """Return the text without secrets."""
        return self._pattern.sub(STRUCK, text)


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
