"""Schema changes, one a file in versions/; brought in at the start, and only where the database is older."""

from pathlib import Path
from typing import Any

import sqlalchemy as sa

from bot.tickets.schema import METADATA

HEAD = "0001"  # the newest file in versions/; a test compares
_VERSION = sa.Table("alembic_version", sa.MetaData(), sa.Column("version_num", sa.String(32), primary_key=True))
_LOCK = 0x5105CF  # of PostgreSQL: two hosts that start together must not both migrate


def upgrade(connection: sa.Connection) -> None:
    """Bring the tables up to date, in the caller's transaction; Alembic is imported only where there is work for it."""
    at = version(connection)
    if at == HEAD:
        return
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        at = version(connection)
        if at == HEAD:
            return
    if at is None:  # new: what the versions lead to, in one step; a test holds them to the same tables
        METADATA.create_all(connection)
        _VERSION.create(connection)
        connection.execute(_VERSION.insert().values(version_num=HEAD))
        return
    from alembic import command  # noqa: PLC0415 costs 150 ms

    command.upgrade(configuration(connection), "head")


def version(connection: sa.Connection) -> str | None:
    """Return which migration a database stands at; None where it is empty."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(sa.select(_VERSION.c.version_num)).scalar()


def configuration(connection: sa.Connection) -> Any:
    """Return Alembic's configuration over a connection."""
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    return config
