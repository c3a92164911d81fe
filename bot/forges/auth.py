"""Who we are to the forge: an App with installation tokens, or a personal token."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime

import httpx

from bot.forges.errors import Refused, Unreachable

EARLY_S = 300.0  # a token that ends sooner than this is renewed
JWT_S = 540  # GitHub refuses more than ten minutes
DRIFT_S = 60  # and clocks that run ahead


@dataclass(frozen=True, slots=True)
class App:
    """A GitHub App: its id (or client id) and its private key in PEM."""

    id: str
    private_key: str

    def jwt(self, now: float) -> str:
        """Return a signed statement that we are this App."""
        import jwt  # noqa: PLC0415 60 ms, and a personal token needs none

        claims = {"iat": int(now) - DRIFT_S, "exp": int(now) + JWT_S, "iss": self.id}
        return jwt.encode(claims, self.private_key, algorithm="RS256")


@dataclass(slots=True)
class Tokens:
    """Installation tokens, one a repository, minted once however many ask at the same time."""

    app: App
    http: httpx.AsyncClient
    api_url: str
    now: Callable[[], float]
    _known: dict[str, tuple[str, float]] = field(default_factory=dict)
    _minting: dict[str, asyncio.Task[str]] = field(default_factory=dict)

    async def get(self, repository: str) -> str:
        """Return a token for one repository that is good for some minutes yet."""
        token, ends_at = self._known.get(repository, ("", 0.0))
        if token and self.now() < ends_at - EARLY_S:
            return token
        task = self._minting.get(repository)
        if task is None:
            task = self._minting[repository] = asyncio.create_task(self._mint(repository))
            task.add_done_callback(lambda _: self._minting.pop(repository, None))
        return await asyncio.shield(task)

    def forget(self, repository: str, token: str) -> None:
        """Drop a token that the forge no longer takes."""
        if self._known.get(repository, ("", 0.0))[0] == token:
            del self._known[repository]

    async def _mint(self, repository: str) -> str:
        found = await self._ask("GET", f"/repos/{repository}/installation")
        made = await self._ask(
            "POST", f"/app/installations/{found['id']}/access_tokens",
            {"repositories": [repository.split("/", 1)[1]]},
        )  # fmt: skip
        ends_at = datetime.fromisoformat(str(made["expires_at"]).replace("Z", "+00:00")).timestamp()
        self._known[repository] = (str(made["token"]), ends_at)
        return str(made["token"])

    async def _ask(self, method: str, path: str, body: object = None) -> dict[str, object]:
        headers = {"authorization": f"Bearer {self.app.jwt(self.now())}", "accept": "application/vnd.github+json"}
        try:
            answer = await self.http.request(method, self.api_url + path, headers=headers, json=body)
        except httpx.HTTPError as error:
            raise Unreachable(f"{method} {path}: {type(error).__name__}") from error
        if answer.status_code == 404:
            raise Refused(404, f"the App is not installed on {path.split('/installation')[0].removeprefix('/repos/')}")
        if answer.status_code >= 400:
            raise Refused(answer.status_code, f"{method} {path}: {answer.text[:300]}")
        found: dict[str, object] = answer.json()
        return found


@dataclass(frozen=True, slots=True)
class Personal:
    """A personal access token."""

    token: str

    async def get(self, repository: str) -> str:
        """Return the token, whatever the repository."""
        del repository
        return self.token

    def forget(self, repository: str, token: str) -> None:
        """Do nothing: there is no other token."""


Credentials = Tokens | Personal
Sleep = Callable[[float], Awaitable[None]]
