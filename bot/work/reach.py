"""How far a change reached: compared with what its ticket claims, and with who works there now."""

from bot.tickets import repository, scheduler, tickets
from bot.tickets.claims import WHOLE, claim, covers, overlap, through
from bot.tickets.ticket import Outcome, Stage, Ticket
from bot.work.ended import Ended
from bot.work.job import Job

WORKFLOWS = ".github/workflows/"
Links = tuple[tuple[str, str], ...]  # link and target
SHOWN = 10  # paths in a line of the log


def reach(job: Job, touched: tuple[str, ...], head: str) -> Ended | None:
    """Let the claim grow by what was touched outside of it; return how the attempt ends where that may not be."""
    workflows = [path for path in touched if path.startswith(WORKFLOWS)]
    if workflows:  # the App may not push it, a gate run would be wasted, and a person should look
        why = f"The change edits `{workflows[0]}`, which is for people to do."
        return Ended(Outcome.HELD, f"{why} The work is kept as `{head[:10]}` on this host; nothing was pushed.")
    with job.desk.store.read() as c:
        links = repository.links_of_all(c).get(job.repository, ())
    outside = [path for path in touched if not covers(through(job.ticket.claim, links) or WHOLE, path)]
    if not outside:
        return None
    with job.writing() as c:
        scheduler.lock(c)  # nobody else is let in, or grows, between this look and the growth
        running = tickets.running_tickets(c)
        met = _met(job.ticket, outside, running, links)
        if met is None:
            tickets.write_fenced(c, job.ticket.id, job.here.epoch, claim=claim([*job.ticket.claim, *outside]))
    if met is not None:
        other, path = met
        why = f"The change touches `{path}`, outside of its claim, and #{other.issue} works there now."
        again = f"When #{other.issue} is done, it is brought up to date and gated again."
        return Ended(Outcome.HELD, f"{why} {again}", held_for=other.id)
    job.log(f"the claim grew by {', '.join(outside[:SHOWN])}")
    return None


def through_links(job: Job) -> Ended | None:
    """Return how the attempt ends where its claim meets another one's through symlinks, else None.

    Admission goes by the links that were known then: of a repository's first tickets none, and of a base that moved the
    old ones. Of two that run, the one that has got further goes on, else the older one.
    """
    with job.desk.store.read() as c:
        links = repository.links_of_all(c).get(job.repository, ())
    if not links:
        return None
    with job.writing() as c:
        scheduler.lock(c)
        running = tickets.running_tickets(c)
    ahead = [t for t in running if t.id < job.ticket.id or t.stage not in (None, Stage.PREPARE)]
    met = _met(job.ticket, list(through(job.ticket.claim, links) or WHOLE), ahead, links)
    if met is None:
        return None
    other, path = met
    why = f"Through the repository's symlinks it claims `{path}`, and #{other.issue} works there now."
    return Ended(Outcome.HELD, f"{why} When #{other.issue} is done, it goes on.", held_for=other.id)


def _met(ticket: Ticket, paths: list[str], running: list[Ticket], links: Links) -> tuple[Ticket, str] | None:
    """Return the running ticket whose claim the paths meet, and the path."""
    for other in running:
        if other.id != ticket.id and other.repository == ticket.repository:
            pair = overlap(paths, through(other.claim, links) or WHOLE)
            if pair is not None:
                return other, pair[0]
    return None
