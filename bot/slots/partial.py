"""A mirror that holds every commit and folder, and of the files only those that were asked for: a partial clone.

git fetches what is missing wherever it meets it. Here nothing may: the box has no network and must not have the token.
So the mirror's own address leads nowhere, which fails at once, and only calls that are meant to reach the forge replace
it (`git._environment`). What a job needs is fetched before its box closes, see `lacking`.

https://git-scm.com/docs/partial-clone
"""

import re
from pathlib import Path

REMOTE = "origin"
FILTER = "--filter=blob:none"
NOWHERE = "/dev/null/older-files-are-not-on-this-host"  # below what is no folder: nobody can ever make it
IGNORED = "filtering not recognized by server, ignoring"  # git's words
LACKS = re.compile(r"from promisor remote|lazy fetching disabled")  # git's words for a file that is not here
SECTION = f"""[remote "{REMOTE}"]
\turl = {NOWHERE}
\tpromisor = true
\tpartialclonefilter = blob:none
"""


def is_partial(mirror: Path) -> bool:
    """Return whether files may be missing in a mirror, or in one that is not there yet: no."""
    try:
        return SECTION in (mirror / "config").read_text(errors="replace")
    except OSError:
        return False


def begin(mirror: Path) -> None:
    """Make an empty mirror partial."""
    with (mirror / "config").open("a") as config:
        config.write(SECTION)


def end(mirror: Path) -> None:
    """Make a mirror whole that got every file, for its forge knows no filters."""
    config = mirror / "config"
    new = config.with_name("config-whole")
    new.write_text(config.read_text().replace(SECTION, ""))
    for mark in (mirror / "objects" / "pack").glob("*.promisor"):
        mark.unlink()
    new.replace(config)


def prerequisites(bundle: bytes) -> list[str]:
    """Return the commits that a bundle builds on: its files may be differences to theirs.

    https://git-scm.com/docs/gitformat-bundle
    """
    header = bundle.partition(b"\n\n")[0].splitlines()
    return [line[1:].split(b" ", 1)[0].decode("ascii", "replace") for line in header if line.startswith(b"-")]
