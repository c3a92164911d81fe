"""How a repository's API is asked: with a token for the need, in pages, and never blindly twice."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import httpx

from bot.forges.auth import Credentials, Need, read_answer
from bot.forges.errors import ForgeError, NotGranted, Unreachable
from bot.forges.transport import APP, Ask, Transport

T = TypeVar("T")
PAGE = 100
MOST_PAGES = 30
AFTER_S = 0.5  # between an unclear failure and looking what came of it


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks about repositories."""

    transport: Transport
    credentials: Credentials

    async def get(self, repo: str, need: Need, path: str, kind: type[T]) -> T:
        """Read one thing."""
        return cast("T", read_answer(await self.send(repo, need, Ask("GET", path, safe=True)), kind))

    async def make(
        self, repo: str, need: Need, path: str, fields: Mapping[str, Any], kind: type[T],
        *, find: Callable[[], Awaitable[T | None]], before: Callable[[], None] = lambda: None,
    ) -> T:  # fmt: skip
        """Post; where no answer came, look whether it is there before posting again. `before` may forbid each try."""
        ask = Ask("POST", path, fields, content=True)
        for is_last in (False, True):
            try:
                before()
                return cast("T", read_answer(await self.send(repo, need, ask), kind))
            except Unreachable:
                await self.transport.sleep(AFTER_S)
                found = await find()
                if found is not None:
                    return found
                if is_last:
                    raise
        raise AssertionError

    async def pages(self, repo: str, need: Need, path: str, kind: type[T]) -> AsyncIterator[T]:
        """Read a list, page by page; links to a next page are followed within the forge's own address."""
        link: str | None = f"{path}{'&' if '?' in path else '?'}per_page={PAGE}"
        for _ in range(MOST_PAGES):
            answer = await self.send(repo, need, Ask("GET", link or "", safe=True))
            yield cast("T", read_answer(answer, kind))
            link = answer.links.get("next", {}).get("url")
            if not link:
                break

    async def pages_with(self, token: str, path: str, kind: type[T]) -> AsyncIterator[T]:
        """Read a list that belongs to no repository, with a token given."""
        link: str | None = f"{path}?per_page={PAGE}"
        for _ in range(MOST_PAGES):
            ask = Ask("GET", link or "", safe=True)
            answer = await self.transport.send(ask, account=APP, token=token)
            if answer.status_code >= 400:
                raise self.transport.refusal(ask, answer)
            yield cast("T", read_answer(answer, kind))
            link = answer.links.get("next", {}).get("url")
            if not link:
                break

    async def send(self, repo: str, need: Need, ask: Ask) -> httpx.Response:
        """Ask about a repository; a token that is no longer taken is renewed once."""
        if ask.path.startswith("/") or not ask.path:
            ask = replace(ask, path=f"/repos/{repo}{ask.path}")
        account = repo.split("/", 1)[0]
        self.transport.refuse_if_blocked(account)
        for is_last in (False, True):
            token = await self.credentials.get(repo, need)
            answer = await self.transport.send(ask, account=account, token=token)
            if answer.status_code == 401 and not is_last:
                self.credentials.forget(token)
                continue
            if answer.status_code >= 400 and answer.status_code not in ask.fine:
                raise self._refusal(repo, ask, answer)
            return answer
        raise AssertionError

    def _refusal(self, repo: str, ask: Ask, answer: httpx.Response) -> ForgeError:
        needed = answer.headers.get("x-accepted-github-permissions", "").replace("=", ": ")
        if answer.status_code == 403 and needed:
            return NotGranted(repo, needed)
        return self.transport.refusal(ask, answer)
