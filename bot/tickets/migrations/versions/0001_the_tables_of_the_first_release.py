"""The tables of the first release."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Change the tables."""
    op.create_table(
        "asks",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("issue", sa.BigInteger(), nullable=False),
        sa.Column("sender", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("asks", schema=None) as batch_op:
        batch_op.create_index("asks_at", ["at"], unique=False)

    op.create_table(
        "deliveries",
        sa.Column("seq", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("guid", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("state", sa.Text(), server_default="new", nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("seq"),
        sa.UniqueConstraint("guid"),
    )
    with op.batch_alter_table("deliveries", schema=None) as batch_op:
        batch_op.create_index(
            "deliveries_open",
            ["seq"],
            unique=False,
            sqlite_where=sa.text("state IN ('new', 'waiting')"),
            postgresql_where=sa.text("state IN ('new', 'waiting')"),
        )
        batch_op.create_index(
            "deliveries_closed",
            ["state"],
            unique=False,
            sqlite_where=sa.text("state IN ('done', 'ignored', 'failed')"),
            postgresql_where=sa.text("state IN ('done', 'ignored', 'failed')"),
        )

    op.create_table(
        "hosts",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("heartbeat", sa.Double(), nullable=False),
        sa.Column("beats", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("slots", sa.Integer(), nullable=False),
        sa.Column("draining", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "ledger",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("day", sa.Text(), nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("ticket", sa.Integer(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=True),
        sa.Column("round", sa.Integer(), server_default="1", nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("turns", sa.Integer(), server_default="0", nullable=False),
        sa.Column("seconds", sa.Double(), server_default="0", nullable=False),
        sa.Column("input_tokens", sa.Integer(), nullable=False),
        sa.Column("output_tokens", sa.Integer(), nullable=False),
        sa.Column("cache_read_tokens", sa.Integer(), nullable=False),
        sa.Column("cache_write_tokens", sa.Integer(), nullable=False),
        sa.Column("dollars", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("ticket", "attempt", "round"),
    )
    with op.batch_alter_table("ledger", schema=None) as batch_op:
        batch_op.create_index(
            "ledger_day",
            [
                "day",
                "repository",
                "dollars",
                "input_tokens",
                "output_tokens",
                "cache_read_tokens",
                "cache_write_tokens",
            ],
            unique=False,
        )
        batch_op.create_index("ledger_model", ["model", "dollars"], unique=False)

    op.create_table(
        "marks",
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("issue", sa.BigInteger(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("is_on", sa.Boolean(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("repository", "issue", "what"),
    )
    op.create_table(
        "memory",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("issue", sa.Integer(), nullable=True),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("memory", schema=None) as batch_op:
        batch_op.create_index("memory_repository", ["repository"], unique=False)

    op.create_table(
        "posts",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("installation", sa.Integer(), nullable=True),
        sa.Column("wanted", sa.Text(), nullable=False),
        sa.Column("wanted_version", sa.Integer(), nullable=False),
        sa.Column("posted_version", sa.Integer(), server_default="0", nullable=False),
        sa.Column("posted", sa.Text(), nullable=True),
        sa.Column("remote", sa.Text(), nullable=True),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("not_before", sa.Double(), server_default="0", nullable=False),
        sa.Column("claimed_until", sa.Double(), server_default="0", nullable=False),
        sa.Column("claimed_by", sa.Text(), server_default="", nullable=False),
        sa.Column("error", sa.Text(), server_default="", nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    with op.batch_alter_table("posts", schema=None) as batch_op:
        batch_op.create_index(
            "posts_due",
            ["not_before"],
            unique=False,
            sqlite_where=sa.text("wanted_version > posted_version"),
            postgresql_where=sa.text("wanted_version > posted_version"),
        )

    op.create_table(
        "pull_checks",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("pull", sa.BigInteger(), nullable=False),
        sa.Column("head_sha", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("is_fork", sa.Boolean(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("approved_by", sa.Text(), server_default="", nullable=False),
        sa.Column("installation", sa.BigInteger(), nullable=True),
        sa.Column("host", sa.Text(), nullable=True),
        sa.Column("epoch", sa.Integer(), server_default="0", nullable=False),
        sa.Column("not_before", sa.Double(), server_default="0", nullable=False),
        sa.Column("base_sha", sa.Text(), nullable=True),
        sa.Column("report", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("repository", "pull", "head_sha"),
    )
    with op.batch_alter_table("pull_checks", schema=None) as batch_op:
        batch_op.create_index("pull_checks_state", ["state", "updated_at"], unique=False)

    op.create_table(
        "repositories",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("installation", sa.Integer(), nullable=True),
        sa.Column("paused", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("paused_reason", sa.Text(), server_default="", nullable=False),
        sa.Column("settings", sa.Text(), nullable=True),
        sa.Column("settings_sha", sa.Text(), nullable=True),
        sa.Column("settings_error", sa.Text(), server_default="", nullable=False),
        sa.Column("missing", sa.Text(), server_default="[]", nullable=False),
        sa.Column("links", sa.Text(), server_default="", nullable=False),
        sa.Column("cold_s", sa.Text(), server_default="{}", nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "slots",
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("ticket", sa.Integer(), nullable=True),
        sa.Column("epoch", sa.Integer(), server_default="0", nullable=False),
        sa.Column("fingerprint", sa.Text(), server_default="", nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("used_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("host", "name", "repository"),
    )
    op.create_table(
        "tickets",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("issue", sa.Integer(), nullable=False),
        sa.Column("label", sa.Text(), server_default="", nullable=False),
        sa.Column("trigger_key", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.Text(), nullable=False),
        sa.Column("requester", sa.Text(), nullable=False),
        sa.Column("requester_id", sa.Integer(), server_default="0", nullable=False),
        sa.Column("installation", sa.Integer(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("verdict", sa.Text(), nullable=True),
        sa.Column("claim", sa.Text(), server_default="[]", nullable=False),
        sa.Column("edges", sa.Text(), server_default="[]", nullable=False),
        sa.Column("priority", sa.Integer(), server_default="0", nullable=False),
        sa.Column("attempt", sa.Integer(), server_default="1", nullable=False),
        sa.Column("epoch", sa.Integer(), server_default="0", nullable=False),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("host", sa.Text(), nullable=True),
        sa.Column("branch", sa.Text(), nullable=True),
        sa.Column("base_sha", sa.Text(), nullable=True),
        sa.Column("head_sha", sa.Text(), nullable=True),
        sa.Column("pull", sa.Integer(), nullable=True),
        sa.Column("feedback", sa.Text(), server_default="", nullable=False),
        sa.Column("budget", sa.Text(), server_default="{}", nullable=False),
        sa.Column("cancel_requested", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("revision", sa.Integer(), server_default="0", nullable=False),
        sa.Column("held_for", sa.Integer(), nullable=True),
        sa.Column("resume_sha", sa.Text(), nullable=True),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("repository", "issue", "trigger_key"),
    )
    with op.batch_alter_table("tickets", schema=None) as batch_op:
        batch_op.create_index(
            "tickets_held",
            ["held_for"],
            unique=False,
            sqlite_where=sa.text("held_for IS NOT NULL"),
            postgresql_where=sa.text("held_for IS NOT NULL"),
        )
        batch_op.create_index(
            "tickets_head",
            ["repository", "head_sha"],
            unique=False,
            sqlite_where=sa.text("head_sha IS NOT NULL"),
            postgresql_where=sa.text("head_sha IS NOT NULL"),
        )
        batch_op.create_index("tickets_outcome", ["state", "outcome"], unique=False)
        batch_op.create_index(
            "tickets_pull",
            ["repository", "pull"],
            unique=False,
            sqlite_where=sa.text("pull IS NOT NULL"),
            postgresql_where=sa.text("pull IS NOT NULL"),
        )
        batch_op.create_index("tickets_repository", ["repository", "state", "id"], unique=False)
        batch_op.create_index("tickets_state", ["state", "id", "revision"], unique=False)
        batch_op.create_index("tickets_updated", ["updated_at"], unique=False)

    op.create_table(
        "attempts",
        sa.Column("ticket", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.Text(), nullable=False),
        sa.Column("claim", sa.Text(), server_default="[]", nullable=False),
        sa.Column("touched", sa.Text(), server_default="[]", nullable=False),
        sa.Column("base_sha", sa.Text(), nullable=True),
        sa.Column("head_sha", sa.Text(), nullable=True),
        sa.Column("policy_hash", sa.Text(), nullable=True),
        sa.Column("report", sa.Text(), nullable=True),
        sa.Column("usage", sa.Text(), server_default="{}", nullable=False),
        sa.Column("sandbox", sa.Text(), server_default="", nullable=False),
        sa.Column("warmth", sa.Text(), nullable=True),
        sa.Column("proof", sa.Text(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("started_at", sa.Double(), nullable=True),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["ticket"],
            ["tickets.id"],
        ),
        sa.PrimaryKeyConstraint("ticket", "number"),
    )
    op.create_table(
        "rechecks",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("installation", sa.Integer(), nullable=True),
        sa.Column("ticket", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("issue", sa.BigInteger(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("slot", sa.Text(), nullable=False),
        sa.Column("base_sha", sa.Text(), nullable=False),
        sa.Column("head_sha", sa.Text(), nullable=False),
        sa.Column("caches", sa.Text(), nullable=False),
        sa.Column("report", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("cold", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["ticket"],
            ["tickets.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("ticket", "attempt"),
    )
    with op.batch_alter_table("rechecks", schema=None) as batch_op:
        batch_op.create_index("rechecks_host", ["host", "state"], unique=False)

    op.create_table(
        "bundles",
        sa.Column("ticket", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("head_sha", sa.Text(), nullable=False),
        sa.Column("bundle", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["ticket"],
            ["tickets.id"],
        ),
        sa.PrimaryKeyConstraint("ticket", "attempt", "round"),
    )
    op.create_table(
        "log_lines",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("ticket", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("line", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["ticket"],
            ["tickets.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("log_lines", schema=None) as batch_op:
        batch_op.create_index("log_lines_ticket", ["ticket", "id"], unique=False)

    op.create_table(
        "stage_times",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("ticket", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("part", sa.Text(), server_default="", nullable=False),
        sa.Column("kind", sa.Text(), server_default="infrastructure", nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["ticket"],
            ["tickets.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("stage_times", schema=None) as batch_op:
        batch_op.create_index("stage_times_ticket", ["ticket", "attempt"], unique=False)
        batch_op.create_index("stage_times_started", ["started_at"], unique=False)

    op.create_table(
        "written",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("written", schema=None) as batch_op:
        batch_op.create_index("written_at", ["account", "at"], unique=False)
