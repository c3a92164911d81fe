"""What the bot says, word for word."""

from dataclasses import replace

import pytest

from bot.outbox import comments, reporter
from bot.outbox.comments import Story
from bot.tickets.seconds import Time
from bot.tickets.ticket import Outcome, Stage, State, Ticket
from gate.report import Evidence, Report, StepOutcome, StepReport, Verdict

TICKET = Ticket(
    id=7, repository="acme/shop", issue=12, title="Totals are wrong", body="", text_hash="", requester="ann",
    state=State.QUEUED, attempt=1, epoch=0, created_at=0.0, updated_at=0.0,
)  # fmt: skip
PASSED = StepReport("test", "test", "pytest -q", StepOutcome.PASSED, 0, 1.24, Evidence("pytest", tests=41, skipped=2))
FAILED = StepReport("lint", "lint", "ruff check", StepOutcome.FAILED, 1, 0.31, log="a.py:1: E501\n```\n@ann")


def test_every_verdict_but_green_fails_the_check_and_a_long_report_fits() -> None:
    log = FAILED._replace(log="x" * 200_000)
    shown = {verdict: reporter.judged(Report(verdict, "why", steps=(log,)), "http://bot/1") for verdict in Verdict}
    assert {verdict: one["conclusion"] for verdict, one in shown.items()} == {
        verdict: "success" if verdict is Verdict.GREEN else "failure" for verdict in Verdict
    }
    texts = [str(text) for one in shown.values() for text in one["output"].values()]  # type: ignore[attr-defined]
    assert max(len(text) for text in texts) <= 65_535


def test_a_queued_ticket_says_why_it_waits() -> None:
    said = comments.ticket_comment(Story(TICKET, wait="Waits for #9 on `src/`, which runs since 14:02."))
    assert said == (
        "<!-- sluice:ticket:acme/shop#12 -->\n\n### 🕒 Queued\n\nWaits for #9 on `src/`, which runs since 14:02."
    )


def test_a_running_ticket_names_its_stage_and_the_seconds_so_far() -> None:
    running = replace(TICKET, state=State.RUNNING, stage=Stage.VERIFY)
    said = comments.ticket_comment(Story(running, times=[Time("prepare", 0.12), Time("edit", 30.0)]))
    assert said == (
        "<!-- sluice:ticket:acme/shop#12 -->\n\n### 🔧 Running the gate\n\n"
        "| stage | seconds | infrastructure | model | tools | gate |\n|---|--:|--:|--:|--:|--:|\n"
        "| prepare | 0.1 | 0.1 |  |  |  |\n| edit | 30.0 | 30.0 |  |  |  |\n| all | 30.1 | 30.1 |  |  |  |"
    )


def test_a_merged_ticket_shows_evidence_and_cost() -> None:
    done = replace(
        TICKET, state=State.DONE, outcome=Outcome.MERGED, reason="Merged as pull request #3.", pull=3, branch="b"
    )
    report = Report(Verdict.GREEN, "1 step, 1 ran, 41 tests executed, 2 skipped", steps=(PASSED,))
    story = Story(
        done, [Time("edit", 30.0), Time("edit", 21.5, "model", "model")], report,
        saved_s=91.4, model="claude", turns=6, tokens=12345, dollars=0.5, sandbox="bubblewrap",
        pull_url="https://f/acme/shop/pull/3", dashboard="https://d/tickets/7",
    )  # fmt: skip
    assert comments.ticket_comment(story) == (
        "<!-- sluice:ticket:acme/shop#12 -->\n\n### ✅ Merged\n\n"
        "Merged as pull request #3. Pull request: [#3](https://f/acme/shop/pull/3).\n\nNothing is left to do.\n\n"
        "**Gate: GREEN** — 1 step, 1 ran, 41 tests executed, 2 skipped\n\n"
        "| step | outcome | evidence | seconds |\n|---|---|---|--:|\n"
        "| test | ✅ passed | 41 tests, 2 skipped | 1.2 |\n\n"
        "| stage | seconds | infrastructure | model | tools | gate |\n|---|--:|--:|--:|--:|--:|\n"
        "| edit | 30.0 | 8.5 | 21.5 |  |  |\n\n"
        "claude: 6 turns, 12,345 tokens, $0.50. Sandbox: bubblewrap. The warm slot saved 91.4 s of set-up.\n\n"
        "<details><summary>Where the seconds went</summary>\n\n"
        "| stage | part | kind | seconds |\n|---|---|---|--:|\n| edit | model | model | 21.50 |\n"
        "| edit | all else | infrastructure | 8.50 |\n\n</details>\n\n"
        "[Log and transcript](https://d/tickets/7) · `/bot help` lists what you can say here."
    )


def test_an_ungated_repository_is_told_how_to_be_gated() -> None:
    done = replace(TICKET, state=State.DONE, outcome=Outcome.UNGATED, reason="No step is configured.")
    said = comments.ticket_comment(Story(done, proposal='[steps.test]\nrun = "npm test"\n'))
    assert said == (
        "<!-- sluice:ticket:acme/shop#12 -->\n\n### ⛔ Nothing is configured to check this repository\n\n"
        "No step is configured.\n\n"
        "A change that nothing checks is never called good here. Commit a `gate.toml` to the default branch, "
        "then put the label on again. For this repository it could be:\n\n"
        '```toml\n[steps.test]\nrun = "npm test"\n```'
    )


def test_the_output_of_a_failing_step_cannot_break_out_or_ping_people() -> None:
    said = comments.gate_table(Report(Verdict.RED, "lint failed, says @ann", steps=(FAILED,)))
    assert said == (
        "**Gate: RED** — lint failed, says @\u200bann\n\n"
        "| step | outcome | evidence | seconds |\n|---|---|---|--:|\n| lint | ❌ failed | — | 0.3 |\n\n"
        "<details><summary>Output of lint</summary>\n\n````text\na.py:1: E501\n```\n@ann\n````\n\n</details>"
    )


@pytest.mark.parametrize("over", [-1, 0, 1], ids=["one under", "at the edge", "one over"])
def test_a_comment_is_never_longer_than_the_forge_takes(over: int) -> None:
    text = "x" * (comments.COMMENT_LENGTH + over)
    cut = comments.truncate(text, comments.COMMENT_LENGTH, "https://d/1")
    assert len(cut) <= comments.COMMENT_LENGTH
    assert cut.endswith("[the whole text](https://d/1)") == (over > 0)


def test_every_outcome_has_its_words() -> None:
    assert set(comments.HEADLINES) == set(Outcome)
    assert set(comments.NEXT_STEPS) | {Outcome.UNGATED} == set(Outcome)
