"""Every sentence that the bot says on the forge. Pure text in, Markdown out."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.tickets.seconds import Spent, Time, by_stage, parts, total
from bot.tickets.ticket import Outcome, Stage, State, Ticket
from gate.report import Report, StepOutcome, StepReport

COMMENT_LENGTH = 65_536  # GitHub refuses longer comments
CHECK_LENGTH = 65_535  # output.summary and output.text of a check run
STATUS_LENGTH = 140  # description of a commit status
WORTH_SAYING_S = 0.1

HEADLINES = {
    Outcome.MERGED: "✅ Merged",
    Outcome.PROPOSED: "✅ Ready for review",
    Outcome.NO_CHANGE: "⚪ No change was needed",
    Outcome.RED: "❌ The gate stayed red",
    Outcome.UNGATED: "⛔ Nothing is configured to check this repository",
    Outcome.HELD: "✋ Held for a person",
    Outcome.TIMED_OUT: "⏱️ Timed out",
    Outcome.OVER_BUDGET: "💰 Out of budget",
    Outcome.CANCELLED: "🚫 Cancelled",
    Outcome.FAILED: "💥 Failed for a reason that is not yours",
}
STAGE_WORDS = {
    Stage.PREPARE: "preparing a slot",
    Stage.EDIT: "writing the change",
    Stage.VERIFY: "running the gate",
    Stage.PUBLISH: "publishing",
    Stage.MERGE: "merging",
}
NEXT_STEPS = {
    Outcome.MERGED: "Nothing is left to do.",
    Outcome.PROPOSED: "Next: review the pull request; a review or comment there starts a follow-up on its branch.",
    Outcome.NO_CHANGE: "Next: say more precisely what should change, then comment `/bot retry`.",
    Outcome.RED: "Next: look at the failing steps below, then comment `/bot retry`, or take over from the branch.",
    Outcome.HELD: "Next: a person with write access looks at the findings below and decides about the pull request.",
    Outcome.TIMED_OUT: "Next: comment `/bot retry`; the work so far is kept.",
    Outcome.OVER_BUDGET: "Next: comment `/bot budget $2` to go on from the work so far.",
    Outcome.CANCELLED: "Next: put the label on again, or comment `/bot retry`.",
    Outcome.FAILED: "Next: comment `/bot retry`; if it fails again, the operator's log has the details.",
}
HELD_FOR = "✋ Held until another ticket is done"  # it goes on by itself
HELD_NEXT = "Nothing is left to do for you. `/bot retry` starts it anew at once, `/bot cancel` gives it up."
INSTEAD = "Until then a commit status stands for a check run where that is allowed, and this comment tells the rest."
QUEUED_CHECK = {"title": "Queued", "summary": "The gate runs as soon as a slot is free."}
RUNNING_CHECK = {"title": "The gate runs", "summary": "Its report stands here when it is done."}
OUTDATED_CHECK = {"title": "Superseded", "summary": "The pull request was closed, or its head is another commit now."}
OUTCOME_ICONS = {
    StepOutcome.PASSED: "✅",
    StepOutcome.FAILED: "❌",
    StepOutcome.HOLLOW: "⚠️",
    StepOutcome.TIMED_OUT: "⏱️",
    StepOutcome.NOT_RUN: "⚪",
}


@dataclass(frozen=True, slots=True)
class Story:
    """All that the comment of a ticket is made from."""

    ticket: Ticket
    times: Sequence[Time] = ()
    report: Report | None = None
    model: str = ""
    turns: int = 0
    tokens: int = 0
    dollars: float | None = 0.0
    sandbox: str = ""
    proposal: str = ""  # a gate.toml for a repository that has none
    wait: str = ""  # why a queued ticket waits
    dashboard: str = ""  # address of the ticket's page
    pull_url: str = ""
    branch_url: str = ""
    missing: Sequence[str] = ()  # permissions that we lack in the repository
    saved_s: float = 0.0  # by warmth


def not_granted(permissions: Sequence[str]) -> str:
    """Return the sentence that says which permissions are missing, and who can grant them."""
    names = ", ".join(f"`{name}`" for name in permissions)
    return f"Permission not granted: {names}. The owner accepts it under Settings → GitHub Apps → Configure."


def marker(ticket: Ticket) -> str:
    """Return the invisible line by which our comment is found again."""
    return f"<!-- sluice:ticket:{ticket.repository}#{ticket.issue} -->"


def ticket_comment(story: Story) -> str:
    """Return the one living comment of a ticket."""
    ticket = story.ticket
    parts = [marker(ticket), f"### {_headline(ticket)}", _detail(story)]
    if ticket.state is State.DONE and ticket.outcome is Outcome.UNGATED:
        parts.append(_how_to_gate(story.proposal))
    elif ticket.state is State.DONE and ticket.outcome is not None:
        parts.append(NEXT_STEPS[ticket.outcome] if ticket.is_over else HELD_NEXT)
    if story.report is not None and story.report.steps:
        parts.append(gate_table(story.report))
    if story.times:
        parts.append(_time_table(story))
    if story.missing:
        parts.append(f"⚠️ {not_granted(story.missing)} {INSTEAD}")
    if story.dashboard:
        parts.append(f"[Log and transcript]({story.dashboard}) · `/bot help` lists what you can say here.")
    return truncate("\n\n".join(p for p in parts if p), COMMENT_LENGTH, story.dashboard)


def needs_approval(ticket: Ticket, floor: str, reason: str) -> str:
    """Return the comment that says who may let a ticket in."""
    return "\n\n".join(
        [
            marker(ticket),
            "### ✋ Waiting for approval",
            f"{reason} Somebody with **{floor}** access or above can start it by commenting `/bot approve`.",
        ]
    )


def gate_table(report: Report) -> str:
    """Return the gate's verdict and its steps as a table, failing logs folded below."""
    lines = [
        f"**Gate: {report.verdict}** — {cell(report.reason)}",
        "",
        "| step | outcome | evidence | seconds |",
        "|---|---|---|--:|",
    ]
    lines += [
        f"| {cell(s.name)} | {OUTCOME_ICONS[s.outcome]} {s.outcome} | {cell(evidence(s))} | {s.seconds:.1f} |"
        for s in report.steps
    ]
    for finding in report.findings[:20]:
        where = (
            f"`{finding.path}:{finding.line}` "
            if finding.path and finding.line
            else f"`{finding.path}` "
            if finding.path
            else ""
        )
        lines += ["", f"- {where}**{finding.rule}**: {cell(finding.message)}"]
    failing = [s for s in report.steps if s.outcome not in (StepOutcome.PASSED, StepOutcome.NOT_RUN) and s.log]
    for step in failing:
        lines += [
            "",
            f"<details><summary>Output of {cell(step.name)}</summary>",
            "",
            fenced(step.log[-6000:]),
            "",
            "</details>",
        ]
    return "\n".join(lines)


