"""The tables. Times are seconds since the epoch in double precision; JSON is kept as text, written and read by us."""

import sqlalchemy as sa

METADATA = sa.MetaData()

# Double, not REAL: REAL has 4 bytes on PostgreSQL, too coarse for seconds since the epoch
_time = sa.Double

deliveries = sa.Table(
    "deliveries",
    METADATA,
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("guid", sa.Text, nullable=False, unique=True),  # X-GitHub-Delivery
    sa.Column("event", sa.Text, nullable=False),  # X-GitHub-Event
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Column("received_at", _time, nullable=False),
    sa.Column("state", sa.Text, nullable=False, server_default="new"),  # new, done, ignored, failed
    sa.Column("reason", sa.Text, nullable=False, server_default=""),
    sa.Column("tries", sa.Integer, nullable=False, server_default="0"),
)
sa.Index("deliveries_open", deliveries.c.seq, sqlite_where=deliveries.c.state.in_(("new", "waiting")),
         postgresql_where=deliveries.c.state.in_(("new", "waiting")))  # fmt: skip
# counted for monitoring; an index over all states would be taken for what is open, and that sorted again and again
sa.Index("deliveries_closed", deliveries.c.state, sqlite_where=deliveries.c.state.in_(("done", "ignored", "failed")),
         postgresql_where=deliveries.c.state.in_(("done", "ignored", "failed")))  # fmt: skip

marks = sa.Table(  # the newest that was heard of a label, of being open, of the text; the forge's clock orders it
    "marks",
    METADATA,
    sa.Column("repository", sa.Text, primary_key=True),
    sa.Column("issue", sa.BigInteger, primary_key=True),
    sa.Column("what", sa.Text, primary_key=True),  # label:bot, open, text
    sa.Column("is_on", sa.Boolean, nullable=False),
    sa.Column("at", _time, nullable=False),
    sa.Column("note", sa.Text, nullable=False, server_default=""),
)

asks = sa.Table(  # what was asked of us, for the breakers
    "asks",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("repository", sa.Text, nullable=False),
    sa.Column("issue", sa.BigInteger, nullable=False),
    sa.Column("sender", sa.BigInteger, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),  # work, words
    sa.Column("at", _time, nullable=False),
)
sa.Index("asks_at", asks.c.at)

pull_checks = sa.Table(  # people's pull requests that want the gate's word, one row a head commit
    "pull_checks",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("repository", sa.Text, nullable=False),
    sa.Column("pull", sa.BigInteger, nullable=False),
    sa.Column("head_sha", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),  # needs_approval, queued, running, done, outdated
    sa.Column("is_fork", sa.Boolean, nullable=False),
    sa.Column("author", sa.Text, nullable=False),
    sa.Column("approved_by", sa.Text, nullable=False, server_default=""),
    sa.Column("installation", sa.BigInteger),
    sa.Column("host", sa.Text),  # that runs it
    sa.Column("epoch", sa.Integer, nullable=False, server_default="0"),  # how often it was taken: fences late writes
    sa.Column("not_before", _time, nullable=False, server_default="0"),
    sa.Column("base_sha", sa.Text),  # the merge base that it was judged against
    sa.Column("report", sa.Text),  # the gate's, JSON
    sa.Column("created_at", _time, nullable=False),
    sa.Column("updated_at", _time, nullable=False),
    sa.UniqueConstraint("repository", "pull", "head_sha"),
)
sa.Index("pull_checks_state", pull_checks.c.state, pull_checks.c.updated_at)

