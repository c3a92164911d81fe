"""Whether the repository's own workflows began on what was pushed: a push with the wrong token starts none."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from bot.forges.errors import ForgeError
from bot.forges.github import GitHub
from bot.slots import git

ACTIONS = "github-actions"  # the App behind workflows; ours gets a check suite of its own in any case
WAITS_S = (0.0, 2.0, 4.0)  # before each look: suites appear a moment after the push
_EVENTS = r"\b(push|pull_request)\b"


async def note(forge: GitHub, repository: str, sha: str, mirror: Path, *, waits_s: Sequence[float] = WAITS_S) -> str:
    """Return what people should know where workflows ought to have begun on a pushed commit and did not."""
    if not await _expected(mirror, sha) or await _begun(forge, repository, sha, waits_s):
        return ""
    return (
        f" No workflow has begun on `{sha[:10]}`: pushes start them only with an App installation's or a person's "
        "token, and where Actions are allowed."
    )


async def _expected(mirror: Path, sha: str) -> bool:
    """Return whether a workflow of the commit speaks of pushes or pull requests."""
    found = await git.call("grep", "-lE", _EVENTS, sha, "--", ".github/workflows/", git_dir=mirror, ok=(0, 1))
    return found.exit_code == 0


async def _begun(forge: GitHub, repository: str, sha: str, waits_s: Sequence[float]) -> bool:
    for wait_s in waits_s:
        await asyncio.sleep(wait_s)
        try:
            suites = await forge.check_suites(repository, sha)
        except ForgeError:
            return True  # not known: nothing is claimed
        if any(suite.app is not None and suite.app.slug == ACTIONS for suite in suites):
            return True
    return False
