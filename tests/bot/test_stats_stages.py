"""bot stats stages: medians and shares, cold beside warm, and the picture."""

import io
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import asdict
from pathlib import Path

import pytest
from rich.console import Console

from bot.commands import stats
from bot.errors import UserError
from bot.measure import plot
from bot.measure.stages import Measured, Row, measure
from bot.tickets import journal, repositories, tickets
from bot.tickets.journal import Timed
from bot.tickets.seconds import Time
from bot.tickets.store import open_store, sqlite_url
from bot.tickets.ticket import State
from bot.tickets.tickets import Wish

COLD = [
    Time("prepare", 60.0, "install"),
    Time("prepare", 62.0),
    Time("edit", 30.0, "model", "model"),
    Time("edit", 38.0),
]
WARM = [
    Time("prepare", 0.1, "checkout"),
    Time("prepare", 0.5),
    Time("edit", 20.0, "model", "model"),
    Time("edit", 20.5),
]
ROWS = [*(Timed("acme/app", 1, 1, t) for t in COLD), *(Timed("acme/app", 2, 1, t) for t in WARM)]
KNOWN = {"acme/app": {"install": 60.0}}


def test_two_attempts_give_medians_shares_and_what_warmth_saved() -> None:
    assert measure(ROWS, KNOWN) == Measured(
        attempts=2,
        stages=(
            Row("prepare", "", "", 2, 31.25, 62.0, 62.5, 0.5165),
            Row("prepare", "install", "infrastructure", 1, 60.0, 60.0, 60.0, 0.4959),
            Row("prepare", "checkout", "infrastructure", 1, 0.1, 0.1, 0.1, 0.0008),
            Row("edit", "", "", 2, 29.25, 38.0, 58.5, 0.4835),
            Row("edit", "model", "model", 2, 25.0, 30.0, 50.0, 0.4132),
        ),
        kinds=(
            Row("all", "", "infrastructure", 2, 35.5, 70.0, 71.0, 0.5868),
            Row("all", "", "model", 2, 25.0, 30.0, 50.0, 0.4132),
            Row("all", "", "tools", 2, 0.0, 0.0, 0.0, 0.0),
            Row("all", "", "gate", 2, 0.0, 0.0, 0.0, 0.0),
        ),
        overhead={
            "cold": Row("all", "", "infrastructure", 1, 70.0, 70.0, 70.0, 0.5785),
            "warm": Row("all", "", "infrastructure", 1, 1.0, 1.0, 1.0, 0.0083),
            "install": Row("all", "", "infrastructure", 1, 60.0, 60.0, 60.0, 0.4959),
        },
        saved_s=59.9,
    )


def test_what_was_measured_stands_beside_what_was_published() -> None:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(stats.warmth_table(measure(ROWS, KNOWN)), stats.warmth_line(measure(ROWS, KNOWN)))
    assert [" ".join(line.split()) for line in console.export_text().splitlines()] == [
        "published here, median attempts",
        "overhead of a job, cold 300 to 480 s 70.00 s 1",
        "overhead of a job, warm under 60 s 1.00 s 1",
        "install, cold 91 s 60.00 s 1",
        "Warm slots saved 59.9 s over 2 attempts: what clone, worktree and install cost when last paid, less",
        "what was paid instead.",
    ]


@pytest.mark.parametrize(("since", "found"), [("7d", 395_200.0), ("12h", 956_800.0), ("1970-01-02", 86_400.0)])
def test_a_span_or_a_date_begins_the_count(since: str, found: float) -> None:
    assert stats.since_of(since, 1_000_000.0) == found


@pytest.mark.parametrize("since", ["", "d", "-1d", "yesterday", "99999999d", "\u0663d"])
def test_another_span_is_refused_in_one_line(since: str) -> None:
    with pytest.raises(UserError, match="expected days, hours or a date"):
        stats.since_of(since, 1_000_000.0)


def test_the_picture_is_well_formed_whatever_the_steps_are_called() -> None:
    hostile = [
        Timed("a/b", 1, 1, Time("verify", 1.0, '<script>"&' * 9, "step")),
        Timed("a/b", 1, 1, Time("verify", 1.0)),
    ]
    root = ET.fromstring(plot.svg(measure(hostile, {})))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert [text for text in texts if text and text.startswith("verify")] == ['verify: <script>"&<script>"&<sc…']


def test_the_command_counts_ended_attempts_of_one_repository_and_draws_them(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    store = open_store(sqlite_url(folder / "sluice.db"))
    with store.write() as c:
        for issue, repository, ended in ((1, "acme/app", True), (2, "acme/app", False), (3, "acme/web", True)):
            wish = Wish(repository, issue, title="", body="", requester="ann", label="bot", trigger_key="bot:1")
            ticket = tickets.create_ticket(c, wish, now=1.0)
            assert ticket is not None
            ticket = tickets.take(c, ticket, "h", 2.0)
            if ended:
                tickets.move(c, ticket, State.DONE, now=3.0)
            for took in WARM:
                journal.add_time(c, ticket.id, 1, **{**asdict(took), "started_at": 1_000_000_000.0})
        repositories.note_cold(c, "acme/app", "install", 60.0)
        repositories.note_cold(c, "acme/app", "worktree", 1.0)
    store.close()

    done = subprocess.run(
        [sys.executable, "-m", "bot", "stats", "stages", "--repo", "acme/app", "--since", "2001-01-01", "--json",
         "--plot", str(tmp_path / "stages.svg")],
        capture_output=True, text=True, check=False,
        env={**{k: v for k, v in os.environ.items() if not k.startswith("BOT_")}, "BOT_DATA": str(folder)},
    )  # fmt: skip

    said = json.loads(done.stdout)
    drawn = (tmp_path / "stages.svg").read_text()
    assert (said["attempts"], said["saved_s"], len(said["published"]), drawn[:4]) == (1, 60.9, 3, "<svg"), done.stderr
