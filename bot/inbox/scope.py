"""What an issue says of the paths it may write and of other issues, and what the forge says it waits for."""

from collections.abc import Sequence
from typing import Any

from bot.forges.answers import Issue
from bot.forges.errors import Refused
from bot.forges.events import Event, IssueEvent, LinkEvent
from bot.forges.github import GitHub
from bot.inbox.intent import Again, Intent, Relink, Start
from bot.inbox.turn import Linked, Turn
from bot.inbox.visible import visible
from bot.tickets.claims import read_claim, widen
from bot.tickets.edges import HARD, NATIVE, Edge, read_edges
from bot.tickets.marks import Mark
from bot.tickets.open_issues import OPEN
from bot.tickets.ticket import Ticket

MOST_NAMED = 10  # issues named in a text that the forge is asked about


async def look_at_links(forge: GitHub, event: Event, intent: Intent) -> Linked | None:
    """Ask the forge what an issue waits for; None where the event is about no such thing. Asks nothing in vain."""
    match event, intent:
        case IssueEvent(), Start() | Again():
            repo, number, native = event.origin.repository, event.number, list[Issue]()
            if event.blocked_by or event.parts:
                native = await forge.waits_for(
                    repo, number, blocked=event.blocked_by > 0, parted=event.parts > 0
                )  # fmt: skip
            hard = [n for kind, n in read_edges(f"{event.title}\n{event.body}", own=number) if kind == HARD]
            return Linked(tuple(native), await _named(forge, repo, hard[:MOST_NAMED]))
        case LinkEvent(), Relink():
            return Linked(tuple(await forge.waits_for(event.origin.repository, event.number)))
        case _:
            return None


async def _named(forge: GitHub, repo: str, numbers: Sequence[int]) -> tuple[Issue, ...]:
    found: list[Issue] = []
    for number in numbers:
        try:
            found.append(await forge.issue(repo, number))
        except Refused as refused:
            if refused.status not in (404, 410):
                raise
    return tuple(found)


def remember(turn: Turn, linked: Linked) -> None:
    """Keep whether each of the other issues is open; what is heard of one later wins."""
    for issue in (*linked.native, *linked.named):
        before = turn.mark_of(issue.number, OPEN)
        turn.put_mark_of(issue.number, OPEN, Mark(issue.state == "open", before.at if before else 0.0))


def scope_of(turn: Turn, title: str, body: str, *, before: Ticket | None = None) -> dict[str, Any]:
    """Return claim and edges of a text as fields of a ticket; a claim that did not come from the old text stays."""
    shared = turn.settings.shared
    claim = widen(read_claim(visible(body)), shared=shared)
    if before is not None and before.claim != widen(read_claim(before.body), shared=shared):
        claim = before.claim  # `/bot paths` said it, or an attempt found out
    number = turn.number if before is None else before.issue
    return {"claim": claim, "edges": edges_of(turn, title, body, own=number, before=before)}


def edges_of(turn: Turn, title: str, body: str, *, own: int, before: Ticket | None = None) -> tuple[Edge, ...]:
    """Return what the text names, behind what the forge knows: from a look just now, else as it was known."""
    if turn.linked is not None:
        native: tuple[Edge, ...] = tuple((NATIVE, issue.number) for issue in turn.linked.native if issue.number != own)
    else:
        native = tuple(edge for edge in (before.edges if before else ()) if edge[0] == NATIVE)
    return (*native, *read_edges(f"{visible(title)}\n{visible(body)}", own=own))
