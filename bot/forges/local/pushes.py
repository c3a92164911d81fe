"""What a push may do on the local forge, and whom it concerns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.forges.local.repos import Repos
from bot.forges.local.rest.api import Api
from bot.forges.local.rest.desk import Emit
from bot.forges.local.state import Repository, State, User

WORKFLOWS = ".github/workflows/"


@dataclass(frozen=True, slots=True)
class Update:
    """One ref that a push wants to move."""

    old: str
    new: str
    ref: str

    @property
    def branch(self) -> str:
        """Return the branch that it names."""
        return self.ref.removeprefix("refs/heads/")


@dataclass(frozen=True, slots=True)
class Pushes:
    """Decides about pushes as GitHub does."""

    state: State
    repos: Repos
    api: Api
    emit: Emit
    told: Callable[[], None]

    def forbids(self, full_name: str, updates: Sequence[Update]) -> str | None:
        """Return why a push is declined before its objects are taken."""
        protected = self.state.repositories[full_name].protected
        return "protected branch hook declined" if any(update.branch in protected for update in updates) else None

    async def done(self, full_name: str, token: str, updates: Sequence[Update]) -> str | None:
        """Take back what this token must not write and say why; tell of the rest."""
        if not self.api.may_change_workflows(token):
            for update in updates:
                path = await self._workflow(full_name, update)
                if path is not None:
                    await self._take_back(full_name, update)
                    return f"refusing to allow a GitHub App to create or update workflow `{path}`" \
                           " without `workflows` permission"  # fmt: skip
        await self.tell(full_name, self.api.who(token, full_name) or self.state.user("somebody"))
        return None

    async def tell(self, full_name: str, who: User) -> None:
        """Tell of the pull requests whose head moved."""
        pushed = self.state.repositories[full_name]
        for repo in (pushed, self.state.repositories.get(pushed.fork_of)):
            if repo is not None:
                await self._tell_pulls(repo, who)
        self.told()

    async def _tell_pulls(self, repo: Repository, who: User) -> None:
        for pull in [i for i in list(repo.issues.values()) if i.head is not None and i.state == "open"]:
            before = pull.head_sha
            shown = await self.api.pulls.show(repo, pull)
            if before != pull.head_sha:
                what = {"number": pull.number, "before": before, "after": pull.head_sha, "pull_request": shown}
                self.emit("pull_request", "synchronize", repo, who, what)

    async def _workflow(self, full_name: str, update: Update) -> str | None:
        """Return a workflow that an update changes."""
        if not update.new.strip("0"):
            return None
        default = self.state.repositories[full_name].default_branch
        base = update.old if update.old.strip("0") else await self.repos.sha(full_name, default) or update.new
        changed = await self.repos.git(full_name, "diff", "--name-only", base, update.new, "--", WORKFLOWS)
        return changed.splitlines()[0] if changed else None

    async def _take_back(self, full_name: str, update: Update) -> None:
        back = ["-d", update.ref] if not update.old.strip("0") else [update.ref, update.old]
        await self.repos.git(full_name, "update-ref", *back)


def read_updates(body: bytes) -> list[Update]:
    """Return what a push wants: the commands before its pack, in pkt-lines."""
    found, at = [], 0
    while (size := int(body[at : at + 4] or b"0", 16)) >= 4:
        command = body[at + 4 : at + size].split(b"\0")[0].decode(errors="replace").split()
        if len(command) == 3:
            found.append(Update(*command))
        at += size
    return found


def render_refusal(updates: Sequence[Update], reason: str) -> bytes:
    """Return the report that declines all of a push, in the side band that git asked for."""

    def line(content: bytes) -> bytes:
        return b"%04x%s" % (len(content) + 4, content)

    declined = [line(f"ng {update.ref} {reason}\n".encode()) for update in updates]
    report = line(b"unpack ok\n") + b"".join(declined) + b"0000"
    return line(b"\1" + report) + b"0000"