def check_title(report: Report) -> str:
    """Return the one line that a pull request shows beside the check."""
    return f"{report.verdict}: {report.reason}"[:STATUS_LENGTH]


def waiting_check(head_sha: str, *, is_fork: bool) -> dict[str, str]:
    """Return what the check run of a commit says that nobody vouched for yet."""
    whose = "a fork's commit" if is_fork else "an outsider's commit"
    text = f"The gate runs {whose} only after a person who may start work comments `/bot approve {head_sha[:10]}`."
    return {"title": f"Waits for approval: /bot approve {head_sha[:10]}", "summary": text}


def pull_title(ticket: Ticket) -> str:
    """Return the title of the pull request, at most 200 characters."""
    return f"{ticket.title} (#{ticket.issue})"[:200]


def pull_body(story: Story, message: str) -> str:
    """Return the text of the pull request: what was done, the evidence, the cost, and how to steer."""
    parts = [
        f"Closes #{story.ticket.issue}",
        message.strip(),
        gate_table(story.report) if story.report else "",
        _time_table(story) if story.times else "",
        "To steer: review this pull request or comment on it; the bot follows up on this branch. "
        "`/bot help` lists what else you can say.",
    ]
    return truncate("\n\n".join(p for p in parts if p), COMMENT_LENGTH, story.dashboard)