tickets = sa.Table(
    "tickets",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("repository", sa.Text, nullable=False),
    sa.Column("issue", sa.Integer, nullable=False),
    sa.Column("label", sa.Text, nullable=False, server_default=""),  # that triggered it
    sa.Column("trigger_key", sa.Text, nullable=False),  # label and times opened: the second idempotency key
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("text_hash", sa.Text, nullable=False),
    sa.Column("requester", sa.Text, nullable=False),
    sa.Column("requester_id", sa.Integer, nullable=False, server_default="0"),  # 0: not known
    sa.Column("installation", sa.Integer),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("stage", sa.Text),
    sa.Column("outcome", sa.Text),
    sa.Column("reason", sa.Text, nullable=False, server_default=""),
    sa.Column("verdict", sa.Text),
    sa.Column("claim", sa.Text, nullable=False, server_default="[]"),
    sa.Column("edges", sa.Text, nullable=False, server_default="[]"),
    sa.Column("priority", sa.Integer, nullable=False, server_default="0"),
    sa.Column("attempt", sa.Integer, nullable=False, server_default="1"),
    sa.Column("epoch", sa.Integer, nullable=False, server_default="0"),
    sa.Column("tries", sa.Integer, nullable=False, server_default="0"),  # beginnings of this stage without an end
    sa.Column("host", sa.Text),
    sa.Column("branch", sa.Text),
    sa.Column("base_sha", sa.Text),
    sa.Column("head_sha", sa.Text),
    sa.Column("pull", sa.Integer),
    sa.Column("feedback", sa.Text, nullable=False, server_default=""),  # what a review or a comment asked for
    sa.Column("budget", sa.Text, nullable=False, server_default="{}"),
    sa.Column("cancel_requested", sa.Boolean, nullable=False, server_default=sa.false()),
    # grows with each write, so that a reader sees from number and revision alone what it has to read again
    sa.Column("revision", sa.Integer, nullable=False, server_default="0", onupdate=sa.literal_column("revision + 1")),
    sa.Column("held_for", sa.Integer),  # the ticket whose end lets this one go on by itself
    sa.Column("resume_sha", sa.Text),  # the work that the attempt goes on from
    sa.Column("started_at", _time),  # of the present attempt
    sa.Column("created_at", _time, nullable=False),
    sa.Column("updated_at", _time, nullable=False),
    sa.UniqueConstraint("repository", "issue", "trigger_key"),
)
sa.Index("tickets_state", tickets.c.state, tickets.c.id, tickets.c.revision)
sa.Index("tickets_outcome", tickets.c.state, tickets.c.outcome)  # counted for monitoring
sa.Index("tickets_repository", tickets.c.repository, tickets.c.state, tickets.c.id)
sa.Index("tickets_pull", tickets.c.repository, tickets.c.pull, sqlite_where=tickets.c.pull.is_not(None),
         postgresql_where=tickets.c.pull.is_not(None))  # fmt: skip
sa.Index("tickets_head", tickets.c.repository, tickets.c.head_sha, sqlite_where=tickets.c.head_sha.is_not(None),
         postgresql_where=tickets.c.head_sha.is_not(None))  # fmt: skip
sa.Index("tickets_updated", tickets.c.updated_at)
sa.Index("tickets_held", tickets.c.held_for, sqlite_where=tickets.c.held_for.is_not(None),
         postgresql_where=tickets.c.held_for.is_not(None))  # fmt: skip

