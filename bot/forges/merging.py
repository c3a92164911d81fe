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

NOT_LATER = """mutation($pull: ID!) {
  disablePullRequestAutoMerge(input: {pullRequestId: $pull}) { pullRequest { number } }
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
    try:
        return await _mutate(ask, repo, LATER, {"pull": pull.node_id, "head": sha, "method": method.upper()})
    except Refused as refused:
        return refused.message


async def merge_not_later(ask: Asker, repo: str, number: int, *, ours: str) -> None:
    """Have a pull request wait for a person where `ours`, our account, had left its merge to the forge."""
    found = await ask.get(repo, PULLS, f"/pulls/{number}", Pull)
    by = found.auto_merge.enabled_by if found.auto_merge else None
    if by is None or by.login.lower() != ours.lower() or found.state != "open":
        return
    why = await _mutate(ask, repo, NOT_LATER, {"pull": found.node_id})
    if why and (await ask.get(repo, PULLS, f"/pulls/{number}", Pull)).auto_merge is not None:
        raise Refused(422, why)


async def _mutate(ask: Asker, repo: str, query: str, variables: dict[str, str]) -> str:
    """Carry out a mutation, which may be done twice; return what is wrong with it, or nothing."""
    where = re.sub(r"/v3$", "", ask.transport.api_url) + "/graphql"  # api.github.com/graphql, HOST/api/graphql
    wish = Ask("POST", where, {"query": query, "variables": variables}, safe=True, content=True)
    found: dict[str, Any] = read_answer(await ask.send(repo, MERGE, wish), dict[str, Any])
    return "; ".join(str(error.get("message")) for error in found.get("errors") or [])
