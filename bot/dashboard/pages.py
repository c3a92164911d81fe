"""Pages, JSON and events: what runs, what waits and why, and the log of each as it grows."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from bot.dashboard.bell import Bell
from bot.dashboard.metrics import render_metrics
from bot.dashboard.rows import Row, row
from bot.outbox.comments import evidence
from bot.tickets import journal, pull_checks, repositories, scheduler, tickets
from bot.tickets.counts import Counts, Past, present, together
from bot.tickets.pull_checks import PullCheck
from bot.tickets.seconds import NOT_OURS, by_stage, parts, saved, total
from bot.tickets.store import Store
from bot.tickets.ticket import State, Ticket
from gate.report import Report, plain, read_report

HERE = Path(__file__).parent
PAGE = 100  # tickets on the first page
QUIET_S = 15.0  # a silent stream says so this often, so that a dead one is noticed
TICK_S = 1.0  # other hosts ring no bell here: look again this often while somebody watches
SECURITY = {
    "content-security-policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; form-action 'self'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Dashboard:
    """What the pages read from."""

    store: Store
    bell: Bell
    now: Callable[[], float]
    label: str
    note: str = ""  # shown on every page, such as that the model is scripted
    shared: bool = False  # other hosts write to the same database
    forge: str = ""  # address under which people find issues and pull requests
    strike: Callable[[str], str] = str  # takes secrets out of what is shown; log and report are stored without any
    past: Past = field(default_factory=Past)  # counted for monitoring

    def routes(self) -> list[BaseRoute]:
        """Return the routes of the dashboard."""
        return [
            Route("/", self.index),
            Route("/tickets/{id:int}", self.ticket),
            Route("/checks", self.checks),
            Route("/checks/{id:int}", self.check),
            Route("/events", self.events),
            Route("/metrics", self.metrics),
            Route("/api/tickets", self.api_tickets),
            Route("/api/tickets/{id:int}", self.api_ticket),
            Route("/api/checks", self.api_checks),
            Route("/api/checks/{id:int}", self.api_check),
            Mount("/static", StaticFiles(directory=HERE / "static")),
        ]

    async def index(self, _request: Request) -> Response:
        """Show the tickets in flight, then the latest that ended."""
        return self.page("index.html", rows=await asyncio.to_thread(self._rows), label=self.label)

    async def api_tickets(self, _request: Request) -> Response:
        """Answer with the same as JSON."""
        rows = await asyncio.to_thread(self._rows)
        return JSONResponse({"tickets": [asdict(r) for r in rows]}, headers=SECURITY)

    async def metrics(self, _request: Request) -> Response:
        """Answer with what is counted, for Prometheus."""
        found = together(await self.past.read(self.store), await asyncio.to_thread(self._present))
        return PlainTextResponse(render_metrics(found), media_type="text/plain; version=0.0.4")

    def _present(self) -> Counts:
        with self.store.read() as c:
            return present(c)

    async def ticket(self, request: Request) -> Response:
        """Show one ticket: state, seconds, the gate's report, the log."""
        found = await asyncio.to_thread(self._ticket, request.path_params["id"])
        if found is None:
            return PlainTextResponse("There is no such ticket. All of them: /", 404)
        return self.page("ticket.html", evidence=evidence, **found)

    async def api_ticket(self, request: Request) -> Response:
        """Answer with one ticket as JSON."""
        found = await asyncio.to_thread(self._ticket, request.path_params["id"])
        if found is None:
            return JSONResponse({"error": "there is no such ticket"}, 404)
        report = found["report"]
        return JSONResponse(
            {
                "ticket": asdict(found["row"]),
                "times": [
                    {"stage": t.stage, "part": t.part, "kind": t.kind, "seconds": t.seconds} for t in found["times"]
                ],
                "report": plain(report),
                "log": [{"id": ln.id, "at": ln.at, "stage": ln.stage, "line": ln.line} for ln in found["lines"]],
            },
            headers=SECURITY,
        )

    async def checks(self, _request: Request) -> Response:
        """Show the latest checks of pull requests."""
        return self.page("checks.html", checks=await asyncio.to_thread(self._checks))

    async def api_checks(self, _request: Request) -> Response:
        """Answer with the same as JSON."""
        return JSONResponse({"checks": [_plain(c) for c in await asyncio.to_thread(self._checks)]}, headers=SECURITY)

    async def check(self, request: Request) -> Response:
        """Show one check: the gate's whole report."""
        found = await asyncio.to_thread(self._check, request.path_params["id"])
        if found is None:
            return PlainTextResponse("There is no such check. All of them: /checks", 404)
        report = read_report(found.report) if found.report else None
        return self.page("check.html", check=found, report=report, evidence=evidence)

    async def api_check(self, request: Request) -> Response:
        """Answer with one check as JSON."""
        found = await asyncio.to_thread(self._check, request.path_params["id"])
        if found is None:
            return JSONResponse({"error": "there is no such check"}, 404)
        return JSONResponse(_plain(found), headers=SECURITY)

    def _checks(self) -> list[PullCheck]:
        with self.store.read() as c:
            return pull_checks.latest(c)

    def _check(self, check: int) -> PullCheck | None:
        with self.store.read() as c:
            return pull_checks.get(c, check)

    async def events(self, request: Request) -> Response:
        """Stream what changes: rows of all tickets, or lines and state of one."""
        wanted = request.query_params.get("ticket", "")
        after = request.headers.get("last-event-id") or request.query_params.get("after", "0")
        if (wanted and not wanted.isdecimal()) or not after.isdecimal():
            return PlainTextResponse("expected /events or /events?ticket=NUMBER&after=NUMBER", 400)
        stream = self._one(int(wanted), int(after)) if wanted else self._all()
        return StreamingResponse(stream, media_type="text/event-stream", headers=SECURITY)

    async def _all(self) -> AsyncIterator[str]:
        shown: dict[int, Row] = {}
        with self.bell.listen() as listener:
            while True:
                for found in reversed(await asyncio.to_thread(self._rows)):
                    if shown.get(found.id) != found:
                        shown[found.id] = found
                        yield _event("row", {"html": self._render("row.html", row=found)})
                yield ": still here\n\n"
                running = any(not r.done for r in shown.values())
                await listener.wait(TICK_S if running or self.shared else QUIET_S)

    async def _one(self, ticket: int, after: int) -> AsyncIterator[str]:
        shown: Row | None = None
        with self.bell.listen() as listener:
            while True:
                found, lines = await asyncio.to_thread(self._news, ticket, after)
                if lines:
                    after = lines[-1].id
                    yield _event("lines", [{"stage": ln.stage, "line": ln.line} for ln in lines], id_=after)
                if found is not None and (shown is None or found.state_words != shown.state_words):
                    shown = found
                    yield _event("state", asdict(found))
                yield ": still here\n\n"
                await listener.wait(TICK_S if self.shared else QUIET_S)

    def _rows(self) -> list[Row]:
        now = self.now()
        with self.store.read() as c:
            live = tickets.list_tickets(c, states=(State.RUNNING, State.QUEUED, State.NEEDS_APPROVAL), limit=PAGE)
            done = tickets.list_tickets(c, states=(State.DONE,), limit=PAGE)
        order = {State.RUNNING: 0, State.QUEUED: 1, State.NEEDS_APPROVAL: 2}
        return [self._row(t, now) for t in (*sorted(live, key=lambda t: (order[t.state], t.id)), *done)]

    def _row(self, ticket: Ticket, now: float, wait: str = "") -> Row:
        clean = replace(ticket, title=self.strike(ticket.title), reason=self.strike(wait or ticket.reason))
        return row(clean, now=now)

    def _ticket(self, ticket: int) -> dict[str, Any] | None:
        with self.store.read() as c:
            found = _find(c, ticket)
            if found is None:
                return None
            waits = scheduler.explain(c, found, now=self.now()) if found.state is State.QUEUED else ""
            times = journal.times_of(c, ticket, found.attempt)
            lines = journal.lines_after(c, ticket, 0)
            attempt = tickets.find_attempt(c, ticket, found.attempt)
            cold_s = repositories.cold_of(c, found.repository)
        report: Report | None = read_report(attempt.report) if attempt and attempt.report else None
        last = lines[-1].id if lines else 0
        spent = by_stage(times)
        whole = total(spent)
        return {
            "row": self._row(found, self.now(), waits), "times": parts(times), "lines": lines, "report": report,
            "last": last,
            "spent": [*spent, whole] if len(spent) > 1 else spent, "whole": whole, "saved_s": saved(times, cold_s),
            "kinds": ("infrastructure", *NOT_OURS), "forge": self.forge,
        }  # fmt: skip

    def _news(self, ticket: int, after: int) -> tuple[Row | None, Sequence[Any]]:
        with self.store.read() as c:
            found = _find(c, ticket)
            return (self._row(found, self.now()) if found else None), journal.lines_after(c, ticket, after)

    def page(self, name: str, **values: Any) -> HTMLResponse:
        """Return a page made from a template."""
        return HTMLResponse(self._render(name, note=self.note, **values), headers=SECURITY)

    def _render(self, name: str, **values: Any) -> str:
        return _TEMPLATES.get_template(name).render(**values)


_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(HERE / "templates"), autoescape=True, undefined=jinja2.StrictUndefined
)
_TEMPLATES.globals["note"] = ""


def _plain(check: PullCheck) -> dict[str, Any]:
    return {**asdict(check), "report": json.loads(check.report) if check.report else None}


def _find(c: Any, ticket: int) -> Ticket | None:
    try:
        return tickets.get_ticket(c, ticket)
    except LookupError:
        return None


def _event(kind: str, payload: object, *, id_: int | None = None) -> str:
    number = f"id: {id_}\n" if id_ is not None else ""
    return f"{number}event: {kind}\ndata: {json.dumps(payload)}\n\n"
