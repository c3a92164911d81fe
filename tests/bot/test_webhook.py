"""The receiver over real HTTP: what it takes, what it refuses, and that nothing is answered before it is stored."""

import asyncio
import hashlib
import hmac
import http.client
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa
from starlette.applications import Starlette

from bot.inbox.webhook import MOST_BYTES, Receiver
from bot.serving import Served, serve_in_thread
from bot.tickets import deliveries
from bot.tickets.deliveries import Arrived
from bot.tickets.store import Store, open_store, sqlite_url
from tests.plain import PLAIN

SECRETS = ["present", "previous"]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(sqlite_url(tmp_path / "bot.db"))
    yield store
    store.close()


@pytest.fixture
def served(store: Store) -> Iterator[Served]:
    receiver = Receiver(store, SECRETS, now=lambda: 5.0, stored=lambda: None)
    with serve_in_thread(Starlette(routes=receiver.routes())) as served:
        yield served
    receiver.close()


def headers(body: bytes, *, guid: str = "g-1", event: str = "issues", secret: str = SECRETS[0]) -> dict[str, str]:
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {"x-github-delivery": guid, "x-github-event": event, "x-hub-signature-256": f"sha256={signature}"}


def kept(store: Store) -> list[tuple[str, str, bytes]]:
    with store.read() as c:
        return [(d.guid, d.event, d.body) for d in deliveries.unread(c)]


def test_a_signed_delivery_is_stored_byte_for_byte(served: Served, store: Store) -> None:
    body = b'{"a": 1.0, "n": 12345678901234567890, "u": "\\u00e4"}'
    answer = httpx.post(f"{served.url}/webhook", content=body, headers=headers(body))
    assert (answer.status_code, kept(store)) == (202, [("g-1", "issues", body)])


def test_the_previous_secret_counts_during_a_rotation(served: Served, store: Store) -> None:
    answer = httpx.post(f"{served.url}/webhook", content=b"{}", headers=headers(b"{}", secret="previous"))
    assert (answer.status_code, len(kept(store))) == (202, 1)


def test_a_delivery_that_comes_again_is_stored_once(served: Served, store: Store) -> None:
    codes = [httpx.post(f"{served.url}/webhook", content=b"{}", headers=headers(b"{}")).status_code for _ in range(3)]
    assert (codes, len(kept(store))) == ([202, 202, 202], 1)


REFUSED: dict[str, tuple[bytes, dict[str, str], int]] = {
    "no signature": (b"{}", {"x-hub-signature-256": ""}, 401),
    "signature of another secret": (b"{}", headers(b"{}", secret="other"), 401),
    "signature of another body": (b"{}", headers(b"{} "), 401),
    "signature without its scheme": (b"{}", {"x-hub-signature-256": headers(b"{}")["x-hub-signature-256"][7:]}, 401),
    "signature that is no ASCII": (b"{}", {"x-hub-signature-256": "sha256=äöü"}, 401),
    "broken JSON": (b'{"a":', {}, 400),
    "a form": (b"payload=%7B%7D", {}, 400),
    "JSON with a tail": (b"{} {}", {}, 400),
    "no object": (b"[1]", {}, 400),
    "nested to the stack's end": (b"[" * 200_000, {}, 400),
    "empty": (b"", {}, 400),
    "no delivery id": (b"{}", {"x-github-delivery": ""}, 400),
    "no event": (b"{}", {"x-github-event": ""}, 400),
    "an endless id": (b"{}", {"x-github-delivery": "g" * 300}, 400),
}