def truncate(text: str, length: int, link: str = "") -> str:
    """Return text of at most `length` characters; what was cut is said, with a link to the whole."""
    if len(text) <= length:
        return text
    note = f"\n\n… cut; [the whole text]({link})" if link else "\n\n… cut at the platform's length limit"
    return text[: length - len(note)] + note


def fenced(text: str) -> str:
    """Return text as a code block that its content cannot close."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text}\n{fence}"


def cell(text: str) -> str:
    """Return text that cannot break out of a table cell or ping people."""
    return text.replace("\n", " ").replace("|", "\\|").replace("@", "@\u200b").replace("<", "&lt;")


def evidence(step: StepReport) -> str:
    """Return what a step did in words, such as "41 tests, 2 skipped"."""
    found = step.evidence
    words = [
        f"{found.tests} test{'' if found.tests == 1 else 's'}" if found.tests is not None else "",
        f"{found.files} file{'' if found.files == 1 else 's'}" if found.files is not None else "",
        f"{found.skipped} skipped" if found.skipped else "",
    ]
    return ", ".join(w for w in words if w) or step.reason or "—"


def _headline(ticket: Ticket) -> str:
    match ticket.state:
        case State.NEEDS_APPROVAL:
            return "✋ Waiting for approval"
        case State.QUEUED:
            return "🕒 Queued"
        case State.RUNNING:
            return f"🔧 {STAGE_WORDS[ticket.stage].capitalize()}" if ticket.stage else "🔧 Starting"
        case State.DONE:
            return (HEADLINES[ticket.outcome] if ticket.is_over else HELD_FOR) if ticket.outcome else "Done"


def _detail(story: Story) -> str:
    ticket = story.ticket
    words = [cell(story.wait or ticket.reason)]
    if story.pull_url and ticket.pull:
        words.append(f"Pull request: [#{ticket.pull}]({story.pull_url}).")
    elif story.branch_url and ticket.state is State.DONE:
        words.append(f"Branch: [`{ticket.branch}`]({story.branch_url}).")
    if ticket.attempt > 1:
        words.append(f"Attempt {ticket.attempt}.")
    return " ".join(w for w in words if w)


def _how_to_gate(proposal: str) -> str:
    return (
        "A change that nothing checks is never called good here. "
        "Commit a `gate.toml` to the default branch, then put the label on again. For this repository it could be:\n\n"
        f"```toml\n{proposal.strip() or _EXAMPLE}\n```"
    )


_EXAMPLE = '[steps.test]\nrun = "pytest -q"'


def _time_table(story: Story) -> str:
    spent = by_stage(story.times)
    if len(spent) > 1:
        spent = [*spent, total(spent)]
    lines = ["| stage | seconds | infrastructure | model | tools | gate |", "|---|--:|--:|--:|--:|--:|"]
    lines += [_time_row(s) for s in spent]
    paid = "cost unknown" if story.dollars is None else f"${story.dollars:.2f}"
    cost = f"{story.model}: {story.turns} turns, {story.tokens:,} tokens, {paid}." if story.model else ""
    box = f" Sandbox: {story.sandbox}." if story.sandbox else ""
    warmth = f" The warm slot saved {story.saved_s:.1f} s of set-up." if story.saved_s >= WORTH_SAYING_S else ""
    rows = [f"| {cell(t.stage)} | {cell(t.part)} | {t.kind} | {t.seconds:.2f} |" for t in parts(story.times)]
    detail = [
        "",
        "<details><summary>Where the seconds went</summary>",
        "",
        "| stage | part | kind | seconds |",
        "|---|---|---|--:|",
        *rows,
        "",
        "</details>",
    ]
    return "\n".join([*lines, "", (cost + box + warmth).strip(), *(detail if rows else [])]).rstrip()


def _time_row(spent: Spent) -> str:
    kinds = (spent.infrastructure, spent.model, spent.tools, spent.gate)
    return (
        " | ".join([f"| {cell(spent.stage)}", f"{spent.seconds:.1f}", *(f"{s:.1f}" if s else "" for s in kinds)]) + " |"
    )
