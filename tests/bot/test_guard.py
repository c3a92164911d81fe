"""Who may see the dashboard."""

import base64

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from bot.dashboard.guard import Guard


async def hello(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


def caller(password: str, client: str = "127.0.0.1", base: str = "http://127.0.0.1:8080") -> httpx.AsyncClient:
    app = Guard(Starlette(routes=[Route("/", hello), Route("/webhook", hello)]), password=password)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app, client=(client, 1)), base_url=base)


def basic(password: str) -> dict[str, str]:
    return {"authorization": "Basic " + base64.b64encode(f"me:{password}".encode()).decode()}


@pytest.mark.parametrize(
    ("password", "client", "base", "headers", "status"),
    [
        pytest.param("", "127.0.0.1", "http://127.0.0.1:8080", {}, 200, id="loopback needs no password"),
        pytest.param("", "::1", "http://[::1]:8080", {}, 200, id="loopback of version 6 neither"),
        pytest.param("", "127.0.0.1", "http://evil.example", {}, 403, id="a name that was re-bound to loopback"),
        pytest.param("", "127.0.0.1", "http://localhost", {"x-forwarded-for": "8.8.8.8"}, 403, id="a tunnel's end"),
        pytest.param("", "10.0.0.9", "http://127.0.0.1:8080", {}, 403, id="another machine"),
        pytest.param("pw", "127.0.0.1", "http://127.0.0.1:8080", {}, 401, id="a password is asked of everybody"),
        pytest.param("pw", "10.0.0.9", "http://bot.example", basic("pw"), 200, id="the right password"),
        pytest.param("pw", "10.0.0.9", "http://bot.example", basic("no"), 401, id="the wrong password"),
        pytest.param("pw", "10.0.0.9", "http://bot.example", {"authorization": "Basic %"}, 401, id="not base64"),
    ],
)
async def test_a_page_is_shown_only_to_those_who_may_see_it(
    password: str, client: str, base: str, headers: dict[str, str], status: int
) -> None:
    async with caller(password, client, base) as http:
        assert (await http.get("/", headers=headers)).status_code == status


async def test_the_webhook_is_open_to_everybody() -> None:
    async with caller("pw", "10.0.0.9", "http://bot.example") as http:
        assert (await http.get("/webhook")).status_code == 200
