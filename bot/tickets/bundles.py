"""An agent's commits, kept in the database so that another host can go on from them."""

import sqlalchemy as sa

from bot.tickets.schema import bundles

MOST_BYTES = 20 * 1024 * 1024  # a larger bundle stays on its host's local ref only


def keep(c: sa.Connection, ticket: int, attempt: int, round_: int, *, head_sha: str, bundle: bytes) -> bool:
    """Keep the bundle of one round, replacing an earlier one; False where it is too large to keep."""
    if len(bundle) > MOST_BYTES:
        return False
    where = (bundles.c.ticket == ticket, bundles.c.attempt == attempt, bundles.c.round == round_)
    c.execute(bundles.delete().where(*where))
    c.execute(bundles.insert().values(ticket=ticket, attempt=attempt, round=round_, head_sha=head_sha, bundle=bundle))
    return True


def newest(c: sa.Connection, ticket: int, *, since: int) -> str | None:
    """Return the head of the newest commits that a ticket left, from an attempt on."""
    where, order = (bundles.c.ticket == ticket, bundles.c.attempt >= since), (bundles.c.attempt, bundles.c.round)
    query = sa.select(bundles.c.head_sha).where(*where).order_by(*(column.desc() for column in order))
    return c.execute(query.limit(1)).scalar()


def find(c: sa.Connection, ticket: int, head_sha: str) -> bytes | None:
    """Return the bundle that holds a ticket's commit."""
    return c.execute(
        sa.select(bundles.c.bundle).where(bundles.c.ticket == ticket, bundles.c.head_sha == head_sha)
    ).scalar()
