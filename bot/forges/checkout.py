"""A repository on this machine in the place of a forge: branches and files, nothing that people look at."""

from pathlib import Path

from bot.errors import UserError
from bot.forges.answers import User
from bot.sandbox import proc

ENV = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
}  # fmt: skip


class Checkout:
    """Answers what the stages ask of a forge up to publishing."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def default_branch(self, repo: str) -> str:
        """Return the branch that is checked out. Raises UserError where there is none."""
        del repo
        branch = await self._git("symbolic-ref", "--quiet", "--short", "HEAD")
        if branch is None or await self._git("rev-parse", "--verify", "--quiet", "HEAD") is None:
            raise UserError(f"--repo: expected a repository with a commit on a branch, got {self._path}")
        return branch

    async def branch_sha(self, repo: str, branch: str) -> str | None:
        """Return the commit of a branch."""
        del repo
        return await self._git("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}^{{commit}}")

    async def we(self, repo: str) -> User:
        """Return nobody: no one signs in to a path."""
        del repo
        return User()

    async def lacks(self, repo: str, *needs: object) -> list[str]:
        """Return no permission: a path needs none."""
        del repo, needs
        return []

    async def file(self, repo: str, path: str, ref: str) -> bytes | None:
        """Return the bytes of a file at a commit."""
        del repo
        found = await self._git("cat-file", "blob", f"{ref}:{path}", trim=False)
        return None if found is None else found.encode()

    async def git_token(self, repo: str) -> str | None:
        """Return no token: a path needs none."""
        del repo
        return None

    async def _git(self, *args: str, trim: bool = True) -> str | None:
        done = await proc.run(
            "git", "-C", str(self._path), "-c", "safe.directory=*", "-c", "core.hooksPath=/dev/null", *args,
            cwd=self._path, env=ENV, limit_s=60,
        )  # fmt: skip
        if done.exit_code != 0:
            return None
        return done.output.strip() if trim else done.output
