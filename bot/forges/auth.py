"""Who we are to the forge: an App with installation tokens, narrowed to a need, or a personal token."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, cast

import httpx
import msgspec

from bot.forges.errors import NotGranted, Refused, Unreachable
from bot.forges.transport import APP, Ask, Transport, message_of

EARLY_S = 300.0  # a token that ends sooner than this is renewed
FRESH_S = 300.0  # what an installation grants is looked up again after this
JWT_S = 540  # GitHub refuses more than ten minutes
DRIFT_S = 60  # and clocks that run ahead


@dataclass(frozen=True, slots=True)
class App:
    """A GitHub App: its id (or client id) and its private key in PEM."""

    id: str
    private_key: str = field(repr=False)

    def jwt(self, now: float) -> str:
        """Return a signed statement that we are this App."""
        import jwt  # noqa: PLC0415 60 ms, and a personal token needs none

        claims = {"iat": int(now) - DRIFT_S, "exp": int(now) + JWT_S, "iss": self.id}
        return jwt.encode(claims, read_key(self.private_key), algorithm="RS256")


@cache
def read_key(pem: str) -> Any:
    """Return an App's key, read once: that takes longer than to sign. Raises ValueError for anything else."""
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey  # noqa: PLC0415 60 ms
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except Exception as error:  # of OpenSSL's many
        raise ValueError(type(error).__name__) from error
    if not isinstance(key, RSAPrivateKey):
        raise ValueError(type(key).__name__)
    return key


@dataclass(frozen=True, slots=True)
class Need:
    """What a token is for: permissions that it must have, and others that it takes along where they are granted."""

    must: tuple[tuple[str, str], ...]
    may: tuple[tuple[str, str], ...] = ()


READ = Need((("metadata", "read"),))
ISSUES = Need((("issues", "write"),), (("pull_requests", "write"),))
CHECKS = Need((("checks", "write"),))
STATUSES = Need((("statuses", "write"),))
PULLS = Need((("pull_requests", "write"), ("contents", "read")))
MERGE = Need((("contents", "write"), ("pull_requests", "write")), (("workflows", "write"),))
FETCH = Need((("contents", "read"),))
HOOKS = Need((("repository_hooks", "write"),))
PUSH = Need((("contents", "write"),))
PUSH_WORKFLOWS = Need((("contents", "write"), ("workflows", "write")))


class Account(msgspec.Struct, frozen=True):
    """Whose repositories they are."""

    login: str = ""


class Installation(msgspec.Struct, frozen=True):
    """Where the App is installed, and what it may do there."""

    id: int
    permissions: dict[str, str] = {}
    suspended_at: str | None = None
    account: Account | None = None


class Minted(msgspec.Struct, frozen=True):
    """A new token."""

    token: str
    expires_at: str

    def __repr__(self) -> str:
        return f"Minted(expires_at={self.expires_at!r})"