attempts = sa.Table(
    "attempts",
    METADATA,
    sa.Column("ticket", sa.Integer, sa.ForeignKey("tickets.id"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("text_hash", sa.Text, nullable=False),
    sa.Column("claim", sa.Text, nullable=False, server_default="[]"),
    sa.Column("touched", sa.Text, nullable=False, server_default="[]"),
    sa.Column("base_sha", sa.Text),
    sa.Column("head_sha", sa.Text),
    sa.Column("policy_hash", sa.Text),
    sa.Column("report", sa.Text),  # the gate's report, JSON
    sa.Column("usage", sa.Text, nullable=False, server_default="{}"),  # turns, tokens, dollars, seconds
    sa.Column("sandbox", sa.Text, nullable=False, server_default=""),
    sa.Column("warmth", sa.Text),  # what the gate found in its slot: dependencies and caches, JSON
    sa.Column("proof", sa.Text),  # that the slot was clean, JSON
    sa.Column("outcome", sa.Text),
    sa.Column("reason", sa.Text, nullable=False, server_default=""),
    sa.Column("started_at", _time),
    sa.Column("ended_at", _time),
)

stage_times = sa.Table(
    "stage_times",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("ticket", sa.Integer, sa.ForeignKey("tickets.id"), nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("stage", sa.Text, nullable=False),
    sa.Column("part", sa.Text, nullable=False, server_default=""),  # lease, fetch, checkout, install, a gate step, ...
    sa.Column("kind", sa.Text, nullable=False, server_default="infrastructure"),  # see seconds.py
    sa.Column("started_at", _time, nullable=False),
    sa.Column("seconds", _time, nullable=False),
)
sa.Index("stage_times_ticket", stage_times.c.ticket, stage_times.c.attempt)
sa.Index("stage_times_started", stage_times.c.started_at)

log_lines = sa.Table(
    "log_lines",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("ticket", sa.Integer, sa.ForeignKey("tickets.id"), nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("at", _time, nullable=False),
    sa.Column("stage", sa.Text, nullable=False),
    sa.Column("line", sa.Text, nullable=False),
)
sa.Index("log_lines_ticket", log_lines.c.ticket, log_lines.c.id)

hosts = sa.Table(
    "hosts",
    METADATA,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("heartbeat", _time, nullable=False),  # the database's clock
    sa.Column("beats", sa.BigInteger, nullable=False, server_default="0"),  # grows while the host lives
    sa.Column("slots", sa.Integer, nullable=False),
    sa.Column("draining", sa.Boolean, nullable=False, server_default=sa.false()),
)

slots = sa.Table(
    "slots",
    METADATA,
    sa.Column("host", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("repository", sa.Text, primary_key=True),
    sa.Column("state", sa.Text, nullable=False),  # free, leased, quarantined
    sa.Column("ticket", sa.Integer),
    sa.Column("epoch", sa.Integer, nullable=False, server_default="0"),
    sa.Column("fingerprint", sa.Text, nullable=False, server_default=""),  # of the installed dependencies
    sa.Column("reason", sa.Text, nullable=False, server_default=""),
    sa.Column("used_at", _time, nullable=False),
)

posts = sa.Table(  # the outbox: wanted against posted, one row a thing on the forge
    "posts",
    METADATA,
    sa.Column("key", sa.Text, primary_key=True),  # comment:acme/app#7, check:acme/app@SHA, labels:acme/app#7, ...
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("repository", sa.Text, nullable=False),
    sa.Column("installation", sa.Integer),
    sa.Column("wanted", sa.Text, nullable=False),  # JSON
    sa.Column("wanted_version", sa.Integer, nullable=False),
    sa.Column("posted_version", sa.Integer, nullable=False, server_default="0"),
    sa.Column("posted", sa.Text),  # JSON of what the forge has
    sa.Column("remote", sa.Text),  # id on the forge
    sa.Column("tries", sa.Integer, nullable=False, server_default="0"),
    sa.Column("not_before", _time, nullable=False, server_default="0"),
    sa.Column("claimed_until", _time, nullable=False, server_default="0"),  # by the host that posts it now
    sa.Column("claimed_by", sa.Text, nullable=False, server_default=""),
    sa.Column("error", sa.Text, nullable=False, server_default=""),
    sa.Column("updated_at", _time, nullable=False),
)
sa.Index("posts_due", posts.c.not_before, sqlite_where=posts.c.wanted_version > posts.c.posted_version,
         postgresql_where=posts.c.wanted_version > posts.c.posted_version)  # fmt: skip

written = sa.Table(  # what was written on the forge within the hour, where several hosts share its limits
    "written",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("account", sa.Text, nullable=False),  # whose installation it counts for
    sa.Column("at", _time, nullable=False),  # the database's clock
)
sa.Index("written_at", written.c.account, written.c.at)

repositories = sa.Table(
    "repositories",
    METADATA,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("installation", sa.Integer),
    sa.Column("paused", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("paused_reason", sa.Text, nullable=False, server_default=""),
    sa.Column("settings", sa.Text),  # the last good .github/bot.toml, JSON
    sa.Column("settings_sha", sa.Text),
    sa.Column("settings_error", sa.Text, nullable=False, server_default=""),
    sa.Column("missing", sa.Text, nullable=False, server_default="[]"),  # permissions that we lack there, JSON
    sa.Column("links", sa.Text, nullable=False, server_default=""),  # the tree's symlinks, and at which commit, JSON
    sa.Column("cold_s", sa.Text, nullable=False, server_default="{}"),  # what each cold part cost when last paid, JSON
)

ledger = sa.Table(
    "ledger",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("day", sa.Text, nullable=False),  # YYYY-MM-DD, UTC
    sa.Column("repository", sa.Text, nullable=False),
    sa.Column("ticket", sa.Integer),
    sa.Column("attempt", sa.Integer),
    sa.Column("round", sa.Integer, nullable=False, server_default="1"),  # the agent may be asked again after a red gate
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("turns", sa.Integer, nullable=False, server_default="0"),
    sa.Column("seconds", _time, nullable=False, server_default="0"),  # wall clock of the agent
    sa.Column("input_tokens", sa.Integer, nullable=False),
    sa.Column("output_tokens", sa.Integer, nullable=False),
    sa.Column("cache_read_tokens", sa.Integer, nullable=False),
    sa.Column("cache_write_tokens", sa.Integer, nullable=False),
    sa.Column("dollars", sa.Double),  # NULL: the model's price is not known
    sa.UniqueConstraint("ticket", "attempt", "round"),
)
sa.Index(  # with all that a day's budget sums: it is asked for in each admission
    "ledger_day", ledger.c.day, ledger.c.repository, ledger.c.dollars, ledger.c.input_tokens, ledger.c.output_tokens,
    ledger.c.cache_read_tokens, ledger.c.cache_write_tokens,
)  # fmt: skip
sa.Index("ledger_model", ledger.c.model, ledger.c.dollars)  # summed for monitoring

memory = sa.Table(
    "memory",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("repository", sa.Text, nullable=False),
    sa.Column("issue", sa.Integer),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("answer", sa.Text, nullable=False),
    sa.Column("at", _time, nullable=False),
)
sa.Index("memory_repository", memory.c.repository)

bundles = sa.Table(  # an agent's commits, durable beyond the host that made them
    "bundles",
    METADATA,
    sa.Column("ticket", sa.Integer, sa.ForeignKey("tickets.id"), primary_key=True),
    sa.Column("attempt", sa.Integer, primary_key=True),
    sa.Column("round", sa.Integer, primary_key=True),
    sa.Column("head_sha", sa.Text, nullable=False),
    sa.Column("bundle", sa.LargeBinary, nullable=False),
)

rechecks = sa.Table(  # gates that are run again without caches
    "rechecks",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("repository", sa.Text, nullable=False),
    sa.Column("installation", sa.Integer),
    sa.Column("ticket", sa.Integer, sa.ForeignKey("tickets.id"), nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("issue", sa.BigInteger, nullable=False),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("slot", sa.Text, nullable=False),
    sa.Column("base_sha", sa.Text, nullable=False),
    sa.Column("head_sha", sa.Text, nullable=False),
    sa.Column("caches", sa.Text, nullable=False),  # path, tool and key of each, JSON
    sa.Column("report", sa.Text, nullable=False),  # with caches, JSON
    sa.Column("state", sa.Text, nullable=False),  # new, same, differs, unsteady, failed
    sa.Column("reason", sa.Text, nullable=False, server_default=""),
    sa.Column("cold", sa.Text),  # without caches, JSON
    sa.Column("created_at", _time, nullable=False),
    sa.Column("updated_at", _time, nullable=False),
    sa.UniqueConstraint("ticket", "attempt"),
)
sa.Index("rechecks_host", rechecks.c.host, rechecks.c.state)
