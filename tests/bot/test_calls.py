"""Which lines of a comment are commands."""

import pytest

from bot.inbox.calls import find_calls

COMMANDS = {
    "/bot retry": [("retry", ())],
    "  /BOT Retry  ": [("retry", ())],
    "/bot\tretry": [("retry", ())],
    "/bot\u00a0budget\u00a0$2": [("budget", ("$2",))],
    "/bot retry\r\n/bot why\r\n": [("retry", ()), ("why", ())],
    "* /bot retry": [],
    "Thanks!\n\n/bot budget $2\n/bot retry": [("budget", ("$2",)), ("retry", ())],
    "@sluice why": [("why", ())],
    "@Sluice, what does this do?": [("what", ("does", "this", "do?"))],
    "/bot": [("", ())],
    "/bot paths src/** docs": [("paths", ("src/**", "docs"))],
    "\n".join(["/bot why"] * 9): [*[("why", ())] * 5, ("left out", ("9",))],
    "```\ncode\n```\n/bot why": [("why", ())],
    "say /bot retry": [],
    "/bots retry": [],
    "@sluicer retry": [],
    "> /bot retry": [],
    " > > /bot retry": [],
    "    /bot retry": [],
    "\t/bot retry": [],
    "`/bot retry`": [],
    "```\n/bot retry\n```": [],
    "~~~~sh\n~~~\n/bot retry\n~~~~": [],
    "```\n/bot retry": [],
    "<pre>\n/bot retry\n</pre>": [],
    "<blockquote>\n/bot retry\n</blockquote>\n/bot why": [("why", ())],
    "<code>x</code>\n/bot why": [("why", ())],
    "<PRE lang=sh>\n/bot retry": [],
    "<details>\n\n/bot why": [("why", ())],
    "<!-- /bot retry -->": [],
    "<!--\n/bot retry\n-->": [],
    "": [],
}


@pytest.mark.parametrize(("text", "calls"), COMMANDS.items(), ids=[repr(text) for text in COMMANDS])
def test_a_command_is_a_line_that_the_author_says(text: str, calls: list[tuple[str, tuple[str, ...]]]) -> None:
    assert [(call.name, call.args) for call in find_calls(text, name="sluice")] == calls


def test_without_a_name_only_the_slash_calls() -> None:
    assert find_calls("@ retry\n/bot why", name="")[0].text == "why"
