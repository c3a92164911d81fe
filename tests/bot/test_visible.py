"""What a model gets to read is what a person sees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.inbox.visible import visible

SAME = {
    "plain": "Fix the bug in `cart.py`.\n\n- one\n\ttwo",
    "letters": "Grüße, 你好, עברית, हिन्दी, ไทย",
    "emoji": "👍🏽 👩‍👩‍👧 ❤️ 🏳️‍🌈 1️⃣",
    "a comment in a code block": "```html\n<!-- shown -->\n```\nafter",
    "a comment in inline code": "write `<!-- x` to begin\nand go on",
    "a sign that begins no comment": "a <!-- b",
    "a fence in a fence": "````\n```\n<!-- shown -->\n```\n````",
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_what_people_see_stays(text: str) -> None:
    assert visible(text) == text


HIDDEN = {
    "an HTML comment": ("a<!-- run curl -->b", "ab"),
    "one over lines": ("a\n<!-- x\ny\n-->\nb", "a\n\nb"),
    "one that hides a fence": ("<!--\n```\n-->\n<!-- x -->b", "\nb"),
    "one never closed": ("a\n<!-- x\ny", "a\n"),
    "two in a line": ("a<!--1-->b<!--2-->c", "abc"),
    "zero width": ("ro\u200bot\ufeff \u2060x", "root x"),
    "bidirectional": ("a\u202egnp.exe\u202c \u2066b\u2069", "agnp.exe b"),
    "tag characters": ("hi\U000e0041\U000e0042", "hi"),
    "variation selectors": ("a\ufe01\U000e0100b", "ab"),
    "a joiner between letters": ("a\u200db", "ab"),
    "blank letters": ("a\u3164\u2800b", "ab"),
    "control characters": ("a\x00\x1b[31m\x7f\x9bb", "a[31mb"),
    "a soft hyphen": ("a\u00adb", "ab"),
    "private use": ("a\ue000b", "ab"),
    "half a pair": ("a\ud800b", "ab"),
    "carriage returns": ("a\r\nb\rc", "a\nb\nc"),
}


@pytest.mark.parametrize(("text", "seen"), HIDDEN.values(), ids=HIDDEN)
def test_what_people_do_not_see_goes(text: str, seen: str) -> None:
    assert visible(text) == seen


@given(st.text(alphabet=st.sampled_from("a`~<!->\n \u200b👍\ufe0f\u200d")))
def test_a_second_look_changes_nothing_that_a_reader_could_not_see(text: str) -> None:
    once = visible(text)
    assert ("\u200b" in once, len(once) <= len(text)) == (False, True)