@dataclass(slots=True)
class Tokens:
    """Installation tokens, one a repository and need, minted once however many ask at the same time."""

    app: App
    transport: Transport
    _known: dict[tuple[str, Need], tuple[str, float]] = field(default_factory=dict, repr=False)
    _minting: dict[tuple[str, Need], asyncio.Task[str]] = field(default_factory=dict)
    _jwt: str = field(default="", repr=False)
    _jwt_at: float = 0.0
    _installed: dict[str, tuple[Installation, float]] = field(default_factory=dict)

    async def get(self, repository: str, need: Need) -> str:
        """Return a token for one repository that is good for some minutes yet."""
        key = (repository, need)
        token, ends_at = self._known.get(key, ("", 0.0))
        if token and self.transport.now() < ends_at - EARLY_S:
            return token
        task = self._minting.get(key)
        if task is None:
            task = self._minting[key] = asyncio.create_task(self._mint(repository, need))
            task.add_done_callback(lambda _: self._minting.pop(key, None))
        return await asyncio.shield(task)

    def forget(self, token: str) -> None:
        """Drop a token that the forge no longer takes, and what we knew of its installation."""
        for key in [key for key, (known, _) in self._known.items() if known == token]:
            del self._known[key]
            self._installed.pop(key[0], None)

    def forget_grants(self) -> None:
        """Drop what we knew of installations, and tokens that were minted by it."""
        self._installed.clear()
        self._known.clear()

    async def installation(self, repository: str) -> Installation:
        """Return the installation that reaches a repository."""
        found, read_at = self._installed.get(repository, (None, 0.0))
        if found is None or self.transport.now() - read_at > FRESH_S:
            ask = Ask("GET", f"/repos/{repository}/installation", safe=True)
            answer = await self.ask(ask, missing=f"the App is not installed on {repository}")
            found = cast("Installation", read_answer(answer, Installation))
            self._installed[repository] = (found, self.transport.now())
        return found

    async def ask(self, ask: Ask, *, missing: str = "") -> httpx.Response:
        """Ask as the App itself."""
        answer = await self.transport.send(ask, account=APP, token=self._signed())
        if answer.status_code == 404 and missing:
            raise Refused(404, missing)
        if answer.status_code == 401:
            self._jwt = ""
            told, clock = message_of(answer), answer.headers.get("date", "no time")
            raise Refused(
                401,
                f"the forge does not take the App's signature ({told}): check the App's id, its private key and this"
                f" machine's clock; the forge's shows {clock}",
            )
        if answer.status_code >= 400 and answer.status_code not in ask.fine:
            raise self.transport.refusal(ask, answer)
        return answer

    async def whole(self, installation: Installation) -> str:
        """Return a token that may only list what an installation reaches; kept by nobody."""
        fields = {"permissions": {"metadata": "read"}}
        ask = Ask("POST", f"/app/installations/{installation.id}/access_tokens", fields, safe=True)
        made: Minted = read_answer(await self.ask(ask), Minted)
        return made.token

    def _signed(self) -> str:
        now = self.transport.now()
        is_good = self._jwt and self._jwt_at <= now < self._jwt_at + JWT_S / 2
        if not is_good:  # reading the key for each request would cost 40 ms
            self._jwt, self._jwt_at = self.app.jwt(now), now
        return self._jwt

    async def _mint(self, repository: str, need: Need) -> str:
        installation = await self.installation(repository)
        if installation.suspended_at is not None:
            raise Refused(403, f"the App's installation on {repository} is suspended")
        fields = {
            "repositories": [repository.split("/", 1)[1]],
            "permissions": granted(repository, need, installation.permissions),
        }
        ask = Ask("POST", f"/app/installations/{installation.id}/access_tokens", fields, safe=True)
        made: Minted = read_answer(await self.ask(ask, missing=f"the App is not installed on {repository}"), Minted)
        ends_at = datetime.fromisoformat(made.expires_at.replace("Z", "+00:00")).timestamp()
        self._known[(repository, need)] = (made.token, ends_at)
        return made.token


def granted(repository: str, need: Need, permissions: Mapping[str, str]) -> dict[str, str]:
    """Return the permissions to ask a token for. Raises NotGranted."""
    for name, level in need.must:
        if not has(permissions, name, level):
            raise NotGranted(repository, f"{name}: {level}")
    return {name: level for name, level in (*need.must, *need.may) if has(permissions, name, level)}


def has(permissions: Mapping[str, str], name: str, level: str) -> bool:
    """Return whether permissions cover one of them at a level."""
    return permissions.get(name) in (level, "write", "admin")


@dataclass(frozen=True, slots=True)
class Personal:
    """A personal access token."""

    token: str = field(repr=False)

    async def get(self, repository: str, need: Need) -> str:
        """Return the token, whatever the repository."""
        del repository, need
        return self.token

    def forget(self, token: str) -> None:
        """Do nothing: there is no other token."""


Credentials = Tokens | Personal


def read_answer(answer: httpx.Response, kind: Any) -> Any:
    """Return an answer as ours; one that cannot be read is as good as none."""
    try:
        return msgspec.json.decode(answer.content, type=kind)
    except msgspec.DecodeError as error:
        where = f"{answer.request.method} {answer.request.url.path}"
        raise Unreachable(f"{where}: not what was expected: {error}") from error
