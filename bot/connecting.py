"""From settings to the forge, the model and the secrets: what the service and a few commands share."""

import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import sqlalchemy as sa

import gate
from bot.errors import ConfigError
from bot.forges.auth import App, read_key
from bot.forges.github import GitHub
from bot.forges.limiter import CONTENT
from bot.outbox.reporter import Links
from bot.sandbox.redact import Redactor
from bot.settings import Settings
from bot.tickets.repository import RepositorySettings
from bot.tickets.store import Store
from bot.tickets.written import Written
from bot.work.agents.agent import Agent, AgentSettings
from bot.work.agents.open import open_agent

AUTHOR = ("Sluice", "sluice@noreply.invalid")  # of commits where there is no forge to be somebody on
GATE = (sys.executable, "-I", str(Path(gate.__file__).parent / "__main__.py"))


def agent_of(settings: Settings, wanted: RepositorySettings, redactor: Redactor) -> Agent:
    """Return the agent that a repository wants, with the operator's key and endpoint."""
    key = settings.anthropic_api_key
    wish = AgentSettings(
        model=wanted.agent.model or settings.model, model_url=settings.model_url,
        api_key=key.get_secret_value() if key else "", command=wanted.agent.command, redact=redactor.data,
        retries=settings.model_retries, silence_s=settings.model_silence_s, session=settings.sessions,
        pause_s=min(2.0, settings.model_silence_s),
    )  # fmt: skip
    return open_agent(wanted.agent.kind, wish)


def open_forge(settings: Settings, http: httpx.AsyncClient, store: Store | None = None) -> GitHub:
    """Return the client of the forge, signed in as the App or with the personal token.

    `store`: where several hosts share a database they share the forge's limits, too.
    """
    app = None
    if settings.app_id is not None:
        app = App(str(settings.app_id), private_key(settings))
    token = settings.token.get_secret_value() if settings.token else None
    several = store is not None and store.engine.dialect.name == "postgresql"
    shared = Written(store, CONTENT).take if store is not None and several else None
    return GitHub(http, api_url=settings.api_url, app=app, token=token, now=time.time, shared=shared)


def by_size(forge: GitHub, least_mb: int) -> Callable[[str], Awaitable[bool]]:
    """Return what tells whether a repository is large enough for a partial clone; 0: none is, and no forge is asked."""

    async def is_large(repository: str) -> bool:
        return least_mb > 0 and await forge.size_kb(repository) >= least_mb * 1024

    return is_large


def private_key(settings: Settings) -> str:
    """Return the App's key. Raises ConfigError where it cannot be read."""
    if settings.private_key is not None:
        return _checked(settings.private_key.get_secret_value().replace("\\n", "\n"), "BOT_PRIVATE_KEY")
    path = settings.private_key_path
    if path is None:
        raise ConfigError("BOT_PRIVATE_KEY_PATH: expected the App's key, found none. Mend: set it, or run `bot setup`")
    try:
        return _checked(path.read_text("utf-8", "replace"), f"BOT_PRIVATE_KEY_PATH: {path}")
    except OSError as error:
        raise ConfigError(f"BOT_PRIVATE_KEY_PATH: expected a key at {path}: {error.strerror}") from error


def _checked(pem: str, where: str) -> str:
    try:
        read_key(pem)
    except ValueError as error:
        raise ConfigError(
            f"{where}: expected the App's RSA private key in PEM, as GitHub gives it for download, got something that "
            "cannot be read as one. Mend: make a new key on the App's page, or run `bot setup`"
        ) from error
    return pem


def links_of(settings: Settings) -> Links:
    """Return where people find forge and dashboard."""
    return Links(forge=settings.git_url, dashboard=settings.public_url)


def webhook_secrets(settings: Settings) -> list[str]:
    """Return the secrets that may sign deliveries, the present one first."""
    both = (settings.webhook_secret, settings.webhook_secret_previous)
    return [secret.get_secret_value() for secret in both if secret]


def secrets_of(settings: Settings) -> list[str]:
    """Return every secret value, to be struck out of all that leaves. Raises ConfigError for a key that is no file."""
    kept = (
        settings.token, settings.anthropic_api_key, settings.dashboard_password, settings.webhook_secret,
        settings.webhook_secret_previous,
    )  # fmt: skip
    values = [secret.get_secret_value() for secret in kept if secret]
    if settings.private_key is not None or settings.private_key_path is not None:
        values.append(private_key(settings))
    password = sa.make_url(settings.database_url).password if settings.database_url else None
    return [*values, str(password)] if password else values


def interpreter() -> tuple[Path, ...]:
    """Return the folders of our own Python that steps may read: many repositories' commands start with it."""
    return tuple({Path(sys.base_prefix)})
