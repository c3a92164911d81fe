"""A repository's settings, looked at when something asks for work: the newest good ones are kept in force."""

import asyncio
from collections.abc import Callable

import sqlalchemy as sa

from bot import log
from bot.errors import ConfigError
from bot.forges.errors import ForgeError, Refused
from bot.forges.github import GitHub
from bot.tickets import posts, repository
from bot.tickets.repository import RepositorySettings
from bot.tickets.store import Store

LOG = log.logger("inbox")
FRESH_S = 30.0
CHECK_NAME = "sluice settings"


class House:
    """Knows the settings of every repository; looks for new ones at most twice a minute."""

    def __init__(self, store: Store, forge: GitHub, *, now: Callable[[], float]) -> None:
        self._store = store
        self._forge = forge
        self._now = now
        self._looked_at: dict[str, float] = {}

    def known(self, name: str) -> RepositorySettings:
        """Return the settings in force without asking the forge."""
        with self._store.read() as c:
            return repository.settings_of(c, name)

    async def settings(self, name: str, *, issue: int | None, installation: int | None) -> RepositorySettings:
        """Return the settings in force after a look at the default branch; what is wrong there is said on the issue.

        Raises ForgeError where they were never seen and cannot be now: without them an event could be misread for good.
        """
        if self._now() - self._looked_at.get(name, 0.0) >= FRESH_S:
            try:
                await self._look(name, issue, installation)
                self._looked_at[name] = self._now()
            except ForgeError as error:
                LOG.warning("settings not looked at", extra={"repository": name, "error": str(error)})
                if not isinstance(error, Refused) and not await asyncio.to_thread(self._was_seen, name):
                    raise
        return await asyncio.to_thread(self.known, name)

    def _was_seen(self, name: str) -> bool:
        with self._store.read() as c:
            return repository.settings_sha(c, name) is not None

    async def _look(self, name: str, issue: int | None, installation: int | None) -> None:
        branch = await self._forge.default_branch(name)
        sha = await self._forge.branch_sha(name, branch)
        with self._store.read() as c:
            before, was_wrong = repository.settings_sha(c, name), repository.settings_error(c, name)
        if sha is None or (sha == before and not was_wrong):
            return
        content = await self._forge.file(name, repository.PATH, sha)
        settings, error = None, ""
        try:
            settings = RepositorySettings() if content is None else repository.read_settings(content)
        except ConfigError as problem:
            error = str(problem)
        with self._store.write() as c:
            repository.keep_settings(c, name, settings, sha=sha, error=error)
            if error or was_wrong:
                self._say(c, name, sha, error, issue, installation)

    def _say(self, c: sa.Connection, name: str, sha: str, error: str, issue: int | None, via: int | None) -> None:
        now = self._now()
        told = (
            f"`{error}`\n\nThe last settings that could be read stay in force." if error else "The settings are fine."
        )
        check = {
            "name": CHECK_NAME, "head_sha": sha, "status": "completed", "external_id": "settings",
            "conclusion": "failure" if error else "success",
            "output": {"title": error[:140] or "Settings can be read", "summary": told},
        }  # fmt: skip
        posts.want(c, f"check:settings:{name}@{sha}", "check", repository=name, installation=via, wanted=check, now=now)
        if error and issue is not None:
            marker = f"<!-- sluice:settings:{sha}:{issue} -->"
            wanted = {"issue": issue, "marker": marker, "body": f"{marker}\n⚠️ {told}"}
            key = f"reply:settings:{name}#{issue}@{sha}"
            posts.want(c, key, "reply", repository=name, installation=via, wanted=wanted, now=now)
