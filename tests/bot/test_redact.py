"""No secret leaves, however it is written."""

import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.sandbox.redact import LONGEST, STRUCK, Redactor, Stream

SECRET = "p@ss/word+with=signs"


@pytest.mark.parametrize(
    "shown",
    [
        SECRET,
        quote(SECRET, safe=""),
        SECRET.encode().hex(),
        base64.b64encode(SECRET.encode()).decode().rstrip("="),
        "ghp_" + "a1B2" * 9,
        "sk-ant-api03-" + "x" * 40,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcdefghijklmnop",
    ],
)
def test_a_secret_is_struck_out(shown: str) -> None:
    struck = Redactor([SECRET]).text(f"before {shown} after")
    assert struck.startswith("before ")
    assert STRUCK in struck
    assert shown not in struck


def test_a_private_key_is_struck_out_even_when_its_end_is_missing() -> None:
    assert Redactor().text("x\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc") == f"x\n{STRUCK}"


def test_ordinary_text_stays() -> None:
    text = "sk-learn, ghp, commit 0123456789abcdef0123456789abcdef01234567, https://example.com/a?b=c"
    assert Redactor([SECRET, "short"]).text(text) == text


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_base64_of_anything_around_a_secret_hides_it(before: bytes, after: bytes) -> None:
    text = base64.b64encode(before + SECRET.encode() + after).decode()
    assert STRUCK in Redactor([SECRET]).text(text)


KEY = "-----BEGIN PRIVATE KEY-----\nMIIEabc\ndef\n-----END PRIVATE KEY-----"


@given(st.lists(st.integers(0, 400), max_size=12))
def test_cut_anywhere_a_stream_says_what_the_whole_says(cuts: list[int]) -> None:
    whole = f"first {SECRET}\nsecond ghp_{'a1B2' * 9} {SECRET.encode().hex()}\n{KEY}\nlast {SECRET}"
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
