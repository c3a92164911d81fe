"""Merging a pull request at one commit: now, or by the forge itself once all is there that the branch requires."""

import re
from typing import Any, cast

from bot.forges.answers import HeadMoved, Merged, NotMergeable, Pull
from bot.forges.asking import AFTER_S, Asker
from bot.forges.auth import MERGE, PULLS, read_answer
from bot.forges.errors import Refused, Unreachable
from bot.forges.transport import Ask, message_of

# https://docs.github.com/graphql/reference/mutations#enablepullrequestautomerge: REST has no such operation
LATER = """mutation($pull: ID!, $head: GitObjectID!, $method: PullRequestMergeMethod!) {
  enablePullRequestAutoMerge(input: {pullRequestId: $pull, expectedHeadOid: $head, mergeMethod: $method}) {
    pullRequest { number }
  }
}"""


async def merge_pull(ask: Asker, repo: str, number: int, *, sha: str, method: str) -> Merged | HeadMoved | NotMergeable:
    """Merge a pull request if its head is `sha`; after an unclear failure look first, never merge blindly."""
    fields = {"sha": sha, "merge_method": method}
    wish = Ask("PUT", f"/pulls/{number}/merge", fields, content=True, fine=(403, 404, 405, 409, 422))
    try:
        answer = await ask.send(repo, MERGE, wish)
    except Unreachable:
        await ask.transport.sleep(AFTER_S)
        found = await ask.get(repo, PULLS, f"/pulls/{number}", Pull)
        if found.merged and found.head.sha == sha:
            return Merged(found.merge_commit_sha or "")
        raise
    if answer.status_code == 200:
        return cast("Merged", read_answer(answer, Merged))
    if answer.status_code == 409:
        return HeadMoved()
    return NotMergeable(message_of(answer))


async def merge_later(ask: Asker, repo: str, pull: Pull, *, sha: str, method: str) -> str:
    """Have the forge merge a pull request once all required checks have passed; return why it will not, or nothing."""
    where = re.sub(r"/v3$", "", ask.transport.api_url) + "/graphql"  # api.github.com/graphql, HOST/api/graphql
    fields = {"query": LATER, "variables": {"pull": pull.node_id, "head": sha, "method": method.upper()}}
    try:
        answer = await ask.send(repo, MERGE, Ask("POST", where, fields, safe=True, content=True))
    except Refused as refused:
        return refused.message
    found: dict[str, Any] = read_answer(answer, dict[str, Any])
    return "; ".join(str(error.get("message")) for error in found.get("errors") or [])
