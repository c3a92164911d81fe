"""What people hear when a gate says something else without its caches."""

import sqlalchemy as sa

from bot.outbox import reporter
from bot.outbox.comments import COMMENT_LENGTH, cell, gate_table, truncate
from bot.outbox.reporter import Links
from bot.tickets import posts, tickets
from bot.tickets.rechecks import Recheck
from bot.tickets.ticket import Outcome, Ticket
from gate.report import Report, Verdict


def report(c: sa.Connection, found: Recheck, warm: Report, cold: Report, *, links: Links, now: float) -> None:
    """Wish for a comment, and for a failing check run where the verdict is worse than it was said to be."""
    ticket = tickets.get_ticket(c, found.ticket)
    wanted = {"issue": found.issue, "marker": marker(found), "body": comment(found, ticket, warm, cold, links)}
    posts.want(c, f"recheck:{found.id}", "comment", repository=found.repository, installation=found.installation,
               wanted=wanted, now=now, urgent=True)  # fmt: skip
    if cold.verdict is not Verdict.GREEN and ticket.branch:
        reporter.want_check(c, ticket, found.head_sha, cold, now=now, url=links.ticket(ticket))


def marker(found: Recheck) -> str:
    """Return the invisible line by which our comment is found again."""
    return f"<!-- sluice:recheck:{found.id} -->"


def comment(found: Recheck, ticket: Ticket, warm: Report, cold: Report, links: Links) -> str:
    """Return the comment: both verdicts, what was kept, what happens with it, and what to do."""
    paths = ", ".join(f"`{path}`" for path, _, _ in found.caches)
    said = (
        f"The gate called `{found.head_sha[:10]}` **{warm.verdict}** with caches of earlier gates ({paths}). "
        f"Run again without them, twice, it says **{cold.verdict}**: {cell(cold.reason)}"
    )
    kept = (
        "Those caches are in quarantine until their tool or its configuration changes; meanwhile it runs without them."
    )
    parts = [marker(found), "### ⚠️ The gate says something else without its caches", said, kept]
    parts += [_next(ticket, cold, links), gate_table(cold)]
    return truncate("\n\n".join(parts), COMMENT_LENGTH, links.ticket(ticket))


def _next(ticket: Ticket, cold: Report, links: Links) -> str:
    if cold.verdict is Verdict.GREEN:
        return "Next: comment `/bot retry`; the work so far is kept."
    if ticket.outcome is Outcome.MERGED:
        where = f"[#{ticket.pull}]({links.pull(ticket)})" if ticket.pull else "the change"
        return f"Next: {where} is merged already. Look at the failing steps below, then mend it or revert it."
    return "Next: the check run of that commit fails now. Look at the failing steps below, or comment `/bot retry`."
