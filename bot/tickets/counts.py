"""The SQL of what is counted for monitoring."""

import sqlalchemy as sa

from bot.tickets.deliveries import CLOSED, OPEN
from bot.tickets.schema import deliveries, hosts, ledger, posts, slots, tickets


def counts(c: sa.Connection) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Return name -> labels -> value."""
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for row in c.execute(sa.select(tickets.c.state, tickets.c.outcome, sa.func.count()).group_by("state", "outcome")):
        labels = (("state", row[0]), ("outcome", row[1] or ""))
        found.setdefault("sluice_tickets", {})[labels] = row[2]
    for states in (OPEN, CLOSED):  # an index each
        chosen = deliveries.c.state.in_(sa.bindparam("states", states, expanding=True, literal_execute=True))
        for row in c.execute(sa.select(deliveries.c.state, sa.func.count()).where(chosen).group_by("state")):
            found.setdefault("sluice_deliveries", {})[(("state", row[0]),)] = row[1]
    for row in c.execute(sa.select(slots.c.host, slots.c.state, sa.func.count()).group_by("host", "state")):
        found.setdefault("sluice_slots", {})[(("host", row[0]), ("state", row[1]))] = row[2]
    for row in c.execute(sa.select(ledger.c.model, sa.func.sum(ledger.c.dollars)).group_by("model")):
        found.setdefault("sluice_dollars", {})[(("model", row[0]),)] = float(row[1] or 0.0)
    due = sa.select(sa.func.count()).where(posts.c.wanted_version > posts.c.posted_version)
    found["sluice_posts_due"] = {(): float(c.execute(due).scalar_one())}
    found["sluice_hosts"] = {(): float(c.execute(sa.select(sa.func.count()).select_from(hosts)).scalar_one())}
    return found
