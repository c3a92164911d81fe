"""The repository itself, its branches and files."""

from starlette.responses import JSONResponse, Response

from bot.forges.local.rest.desk import Call, Desk, Problem, R, Rows


class Contents:
    """Answers about what a repository holds."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self._repos, self._shapes = desk, desk.repos, desk.shapes

    def rows(self) -> Rows:
        """Return method, path and answer of each operation."""
        return [
            ("GET", R, self._repository),
            ("GET", f"{R}/git/ref/heads/{{branch:path}}", self._ref),
            ("DELETE", f"{R}/git/refs/heads/{{branch:path}}", self._delete_ref),
            ("GET", f"{R}/contents/{{path:path}}", self._contents),
        ]

    async def _repository(self, call: Call) -> Response:
        return JSONResponse(self._shapes.full_repository(call.repo))

    async def _ref(self, call: Call) -> Response:
        branch = call.path["branch"]
        sha = await self._repos.sha(call.repo.full_name, branch)
        if sha is None:
            raise Problem(404, "Not Found")
        return JSONResponse(self._shapes.ref(call.repo, branch, sha))

    async def _delete_ref(self, call: Call) -> Response:
        branch = call.path["branch"]
        if await self._repos.sha(call.repo.full_name, branch) is None:
            raise Problem(422, "Reference does not exist")
        if branch in call.repo.protected:
            raise Problem(422, "Cannot delete a protected branch")
        await self._repos.git(call.repo.full_name, "update-ref", "-d", f"refs/heads/{branch}")
        self._desk.told()
        return Response(status_code=204)

    async def _inside(self, full_name: str, sha: str, folder: str) -> list[str]:
        """Return the files right below a folder."""
        before = f"{folder.rstrip('/')}/"
        names = await self._repos.files(full_name, sha)
        return [name for name in names if name.startswith(before) and "/" not in name.removeprefix(before)]

    async def _contents(self, call: Call) -> Response:
        ref, path = call.query.get("ref") or call.repo.default_branch, call.path["path"]
        sha = await self._repos.resolve(call.repo.full_name, ref)
        found = None if sha is None else await self._repos.file(call.repo.full_name, sha, path)
        if found is None and sha is not None and (inside := await self._inside(call.repo.full_name, sha, path)):
            return JSONResponse([self._shapes.entry(call.repo, one, ref) for one in inside])
        if found is None or sha is None:
            raise Problem(404, "Not Found")
        if "raw" in call.request.headers.get("accept", ""):
            return Response(found, media_type="application/vnd.github.raw+json; charset=utf-8")
        return JSONResponse(self._shapes.content(call.repo, path, ref, found))