@pytest.mark.parametrize(("body", "other", "code"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_leaves_no_trace(
    served: Served, store: Store, body: bytes, other: dict[str, str], code: int
) -> None:
    sent = {k: v.encode() for k, v in (headers(body) | other).items()}
    answer = httpx.post(f"{served.url}/webhook", content=body, headers=sent)
    assert (answer.status_code, kept(store)) == (code, [])


def test_an_unsigned_caller_cannot_use_up_an_id(served: Served, store: Store) -> None:
    httpx.post(f"{served.url}/webhook", content=b"{}", headers=headers(b"{}", secret="other"))
    httpx.post(f"{served.url}/webhook", content=b'{"a":1}', headers=headers(b'{"a":1}'))
    assert kept(store) == [("g-1", "issues", b'{"a":1}')]


def test_a_body_announced_too_long_is_refused_unread(served: Served) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=5)
    connection.putrequest("POST", "/webhook")
    connection.putheader("content-length", str(MOST_BYTES + 1))
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


def test_a_body_that_streams_too_long_is_refused(served: Served, store: Store) -> None:
    chunk = b"x" * (1024 * 1024)
    chunks = itertools.repeat(chunk, MOST_BYTES // len(chunk) + 1)
    answer = httpx.post(f"{served.url}/webhook", content=chunks, headers=headers(b"{}"), timeout=20)
    assert (answer.status_code, kept(store)) == (413, [])


def test_a_body_as_long_as_allowed_is_taken(served: Served, store: Store) -> None:
    body = b'{"a":"' + b"x" * (MOST_BYTES - 8) + b'"}'
    answer = httpx.post(f"{served.url}/webhook", content=body, headers=headers(body), timeout=20)
    assert (answer.status_code, len(body), len(kept(store)[0][2])) == (202, MOST_BYTES, MOST_BYTES)


async def test_many_at_once_are_stored_in_few_commits(store: Store) -> None:
    commits: list[None] = []
    receiver = Receiver(store, SECRETS, now=lambda: 5.0, stored=lambda: commits.append(None))
    async with httpx.AsyncClient(
        verify=PLAIN, transport=httpx.ASGITransport(Starlette(routes=receiver.routes())), base_url="http://bot"
    ) as http:
        sending = [http.post("/webhook", content=b"{}", headers=headers(b"{}", guid=f"g-{n}")) for n in range(200)]
        codes = {answer.status_code for answer in await asyncio.gather(*sending)}
    receiver.close()
    assert (codes, len(kept(store)), len(commits) < 100) == ({202}, 200, True)


async def test_a_delivery_that_cannot_be_stored_is_not_accepted(store: Store) -> None:
    receiver = Receiver(store, SECRETS, now=lambda: 5.0, stored=lambda: None)
    with store.write() as c:
        c.execute(sa.text("DROP TABLE deliveries"))
    async with httpx.AsyncClient(
        verify=PLAIN, transport=httpx.ASGITransport(Starlette(routes=receiver.routes())), base_url="http://bot"
    ) as http:
        answer = await http.post("/webhook", content=b"{}", headers=headers(b"{}"))
    receiver.close()
    assert answer.status_code == 503


def test_a_receiver_without_a_secret_is_not_opened(store: Store) -> None:
    with pytest.raises(ValueError, match="takes orders from everybody"):
        Receiver(store, [""], now=lambda: 5.0, stored=lambda: None)


@pytest.fixture
def seen(store: Store) -> Callable[[], list[tuple[str, str]]]:
    def seen() -> list[tuple[str, str]]:
        with store.read() as c:
            return [(d.guid, d.state) for d in (deliveries.find(c, "g-1"), deliveries.find(c, "g-2")) if d]

    return seen


@pytest.mark.parametrize(
    ("state", "after"), [("done", "done"), ("ignored", "ignored"), ("failed", "new"), ("waiting", "waiting")]
)
def test_a_redelivery_reopens_only_what_failed(
    store: Store, seen: Callable[[], list[tuple[str, str]]], state: str, after: str
) -> None:
    with store.write() as c:
        deliveries.keep(c, [Arrived("g-1", "issues", b"{}")], now=1.0)
        deliveries.close(c, deliveries.unread(c)[0], state)
        deliveries.keep(c, [Arrived("g-1", "issues", b"{}"), Arrived("g-1", "issues", b"{}")], now=2.0)
    assert seen() == [("g-1", after)]


def test_a_delivery_is_closed_once(store: Store, seen: Callable[[], list[tuple[str, str]]]) -> None:
    with store.write() as c:
        deliveries.keep(c, [Arrived("g-1", "issues", b"{}"), Arrived("g-2", "issues", b"{}")], now=1.0)
        first, _ = deliveries.unread(c)
        closed = [deliveries.close(c, first, "done"), deliveries.close(c, first, "ignored")]
    assert (closed, seen()) == ([True, False], [("g-1", "done"), ("g-2", "new")])
