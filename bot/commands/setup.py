"""bot setup: make the GitHub App in one click, or check a personal token."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path

import click
import httpx
import uvicorn

from bot.commands.arguments import repository_name
from bot.connecting import open_forge
from bot.errors import UserError
from bot.forges import manifest
from bot.forges.errors import ForgeError, Refused
from bot.forges.github import GitHub
from bot.forges.manifest import NewApp
from bot.opening import data_folder
from bot.serving import Server, bind
from bot.settings import FILE, Settings, load, need
from bot.setup import proof
from bot.setup.keep import keep_settings, write_private
from bot.setup.page import SetupPage
from bot.setup.rotate import NEXT, OF_APP, OF_REPOSITORY, refuse_to_lose_to_environment, rotated
from bot.tickets.store import open_store, sqlite_url


@click.command()
@click.option("--name", default="", help="of the App; it must be unique on the forge")
@click.option("--organization", default="", help="who owns the App; left out: you")
@click.option("--webhook-url", default="", help="where the forge reaches `bot serve`; left out: use `bot serve --pull`")
@click.option("--port", type=int, default=0, help="of the page on loopback (any free one)")
@click.option(
    "--from-token",
    "repo",
    callback=repository_name,
    metavar="OWNER/REPO",
    help="use BOT_TOKEN for this one repository, and no App",
)
@click.option("--new-secret", is_flag=True, help="give the App's webhook a new secret; the old one still counts")
def setup(name: str, organization: str, webhook_url: str, port: int, repo: str | None, new_secret: bool) -> int:
    """Make the GitHub App in one click, and store its key and secrets for `bot serve`."""
    settings = load()
    if repo is not None and settings.app_id is not None:
        raise UserError(f"--from-token: the App {settings.app_id} would win over BOT_TOKEN. Mend: unset BOT_APP_ID, "
                        f"or app_id out of {Path(FILE).resolve()}")  # fmt: skip
    if new_secret and repo is not None:
        return asyncio.run(_rotate_hook(settings, repo, webhook_url))
    if new_secret:
        return asyncio.run(_rotate_app(settings))
    if repo is not None:
        return asyncio.run(_from_token(settings, repo, webhook_url))
    return asyncio.run(make(settings, name=name, organization=organization, hook=webhook_url, port=port))


async def make(settings: Settings, *, name: str = "", organization: str = "", hook: str = "", port: int = 0) -> int:
    """Serve the page that makes the App, and wait until it is made; returns 1 where the webhook was not proved."""
    _refuse_to_lose(settings)
    name = name or f"sluice-{secrets.token_hex(3)}"
    async with httpx.AsyncClient(timeout=30.0) as http:
        page = SetupPage(
            name=name, git_url=settings.git_url, organization=organization,
            hook_url=hook or manifest.NOWHERE,
            convert=lambda code: manifest.convert(http, api_url=settings.api_url, code=code),
        )  # fmt: skip
        listening = bind("127.0.0.1", port)
        server = Server(uvicorn.Config(page.app(), log_config=None, timeout_graceful_shutdown=1))
        task = asyncio.create_task(server.serve(sockets=[listening]))
        click.echo(f"Open http://127.0.0.1:{listening.getsockname()[1]}/setup/{page.token}")
        made = await page.done
        _keep(settings, made)
        server.should_exit = True
        await task
    click.echo(f"The App {made.slug} is made; its key and secret are stored. Install it: {made.install_url}")
    well = not hook or await _proved_app(hook, made)
    click.echo("Then: bot serve" + ("" if hook else " --pull"))
    return 0 if well else 1


def _refuse_to_lose(settings: Settings) -> None:
    """Raise UserError where an App is there already, or where what is stored would not count."""
    if settings.app_id is not None:
        raise UserError(
            f"there is an App already, number {settings.app_id}; `bot doctor --github` looks at it. "
            f"Mend: to make another one, take app_id out of {Path(FILE).resolve()} and the environment first"
        )
    refuse_to_lose_to_environment("private_key", "private_key_path", "webhook_secret")
    if settings.private_key is not None:
        raise UserError(f"private_key in {Path(FILE).resolve()} would win over the new App's. Mend: take it out first")
    data_folder(settings.data)
    keep_settings(Path(FILE), {})  # a key that cannot be stored would be lost: the forge shows it once


async def _rotate_app(settings: Settings) -> int:
    """Give the App's webhook a new secret."""
    need(settings, ["app_id"])
    with rotated(settings) as changed:
        async with httpx.AsyncClient(timeout=30.0) as http:
            try:
                await open_forge(changed, http).set_hook(secret=_secret(changed))
            except ForgeError as error:
                raise UserError(f"the webhook keeps its secret for now: {error}. Mend: run this again") from error
    click.echo(NEXT.format(after=OF_APP, where=Path(FILE).resolve()))
    return 0


