"""The dashboard as people see it: a real browser, live rows and logs, on a phone and with a screen reader."""

import contextlib
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator

import pytest
import uvicorn
from starlette.applications import Starlette

from bot.dashboard.bell import Bell
from bot.dashboard.pages import Dashboard
from bot.tickets import journal, tickets
from bot.tickets.store import Store, open_store, sqlite_url
from bot.tickets.ticket import Outcome, State
from bot.tickets.tickets import Wish
from tests.browser import Page, browsing
from tests.needs import needs

pytestmark = [needs("chromium", package="chromium"), pytest.mark.slow]

LONG = "src/" + "a_very_long_path_without_any_break/" * 12
EVIL = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


class Served:
    """A store, its dashboard on a free port, and a way to change a ticket as the bot does."""

    def __init__(self, store: Store, bell: Bell, url: str) -> None:
        self.store, self.bell, self.url = store, bell, url

    def add(self, issue: int, title: str) -> int:
        wish = Wish("acme/shop", issue, title=title, body="", requester="ann", label="bot", trigger_key="bot:1")
        with self.store.write() as c:
            ticket = tickets.create_ticket(c, wish, now=1.0)
            assert ticket is not None
            tickets.take(c, ticket, "host", 2.0)
        self.bell.ring(ticket.id)
        return ticket.id

    def say(self, ticket: int, *lines: str) -> None:
        with self.store.write() as c:
            journal.add_lines(c, ticket, 1, stage="edit", lines=lines, now=3.0)
        self.bell.ring(ticket)

    def end(self, ticket: int) -> None:
        with self.store.write() as c:
            for part, kind, seconds in (("", "infrastructure", 4.0), ("model", "model", 3.0)):
                journal.add_time(
                    c, ticket, 1, stage="edit", part=part, kind=kind, started_at=2.0, seconds=seconds
                )  # fmt: skip
            found = tickets.get_ticket(c, ticket)
            tickets.move(c, found, State.DONE, now=9.0, outcome=Outcome.HELD, reason=f"It writes to {LONG}.")
        self.bell.ring(ticket)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    store = open_store(sqlite_url(tmp_path_factory.mktemp("store") / "bot.sqlite"))
    bell = Bell()
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    pages = Dashboard(store, bell, now=lambda: 10.0, label="bot")

    @contextlib.asynccontextmanager
    async def attached(_: Starlette) -> AsyncIterator[None]:
        bell.attach()
        yield

    app = Starlette(routes=pages.routes(), lifespan=attached)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield Served(store, bell, f"http://127.0.0.1:{listening.getsockname()[1]}")
    server.should_exit = server.force_exit = True
    thread.join()
    store.close()


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browsing() as page:
        yield page


def test_a_new_ticket_appears_without_a_reload_and_its_title_is_only_text(served: Served, page: Page) -> None:
    page.open(f"{served.url}/")
    page.wait("document.querySelector('#live').textContent == 'Live'")
    ticket = served.add(1, EVIL)
    page.wait(f"document.querySelector('#ticket-{ticket}')")
    cells = page.run(f"[...document.querySelectorAll('#ticket-{ticket} td')].map(cell => cell.textContent.trim())")
    assert (cells, page.run("document.title"), page.complaints) == (
        [str(ticket), f"acme/shop#1 {EVIL}", "starting", "", "9.0 s"], "Sluice", [],
    )  # fmt: skip


def test_a_ticket_is_followed_line_by_line_and_to_its_end(served: Served, page: Page) -> None:
    ticket = served.add(2, "Totals")
    page.open(f"{served.url}/tickets/{ticket}")
    served.say(ticket, "$ make test", EVIL)
    page.wait("document.querySelector('#log').textContent.includes('onerror')")
    before = page.run("document.querySelector('#log').innerText")
    served.end(ticket)
    page.wait("document.querySelector('table td')")
    rows = page.run("[...document.querySelectorAll('.scroll tbody td')].map(cell => cell.textContent)")
    assert (before.strip().splitlines(), rows, page.run("document.querySelector('#state').textContent")) == (
        ["edit $ make test", f"edit {EVIL}"], ["edit", "4.00", "1.00", "3.00", "", ""], "held",
    )  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("where", ["/", "/tickets/{}"])
def test_nothing_runs_over_the_edge_of_a_phone_and_all_can_be_read(
    served: Served, page: Page, where: str, scheme: str
) -> None:
    ticket = served.add(3 + len(where) + len(scheme), LONG)
    served.say(ticket, LONG)
    served.end(ticket)
    page.open(served.url + where.format(ticket), width=360, height=640)
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    wide = page.run("document.documentElement.scrollWidth")
    assert (wide, page.run(CONTRAST)) == (360, [])


def test_a_screen_reader_finds_headings_tables_and_a_way_past_the_header(served: Served, page: Page) -> None:
    page.open(f"{served.url}/")
    tree = page.call("Accessibility.getFullAXTree")["nodes"]
    named = {
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in tree
        if not node.get("ignored") and node["role"]["value"] in ("heading", "table", "main", "banner", "columnheader")
    }
    unnamed = [json.dumps(n["role"]) for n in tree if n["role"].get("value") == "link" and not n["name"]["value"]]
    assert (unnamed, ("heading", "Tickets") in named, {role for role, _ in named}) == (
        [], True, {"heading", "table", "main", "banner", "columnheader"},
    )  # fmt: skip


# texts whose contrast to what is behind them is below 4.5 (WCAG 2.2, 1.4.3)
CONTRAST = """
(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgb = colour => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
  const behind = e => { for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor; if (rgb(c)[3] == 255) return rgb(c); }
    return matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18] : [255, 255, 255]; };
  const low = [];
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some(n => n.nodeType == 3 && n.textContent.trim()) || !e.checkVisibility()) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5) low.push(e.tagName + ' ' + e.className + ': ' + e.textContent.slice(0, 40));
  }
  return low;
})()
"""
