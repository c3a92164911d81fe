"""No secret leaves, however it is written."""

import base64
import html
import json
import textwrap
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.sandbox.redact import LONGEST, STRUCK, Redactor, Stream

SECRET = "p@ss/word+with=signs"
QUOTED = 'say "please" & wait'
KEY = """-----BEGIN PRIVATE KEY-----
Kfdir8w7AAAAbbbbCCCCddddEEEE0123456789ab
ZZZZ8w7AAAAbbbbCCCCddddEEEE0123456789abc
-----END PRIVATE KEY-----"""


@pytest.mark.parametrize(
    "shown",
    [
        SECRET,
        quote(SECRET, safe=""),
        quote(SECRET, safe="").lower(),
        SECRET.encode().hex(),
        base64.b64encode(SECRET.encode()).decode()[:26],  # what follows depends on what else is encoded
        base64.b64encode(SECRET.encode()).decode()[:9] + "\n" + base64.b64encode(SECRET.encode()).decode()[9:26],
        html.escape(QUOTED),
        json.dumps(QUOTED)[1:-1],
        "ghp_" + "a1B2" * 9,
        "sk-ant-api03-" + "x" * 40,
        "AIza" + "Sy01-" * 7,
        "sk_live_" + "a1" * 12,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcdefghijklmnop",
        "Kfdir8w7AAAAbbbbCCCCddddEEEE0123456789ab",  # a line of the key
    ],
)
def test_a_secret_is_struck_out(shown: str) -> None:
    assert Redactor([SECRET, QUOTED, KEY]).text(f"before {shown} after") == f"before {STRUCK} after"


@pytest.mark.parametrize(
    ("text", "struck"),
    [
        ("postgresql://bot:pa55word@db/x", f"postgresql://{STRUCK}@db/x"),
        ("Authorization: Bearer abcdefghijklmnopqrstu", f"Authorization: Bearer {STRUCK}"),
    ],
)
def test_what_stands_around_a_secret_stays(text: str, struck: str) -> None:
    assert Redactor().text(text) == struck


def test_data_stays_data() -> None:
    found = {"a": [SECRET, 1, None, {f"x{SECRET}": True}], "b": "-----BEGIN PRIVATE KEY-----\nMII"}
    assert Redactor([SECRET]).data(found) == {"a": [STRUCK, 1, None, {f"x{STRUCK}": True}], "b": STRUCK}


def test_a_private_key_is_struck_out_even_when_its_end_is_missing() -> None:
    assert Redactor().text("x\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc") == f"x\n{STRUCK}"


def test_ordinary_text_stays() -> None:
    text = "sk-learn, ghp, commit 0123456789abcdef0123456789abcdef01234567, https://example.com/a?b=c"
    assert Redactor([SECRET, "short"]).text(text) == text


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_base64_of_anything_around_a_secret_hides_it(before: bytes, after: bytes) -> None:
    text = base64.b64encode(before + SECRET.encode() + after).decode()
    assert STRUCK in Redactor([SECRET]).text(text)


@given(st.lists(st.integers(0, 400), max_size=12))
def test_cut_anywhere_a_stream_says_what_the_whole_says(cuts: list[int]) -> None:
    wrapped = "\n".join(textwrap.wrap(base64.b64encode(SECRET.encode()).decode(), 10))
    whole = f"first {SECRET}\nsecond ghp_{'a1B2' * 9} {SECRET.encode().hex()}\n{KEY}\n{wrapped}\nlast {SECRET}"
    stream, at, said = Stream(Redactor([SECRET])), 0, ""
    for cut in [*sorted(cuts), len(whole)]:
        said += stream.feed(whole[at:cut])
        at = max(at, cut)
    assert said + stream.close() == Redactor([SECRET]).text(whole)


def test_a_line_without_end_does_not_pile_up_and_hides_a_secret_on_its_cut() -> None:
    stream = Stream(Redactor([SECRET]))
    text = "x" * (LONGEST + 5) + SECRET + "y" * (LONGEST - len(SECRET) + 3)
    said = stream.feed(text)
    assert (len(said) > 0, SECRET in said + stream.close()) == (True, False)


def test_a_key_without_an_end_does_not_pile_up() -> None:
    stream = Stream(Redactor())
    said = stream.feed("x\n-----BEGIN PRIVATE KEY-----\n") + stream.feed("MIIE\n" * 8000)
    assert (said, stream.feed("on\n")) == (f"x\n{STRUCK}", "on\n")
