"""The transcript of a ticket as a page: what the agent was asked, said and did, attempt by attempt."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from bot.tickets import tickets
from bot.tickets.store import Store
from bot.tickets.ticket import Ticket
from bot.work.agents.render import Part, read_parts

MOST_PARTS = 2000  # of one round on a page; `bot tickets show --transcript` has them all
MOST_CHARACTERS = 20_000  # of one part on a page


@dataclass(frozen=True, slots=True)
class Round:
    """One time that the agent was asked."""

    number: int
    parts: tuple[Part, ...]
    wrong: str = ""  # why it cannot be read to its end


@dataclass(frozen=True, slots=True)
class Transcripts:
    """Where transcripts lie, and how a page is made: `page(template, **values)`."""

    store: Store
    folder: Path  # of all tickets: TICKET/ATTEMPT/transcript-ROUND.jsonl.gz
    page: Callable[..., Response]
    strike: Callable[[str], str] = str

    def routes(self) -> list[BaseRoute]:
        """Return the routes of the page and its JSON."""
        return [
            Route("/tickets/{id:int}/transcript", self.show),
            Route("/api/tickets/{id:int}/transcript", self.api),
        ]

    async def show(self, request: Request) -> Response:
        """Show the rounds of one attempt, the present one if none is named."""
        found = await self._asked(request)
        if isinstance(found, str):
            return PlainTextResponse(found, 404)
        ticket, attempt, rounds = found
        return self.page(
            "transcript.html", ticket=ticket, title=self.strike(ticket.title), attempt=attempt, rounds=rounds
        )

    async def api(self, request: Request) -> Response:
        """Answer with the same as JSON."""
        found = await self._asked(request)
        if isinstance(found, str):
            return JSONResponse({"error": found}, 404)
        ticket, attempt, rounds = found
        shown = [asdict(one) for one in rounds]
        return JSONResponse(
            {"ticket": ticket.id, "attempt": attempt, "rounds": shown}, headers={"cache-control": "no-store"}
        )

    async def _asked(self, request: Request) -> "tuple[Ticket, int, list[Round]] | str":
        wanted = request.query_params.get("attempt", "")
        if wanted and not (wanted.isdecimal() and len(wanted) < 6):
            return "expected ?attempt=NUMBER"
        return await asyncio.to_thread(self._read, request.path_params["id"], int(wanted or 0))

    def _read(self, number: int, wanted: int) -> Any:
        with self.store.read() as c:
            try:
                ticket = tickets.get_ticket(c, number)
            except LookupError:
                return "There is no such ticket. All of them: /"
        attempt = wanted or ticket.attempt
        files = (self.folder / str(number) / str(attempt)).glob("transcript-*.jsonl.gz")
        found = sorted((int(name), file) for file in files if (name := file.name.split(".")[0][11:]).isdecimal())
        return ticket, attempt, [read_round(round_, file) for round_, file in found]


def read_round(number: int, file: Path) -> Round:
    """Return what a page shows of one transcript."""
    parts: list[Part] = []
    try:
        for part in islice(read_parts(file), MOST_PARTS):
            parts.append(_cut(part))
    except (ValueError, OSError) as error:
        return Round(number, tuple(parts), wrong=str(error))
    return Round(number, tuple(parts))


def _cut(part: Part) -> Part:
    left = len(part.text) - MOST_CHARACTERS
    text = part.text.strip("\n")
    return Part(part.kind, text if left <= 0 else f"{text[:MOST_CHARACTERS]}\n[... {left:,} more characters ...]")
