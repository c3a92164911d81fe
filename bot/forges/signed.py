"""Who we are to a forge, an App or a personal token, and what an App does about itself: grants, hook, deliveries."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar, cast
from urllib.parse import quote

import httpx

from bot.forges.answers import AppInfo, Delivery, Repositories, User
from bot.forges.asking import MOST_PAGES, PAGE, Asker
from bot.forges.auth import READ, App, Credentials, Installation, Need, Personal, Tokens, has, read_answer
from bot.forges.errors import Refused
from bot.forges.limiter import Limiter
from bot.forges.transport import Ask, Transport, message_of

T = TypeVar("T")


class Signed:
    """We, signed in; `repo` is always OWNER/NAME."""

    def __init__(
        self, http: httpx.AsyncClient, *, api_url: str, app: App | None, token: str | None, now: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep, limit_s: float = 30.0,
        shared: Callable[[str], Awaitable[float]] | None = None,
    ) -> None:  # fmt: skip
        self._transport = Transport(http, api_url.rstrip("/"), now, sleep, limit_s, shared)
        self._tokens = Tokens(app, self._transport) if app is not None else None
        self._credentials: Credentials = self._tokens or Personal(token or "")
        self._ask = Asker(self._transport, self._credentials)
        self._we: User | None = None

    def limiter(self, repo: str) -> Limiter:
        """Return what the installation that a repository belongs to may still ask."""
        return self._transport.limiter(repo.split("/", 1)[0])

    @property
    def is_app(self) -> bool:
        """Return whether we sign in as an App; only an App may write check runs."""
        return self._tokens is not None

    async def lacks(self, repo: str, *needs: Need) -> list[str]:
        """Return the permissions that an App needs and has not been granted, such as "contents: write"."""
        found = await self.installation(repo)
        if found is None:
            return []
        wanted = {f"{name}: {level}": (name, level) for need in needs for name, level in need.must}
        return [words for words, (name, level) in wanted.items() if not has(found.permissions, name, level)]

    def forget_grants(self) -> None:
        """Ask anew what installations grant: somebody has just changed that."""
        if self._tokens is not None:
            self._tokens.forget_grants()

    async def login(self, repo: str) -> str:
        """Return the name under which we write."""
        return (await self.we(repo)).login

    async def we(self, repo: str) -> User:
        """Return the account under which we write; an App has one of its own, whose number is not the App's."""
        if self._we is None:
            path = "/user"
            if self._tokens is not None:
                path = f"/users/{quote(f'{(await self.app()).slug}[bot]', safe='')}"
            ask = Ask("GET", path, safe=True)
            token = await self._credentials.get(repo, READ)
            answer = await self._transport.send(ask, account=repo.split("/", 1)[0], token=token)
            if answer.status_code != 200:
                raise Refused(answer.status_code, f"GET {path}: {message_of(answer)}")
            self._we = cast("User", read_answer(answer, User))
        return self._we

    async def installation(self, repo: str) -> Installation | None:
        """Return what the App may do in a repository; None with a personal token."""
        return None if self._tokens is None else await self._tokens.installation(repo)

    async def app(self) -> AppInfo:
        """Return what the App is and may do."""
        return cast("AppInfo", read_answer(await self._as_app(Ask("GET", "/app", safe=True)), AppInfo))

    async def installations(self) -> list[Installation]:
        """Return where the App is installed."""
        return [found async for page in self._app_pages("/app/installations", list[Installation]) for found in page]

    async def repositories(self) -> list[str]:
        """Return the names of all repositories that the App reaches."""
        names: list[str] = []
        for installation in await self.installations():
            if installation.suspended_at is None and self._tokens is not None:
                token = await self._tokens.whole(installation)
                async for page in self._ask.pages_with(token, "/installation/repositories", Repositories):
                    names += [found.full_name for found in page.repositories]
        return names

    async def set_hook(self, *, secret: str, url: str = "") -> None:
        """Give the App's webhook this secret, and point it at us if an address is given."""
        fields = {"secret": secret, "content_type": "json", **({"url": url, "insecure_ssl": "0"} if url else {})}
        await self._as_app(Ask("PATCH", "/app/hook/config", fields, safe=True))

    async def hook_url(self) -> str:
        """Return where the App's webhook leads; empty where it has none."""
        answer = await self._as_app(Ask("GET", "/app/hook/config", safe=True, fine=(404,)))
        return str(answer.json().get("url") or "") if answer.status_code == 200 else ""

    async def deliveries(self, *, most_pages: int = MOST_PAGES, since: str = "") -> list[Delivery]:
        """Return the App's webhook deliveries, newest first, back to a time as GitHub writes it."""
        found: list[Delivery] = []
        async for page in self._app_pages("/app/hook/deliveries", list[Delivery], most_pages=most_pages):
            found += [delivery for delivery in page if delivery.delivered_at >= since]
            if not page or page[-1].delivered_at < since:
                break
        return found

    async def redeliver(self, delivery: int) -> None:
        """Ask the forge to deliver once more."""
        await self._as_app(Ask("POST", f"/app/hook/deliveries/{delivery}/attempts", safe=True))

    async def delivery_payload(self, delivery: int) -> dict[str, Any]:
        """Return headers and payload of a delivery."""
        answer = await self._as_app(Ask("GET", f"/app/hook/deliveries/{delivery}", safe=True))
        found: dict[str, Any] = answer.json()
        return found

    async def _app_pages(self, path: str, kind: type[T], *, most_pages: int = MOST_PAGES) -> AsyncIterator[T]:
        link: str | None = f"{path}?per_page={PAGE}"
        for _ in range(most_pages):
            answer = await self._as_app(Ask("GET", link or "", safe=True))
            yield cast("T", read_answer(answer, kind))
            link = answer.links.get("next", {}).get("url")
            if not link:
                break

    async def _as_app(self, ask: Ask) -> httpx.Response:
        if self._tokens is None:
            raise Refused(403, "this needs the App; a personal token cannot do it")
        return await self._tokens.ask(ask)