def _keep(settings: Settings, made: NewApp) -> None:
    key = data_folder(settings.data) / f"{made.slug}.pem"
    write_private(key, made.pem)
    secret = made.webhook_secret or secrets.token_hex(32)
    values: dict[str, str | int] = {"app_id": made.id, "private_key_path": str(key), "webhook_secret": secret}
    keep_settings(Path(FILE), values)


async def _proved_app(hook: str, made: NewApp) -> bool:
    """Give the webhook its secret where the forge made none, and have a ping prove it."""
    settings = load()
    async with httpx.AsyncClient(timeout=30.0) as http:
        forge = open_forge(settings, http)
        if made.webhook_secret is None:
            await forge.set_hook(url=hook, secret=_secret(settings))
        return await _proved(settings, hook, forge, lambda: proof.ping_of_app(forge))


async def _proved(settings: Settings, hook: str, forge: GitHub, ask: Callable[[], Awaitable[str]]) -> bool:
    """Say whether a ping of the forge comes through."""
    store = open_store(settings.database_url or sqlite_url(data_folder(settings.data) / "sluice.db"))
    try:
        why = await proof.prove(settings, store, secret=_secret(settings), ask=ask)
    finally:
        store.close()
    if not why:
        click.echo(f"The webhook works: a signed ping came through {hook}.")
        return True
    said = await proof.told(forge) if forge.is_app else ""
    click.echo(f"The webhook is not proved: {why}{f'; {said}' if said else ''}.")
    click.echo(f"{hook} must lead to {settings.host}:{settings.port}/webhook; `bot doctor --github` looks again.")
    return False


def _secret(settings: Settings) -> str:
    return settings.webhook_secret.get_secret_value() if settings.webhook_secret else ""


async def _from_token(settings: Settings, repo: str, hook: str) -> int:
    """Check that a personal token can do the work in one repository."""
    if settings.token is None:
        raise UserError("BOT_TOKEN: expected a personal token, found none; make one for this repository alone")
    async with httpx.AsyncClient(timeout=30.0) as http:
        forge = open_forge(settings, http)
        try:
            branch = await forge.default_branch(repo)
            login = await forge.login(repo)
            role = await forge.permission(repo, login)
        except ForgeError as error:
            raise UserError(f"the token does not reach {repo}: {error}") from error
    if role not in ("write", "maintain", "admin"):
        raise UserError(f"{login} has the role {role} in {repo}; the bot needs write")
    if settings.webhook_secret is None:
        keep_settings(Path(FILE), {"webhook_secret": secrets.token_hex(32)})
    click.echo(f"{login} has the role {role} in {repo}, whose default branch is {branch}.")
    if hook:
        return await _hook_of(load(), repo, hook)
    where = Path(FILE).resolve()
    click.echo(
        f"A webhook secret is in {where}: add a webhook with it in the repository's settings (content type "
        f"application/json; events {', '.join(manifest.EVENTS)}), or run this again with --webhook-url. Then: bot serve"
    )
    return 0


async def _rotate_hook(settings: Settings, repo: str, hook: str) -> int:
    """Give a repository's webhook a new secret."""
    if settings.token is None or not hook:
        raise UserError("--new-secret with --from-token: expected BOT_TOKEN, and --webhook-url for the one to change")
    with rotated(settings) as changed:
        async with httpx.AsyncClient(timeout=30.0) as http:
            await _kept_hook(open_forge(changed, http), repo, hook, _secret(changed))
    click.echo(NEXT.format(after=OF_REPOSITORY, where=Path(FILE).resolve()))
    return 0


async def _kept_hook(forge: GitHub, repo: str, hook: str, secret: str) -> int:
    """Make the repository's webhook, or give it the secret; return its number."""
    try:
        return await forge.keep_hook(repo, url=hook, secret=secret, events=manifest.EVENTS)
    except Refused as refused:
        raise UserError(
            f"the token may not make webhooks in {repo} ({refused.message}); give it Webhooks: write, "
            "or add the webhook by hand and leave --webhook-url out"
        ) from refused


async def _hook_of(settings: Settings, repo: str, hook: str) -> int:
    """Make the repository's webhook, and have a ping prove it."""
    async with httpx.AsyncClient(timeout=30.0) as http:
        forge = open_forge(settings, http)
        number = await _kept_hook(forge, repo, hook, _secret(settings))

        async def ask() -> str:
            await forge.ping_hook(repo, number)
            return ""

        well = await _proved(settings, hook, forge, ask)
    click.echo("Then: bot serve")
    return 0 if well else 1
