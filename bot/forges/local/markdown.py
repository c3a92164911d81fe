"""Markdown of comments as pages show it: no HTML of strangers, but the folding that bots write."""

import re

from markdown_it import MarkdownIt
from markupsafe import Markup

_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FOLDING = re.compile(r"&lt;(/?(?:details|summary))&gt;")
_READER = (
    MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"]).disable("image")
)


def render_markdown(text: str) -> Markup:
    """Return a comment as HTML."""
    shown = _READER.render(_apart(_HIDDEN.sub("", text)))
    folded = _FOLDING.sub(r"<\1>", shown)
    for tag in ("details", "summary"):
        if folded.count(f"<{tag}>") != folded.count(f"</{tag}>"):
            return Markup(shown)  # noqa: S704 escaped by the reader, which takes no HTML
    unwrapped = re.sub(r"<p>(</?details>|<summary>.*?</summary>)</p>", r"\1", folded)
    return Markup(unwrapped)  # noqa: S704 the same, and two tags without attributes


def _apart(text: str) -> str:
    """Put the tags of folding into paragraphs of their own, so that they do not end up inside another."""
    text = re.sub(r"<details>\s*<summary>(.*?)</summary>", r"\n\n<details>\n\n<summary>\1</summary>\n\n", text)
    return text.replace("</details>", "\n\n</details>\n\n")
