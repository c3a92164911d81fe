"""How Alembic reaches our database: over the connection that `migrations.upgrade` hands in."""

from alembic import context

from bot.tickets.schema import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
