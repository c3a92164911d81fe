"""How GitHub is asked: headers, time-outs, retries of what is safe, limits told instead of slept through."""

import asyncio
import random
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx

from bot.forges.errors import ForgeError, RateLimited, Refused, Unreachable
from bot.forges.limiter import Limiter

APP = "app"  # the account that the App's own requests count for
TRIES = 3
SHORT_S = 3.0  # a shorter wait is slept, a longer one is told
PASSING = frozenset({500, 502, 503, 504})
MOVED = frozenset({301, 302, 307, 308})
KEPT = 256  # answers kept for conditional requests
KEPT_BYTES = 64 * 1024  # and how long one may be
HEADERS = {"x-github-api-version": "2022-11-28", "user-agent": "sluice", "accept": "application/vnd.github+json"}


@dataclass(frozen=True, slots=True)
class Ask:
    """One request; `safe` may be asked twice, `content` is what people see."""

    method: str
    path: str  # below the API's address, or an address of its own from a link
    fields: Mapping[str, Any] | None = None
    safe: bool = False
    content: bool = False
    fine: tuple[int, ...] = ()  # statuses that the caller reads itself
    accept: str = HEADERS["accept"]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(slots=True)
class Transport:
    """One forge's API."""

    http: httpx.AsyncClient
    api_url: str
    now: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    limit_s: float = 30.0  # for one answer, whole
    shared: Callable[[str], Awaitable[float]] | None = None  # counts a write with all other hosts': 0, or the wait
    limiters: dict[str, Limiter] = field(default_factory=dict)
    _known: OrderedDict[tuple[str, str, str], httpx.Response] = field(default_factory=OrderedDict, repr=False)

    def limiter(self, account: str) -> Limiter:
        """Return the limiter of one installation; an account has one."""
        return self.limiters.setdefault(account, Limiter())

    async def send(self, ask: Ask, *, account: str, token: str) -> httpx.Response:
        """Ask; what is safe is asked again after a passing fault, all else once."""
        for attempt in range(1, TRIES + 1):
            await self._room(ask, account)
            last = attempt == TRIES
            try:
                answer = await self._once(ask, token, keep=account != APP)
            except Unreachable:
                if last or not ask.safe:
                    raise
                await self._pause(attempt)
                continue
            if answer.status_code in PASSING:
                if last or not ask.safe:
                    raise Unreachable(f"{ask}: the forge answered {answer.status_code}")
                await self._pause(attempt)
                continue
            if not is_limit(answer):
                self.limiter(account).refusals = 0
                self._note_last(answer, account)
                return answer
            told = self._limited(ask, answer, account)
            if last or told.until - self.now() > SHORT_S:
                raise told
            await self.sleep(told.until - self.now())  # it was not carried out: anything may be asked again
        raise Unreachable(f"{ask}: no answer after {TRIES} tries")

    def refuse_if_blocked(self, account: str) -> None:
        """Raise where the forge asked us to wait for long, before anything else is done for a request."""
        until = self.limiter(account).blocked_until
        if until - self.now() > SHORT_S:
            raise RateLimited(until, f"not asked; {account} has to wait {until - self.now():.0f} s")

    def refusal(self, ask: Ask, answer: httpx.Response) -> ForgeError:
        """Return the error for an answer that says no."""
        return Refused(answer.status_code, f"{ask}: {message_of(answer)}")

    async def _once(self, ask: Ask, token: str, *, keep: bool) -> httpx.Response:
        """Ask once, conditionally where the answer is known, and follow a move within the same forge."""
        key = (ask.path, ask.accept, token)
        known = self._known.get(key) if ask.method == "GET" else None
        headers = {**HEADERS, "accept": ask.accept, "authorization": f"Bearer {token}"}
        if known is not None:
            headers["if-none-match"] = known.headers["etag"]
        answer = await self._ask(ask, ask.method, self._url(ask.path), headers)
        if answer.status_code in MOVED and "location" in answer.headers:
            if ask.method != "GET" and answer.status_code in (301, 302):
                raise Refused(answer.status_code, f"{ask}: moved to {answer.headers['location']}")
            answer = await self._ask(ask, ask.method, self._url(answer.headers["location"]), headers)
        if answer.status_code == 304 and known is not None:
            self._known.move_to_end(key)
            return known
        if keep and ask.method == "GET" and answer.status_code == 200 and "etag" in answer.headers:
            self._keep(key, answer)
        return answer

    async def _ask(self, ask: Ask, method: str, url: str, headers: Mapping[str, str]) -> httpx.Response:
        try:
            async with asyncio.timeout(self.limit_s):
                return await self.http.request(method, url, headers=dict(headers), json=ask.fields)
        except TimeoutError as error:
            raise Unreachable(f"{ask}: no answer within {self.limit_s:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unreachable(f"{ask}: {type(error).__name__}: {error}") from error

    def _url(self, path: str) -> str:
        if path.startswith("/"):
            return self.api_url + path
        if urlsplit(path)[:2] != urlsplit(self.api_url)[:2]:
            raise Refused(502, f"the forge leads to another address, {path[:100]}; our token stays here")
        return path

    def _keep(self, key: tuple[str, str, str], answer: httpx.Response) -> None:
        if len(answer.content) <= KEPT_BYTES:
            self._known[key] = answer
            self._known.move_to_end(key)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)

    async def _room(self, ask: Ask, account: str) -> None:
        """Wait a moment, or tell that it would be long, where the limits leave no room."""
        limiter, is_write = self.limiter(account), ask.method != "GET"
        wait_s = limiter.wait_s(self.now(), is_write=is_write, is_content=ask.content)
        await self._wait(ask, account, wait_s)
        while ask.content and self.shared is not None and (wait_s := await self.shared(account)) > 0:
            await self._wait(ask, account, wait_s)
        limiter.take(self.now(), is_write=is_write, is_content=ask.content)

    async def _wait(self, ask: Ask, account: str, wait_s: float) -> None:
        if wait_s > SHORT_S:
            raise RateLimited(self.now() + wait_s, f"{ask}: not asked; {account} has to wait {wait_s:.0f} s")
        if wait_s > 0:
            await self.sleep(wait_s)

    def _limited(self, ask: Ask, answer: httpx.Response, account: str) -> RateLimited:
        limiter, now = self.limiter(account), self.now()
        until = until_of(answer, now) or now + limiter.backoff_s(now)
        limiter.block(until)
        return RateLimited(until, f"{ask}: {message_of(answer)}")

    def _note_last(self, answer: httpx.Response, account: str) -> None:
        """Ask nothing more until the reset where this was the last request that the hour allows."""
        if answer.headers.get("x-ratelimit-remaining") == "0" and "x-ratelimit-reset" in answer.headers:
            self.limiter(account).block(until_of(answer, self.now()) or 0.0)

    async def _pause(self, attempt: int) -> None:
        await self.sleep(0.2 * 2**attempt * random.uniform(0.5, 1.0))  # noqa: S311 jitter


def message_of(answer: httpx.Response) -> str:
    """Return what the forge says went wrong."""
    try:
        found = answer.json()
        details = "; ".join(
            str(e.get("message") or e) if isinstance(e, dict) else str(e) for e in found.get("errors", [])
        )
        return f"{found.get('message', '')}{': ' + details if details else ''}"[:500]
    except (ValueError, AttributeError, TypeError):
        return answer.text[:200]


def is_limit(answer: httpx.Response) -> bool:
    """Tell a limit from a missing permission: both answer 403."""
    if answer.status_code not in (403, 429):
        return False
    spent = "retry-after" in answer.headers or answer.headers.get("x-ratelimit-remaining") == "0"
    return answer.status_code == 429 or spent or "rate limit" in message_of(answer).lower()


def until_of(answer: httpx.Response, now: float) -> float | None:
    """Return when one may ask again: retry-after, then the reset; None where neither is named."""
    after = answer.headers.get("retry-after", "")
    if after.isdecimal():
        return now + int(after)
    reset = answer.headers.get("x-ratelimit-reset", "")
    if answer.headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
        return max(float(reset), now + 1.0)
    return None
