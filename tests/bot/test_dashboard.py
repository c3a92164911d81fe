"""The dashboard as people see it: a real browser, live rows and logs, on a phone and with a screen reader."""

import contextlib
import shutil
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Literal

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright
from starlette.applications import Starlette

from bot.dashboard.bell import Bell
from bot.dashboard.pages import Dashboard
from bot.dashboard.transcripts import Transcripts
from bot.tickets import journal, tickets
from bot.tickets.store import Store, open_store, sqlite_url
from bot.tickets.ticket import Outcome, State
from bot.tickets.tickets import Wish
from bot.work.agents.transcript import Transcript
from tests.needs import needs

pytestmark = [needs("chromium", package="chromium"), pytest.mark.slow]

LONG = "src/" + "a_very_long_path_without_any_break/" * 12
EVIL = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


class Served:
    """A store, its dashboard on a free port, and a way to change a ticket as the bot does."""

    def __init__(self, store: Store, bell: Bell, url: str, folder: Path) -> None:
        self.store, self.bell, self.url, self.folder = store, bell, url, folder

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

    def talk(self, ticket: int, text: str) -> None:
        """Write the transcript of a run in which everybody says this."""
        call = {"type": "tool_use", "name": "bash", "input": {"command": text}}
        edit = {"command": "create", "path": "a.py", "file_text": text}
        with Transcript(self.folder / str(ticket) / "1" / "transcript-1.jsonl.gz") as run:
            run.write("start", repository="acme/shop", issue=1, title=text, model="m")
            content = [{"type": "thinking", "thinking": text}, {"type": "text", "text": text}, call]
            run.write("assistant", turn=1, seconds=1.5, content=content, usage={"output_tokens": 9})
            run.write("user", content=[{"type": "tool_result", "content": text, "is_error": True}])
            run.write("assistant", turn=2, content=[{**call, "name": "str_replace_based_edit_tool", "input": edit}])
            run.write("end", ending="finished", reason="", usage={"turns": 2, "input_tokens": 10, "dollars": 0.5})

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
    folder = tmp_path_factory.mktemp("transcripts")
    transcripts = Transcripts(store, folder, pages.page)

    @contextlib.asynccontextmanager
    async def attached(_: Starlette) -> AsyncIterator[None]:
        bell.attach()
        yield

    app = Starlette(routes=[*transcripts.routes(), *pages.routes()], lifespan=attached)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield Served(store, bell, f"http://127.0.0.1:{listening.getsockname()[1]}", folder)
    server.should_exit = server.force_exit = True
    thread.join()
    store.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    complaints: list[str] = []  # errors of scripts, and what the content policy refused
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    yield page
    page.close()
    assert complaints == []


def test_a_new_ticket_appears_without_a_reload_and_its_title_is_only_text(served: Served, page: Page) -> None:
    page.goto(f"{served.url}/")
    page.get_by_text("Live", exact=True).wait_for()
    ticket = served.add(1, EVIL)
    page.locator(f"#ticket-{ticket}").wait_for()
    cells = [cell.strip() for cell in page.locator(f"#ticket-{ticket} td").all_text_contents()]
    assert (cells, page.title()) == ([str(ticket), f"acme/shop#1 {EVIL}", "starting", "", "9.0 s"], "Sluice")


def test_a_ticket_is_followed_line_by_line_and_to_its_end(served: Served, page: Page) -> None:
    ticket = served.add(2, "Totals")
    page.goto(f"{served.url}/tickets/{ticket}")
    served.say(ticket, "$ make test", EVIL)
    page.locator("#log", has_text="onerror").wait_for()
    before = page.locator("#log").inner_text()
    served.end(ticket)
    page.locator(".scroll td").first.wait_for()
    rows = page.locator(".scroll tbody td").all_text_contents()
    assert (before.strip().splitlines(), rows, page.locator("#state").text_content()) == (
        ["edit $ make test", f"edit {EVIL}"], ["edit", "4.00", "1.00", "3.00", "", ""], "held",
    )  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("where", ["/", "/tickets/{}", "/tickets/{}/transcript"])
def test_nothing_runs_over_the_edge_of_a_phone_and_all_can_be_read(
    served: Served, page: Page, where: str, scheme: Literal["light", "dark"]
) -> None:
    ticket = served.add(3 + len(where) + len(scheme), LONG)
    served.say(ticket, LONG)
    served.talk(ticket, LONG)
    served.end(ticket)
    page.set_viewport_size({"width": 360, "height": 640})
    page.emulate_media(color_scheme=scheme)
    page.goto(served.url + where.format(ticket))
    assert (page.evaluate("document.documentElement.scrollWidth"), page.evaluate(CONTRAST)) == (360, [])


def test_a_transcript_is_read_turn_by_turn_and_what_it_holds_is_only_text(served: Served, page: Page) -> None:
    ticket = served.add(70, "Totals")
    served.talk(ticket, EVIL)
    page.goto(f"{served.url}/tickets/{ticket}")
    page.get_by_role("link", name="Transcript").click()
    page.get_by_text("Text after").click()
    shown = page.locator("section").inner_text().splitlines()
    shut = page.locator("details:not([open]) summary").all_text_contents()
    assert ([line for line in shown if line], shut, page.title()) == (
        [
            "Attempt 1, round 1", f"acme/shop#1 {EVIL} (m)", "Turn 1, 1.5 s, 9 tokens written", "Thinking, 1 line", EVIL,
            f"$ {EVIL}", "Error, 1 line", EVIL, "Turn 2", "create a.py", "Text after, 1 line", EVIL,
            "Ended: finished (2 turns, 10 tokens, $0.50)",
        ],
        ["Thinking, 1 line"], "Transcript of acme/shop#70 · Sluice",
    )  # fmt: skip


def test_a_ticket_without_a_transcript_says_so(served: Served, page: Page) -> None:
    ticket = served.add(71, "Totals")
    page.goto(f"{served.url}/tickets/{ticket}/transcript")
    assert page.locator("main p").last.text_content() == (
        "No transcript of attempt 1 lies on this host: its agent has not begun, or it ran on another one."
    )


def test_a_screen_reader_finds_its_way_around(served: Served, page: Page) -> None:
    ticket = served.add(90, "Totals")
    page.goto(f"{served.url}/")
    page.locator(f"#ticket-{ticket}").wait_for()
    seen = page.locator("body").aria_snapshot()
    wanted = [
        "- banner:",
        "- main:",
        '- heading "Tickets" [level=1]',
        "- table",
        '- columnheader "Elapsed, s"',
        f'- link "{ticket}"',
    ]
    assert [line for line in wanted if line not in seen] == []


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
