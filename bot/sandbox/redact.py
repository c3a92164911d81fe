"""Strike secrets out of text before it leaves: known values in every usual encoding, and well-known token shapes."""

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

STRUCK = "[redacted]"
LONGEST = 16_384  # of a secret that stands on one line
SHORTEST = 8  # a shorter "secret" would strike out ordinary words
# Shapes as their issuers document them: GitHub, GitLab, Anthropic and OpenAI, AWS, Google, Slack, Stripe, Hugging Face,
# SendGrid, npm, PyPI; JSON web tokens, PEM keys, passwords in addresses, bearer tokens. Each with what it cannot lack:
# looking for that is a hundred times faster than the pattern
SHAPES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{20,255}"),
    (("github_pat_",), r"github_pat_[A-Za-z0-9_]{60,255}"),
    (("glpat-",), r"glpat-[A-Za-z0-9_-]{20,}"),
    (("sk-",), r"sk-(?:ant-[A-Za-z0-9_-]{20,}|(?:proj-)?[A-Za-z0-9_-]{32,})"),
    (("AKIA", "ASIA"), r"A(?:KIA|SIA)[0-9A-Z]{16}"),
    (("AIza",), r"AIza[A-Za-z0-9_-]{35}"),
    (("xox",), r"xox[abeprs]-[A-Za-z0-9-]{10,}"),
    (("k_live_",), r"[rs]k_live_[A-Za-z0-9]{16,}"),
    (("hf_",), r"hf_[A-Za-z0-9]{30,}"),
    (("SG.",), r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    (("npm_",), r"npm_[A-Za-z0-9]{36}"),
    (("pypi-",), r"pypi-[A-Za-z0-9_-]{50,}"),
    (("eyJ",), r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    (("PRIVATE KEY-----",),
     r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
    (("://",), r"://[^\s/:@\"'<>]{1,128}:[^\s/:@\"'<>]{3,256}(?=@)"),
    (("earer ",), r"[Bb]earer [A-Za-z0-9._~+/=-]{20,}"),
)  # fmt: skip
_MARKS = re.compile("|".join(re.escape(mark) for marks, _ in SHAPES for mark in marks))
_STAY = ("://", "Bearer ", "bearer ")  # what a shape begins with that is no secret

_BEGIN, _END = "-----BEGIN ", re.compile(r"-----END [A-Z ]*-----")
_RUN = re.compile(r"[A-Za-z0-9+/_-]{16,}")
_TAIL = 8  # characters by which the start of a wrapped secret is known


class Redactor:
    """Knows secret values; strikes them and everything token-shaped out of text."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = [secret for secret in secrets if len(secret) >= SHORTEST]
        plain = {form for secret in known for form in (*spellings(secret), *_lines(secret))}
        self._plain = sorted(plain, key=len, reverse=True)
        self._coded = sorted({form for secret in known for form in encodings(secret)}, key=len, reverse=True)

    def text(self, text: str) -> str:
        """Return the text without secrets."""
        pattern = self._pattern(text)
        clean = pattern.sub(_strike, text) if pattern else text
        return _RUN.sub(self._strike_piece, clean) if self._plain else clean

    def _strike_piece(self, found: re.Match[str]) -> str:
        """Strike a piece that only a secret has: what was cut or broken into lines is still most of one."""
        run = found[0]
        return STRUCK if any(run in form for forms in (self._plain, self._coded) for form in forms) else run

    def _pattern(self, text: str) -> re.Pattern[str] | None:
        """Return the pattern of what this text may hold; None where it holds nothing, as nearly all do."""
        parts = [re.escape(form) for form in self._plain if form in text]
        whole = text.replace("\n", "").replace("\r", "") if "\n" in text else text
        parts += [_wrapped(form) for form in self._coded if form in whole]
        if _MARKS.search(text):
            parts += [shape for marks, shape in SHAPES if any(mark in text for mark in marks)]
        return re.compile("|".join(parts)) if parts else None

    def data(self, value: Any) -> Any:
        """Return JSON-like data with the secrets struck out of every text in it."""
        match value:
            case str():
                return self.text(value)
            case Mapping():
                return {self.data(key): self.data(inner) for key, inner in value.items()}
            case list() | tuple():
                return [self.data(inner) for inner in value]
            case _:
                return value

    def found(self, text: str) -> Iterator[re.Match[str]]:
        """Yield where secrets stand."""
        pattern = self._pattern(text)
        return pattern.finditer(text) if pattern else iter(())

    def is_open(self, line: str) -> bool:
        """Return whether a line may end in the middle of a secret that goes on in the next."""
        tail = line.rstrip()[-_TAIL:]
        return len(tail) == _TAIL and any(tail in form[:-1] for form in self._coded)


class Stream:
    """Strikes secrets out of text that comes in pieces, also where a secret is cut between two of them.

    It holds back what could be the start of one: all since the last line's end, lines that may end in the middle of an
    encoded secret, and a private key until its end came.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""

    def feed(self, piece: str) -> str:
        """Take a piece; return what can be shown by now."""
        self._held += piece
        cut = self._held.rfind("\n") + 1
        while cut > 0 and self._redactor.is_open(self._held[:cut].rpartition("\n")[0].rpartition("\n")[2]):
            cut = self._held.rfind("\n", 0, cut - 1) + 1
        key = self._held.rfind(_BEGIN)
        if key != -1 and not _END.search(self._held, key, cut):
            cut = min(cut, key)
        if cut <= 0 and len(self._held) > 2 * LONGEST:  # neither a line nor a key is that long
            cut = self._whole(len(self._held) - LONGEST) or len(self._held)
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


def spellings(secret: str) -> set[str]:
    """Return the ways to write a secret that keep its characters: as it is, in an address, in JSON, in HTML."""
    in_url = quote(secret, safe="")
    forms = {
        secret, in_url, quote_plus(secret), quote(secret), re.sub("%[0-9A-F]{2}", lambda m: m[0].lower(), in_url),
        json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], html.escape(secret),
        html.escape(secret).replace("&quot;", "&#34;").replace("&#x27;", "&#39;"),
    }  # fmt: skip
    return {form for form in forms if len(form) >= SHORTEST}


def encodings(secret: str) -> set[str]:
    """Return the forms in which a secret's bytes may turn up: base64 at each offset, hex."""
    raw = secret.encode()
    forms = {raw.hex(), raw.hex().upper()}
    for ended in (raw, raw + b"\n"):  # alone, and as `echo` gives it
        forms |= {encode(ended).decode().rstrip("=") for encode in (base64.b64encode, base64.urlsafe_b64encode)}
    for offset in range(3):  # the three ways in which it may stand inside longer base64
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = encode(b"\0" * offset + raw).decode().rstrip("=")
            forms.add(text[(offset * 8 + 5) // 6 : len(text) - (1 if (offset + len(raw)) % 3 else 0)])
    return {form for form in forms if len(form) >= SHORTEST}


def _lines(secret: str) -> list[str]:
    """Return the lines of a secret that has several: programs print a key line by line."""
    lines = [line.strip() for line in secret.replace("\\n", "\n").splitlines()]
    return [line for line in lines if len(line) >= 2 * SHORTEST and "-----" not in line] if len(lines) > 1 else []


def _wrapped(form: str) -> str:
    """Return the pattern of an encoded secret, also where a tool broke it into lines."""
    return r"[\r\n]*".join(re.escape(character) for character in form)


def _strike(found: re.Match[str]) -> str:
    said = found[0]
    stays = next((start for start in _STAY if said.startswith(start)), "")
    return stays + STRUCK
