"""Arguments that several commands take, and what several of them say."""

import re

import click

TAKEN_UP = "A running service takes it up within fifteen seconds."
NAME = re.compile(r"[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}")


def repository_name(_ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return OWNER/REPO as it is, or fail in one line; a default such as `*` for all stays."""
    if value is None or value == param.default or NAME.fullmatch(value):
        return value
    raise click.BadParameter(f"expected OWNER/REPO such as acme/app, got {value!r}")
