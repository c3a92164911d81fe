"""Check runs, check suites, commit statuses."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.responses import JSONResponse, Response

from bot.forges.local.rest.desk import Call, Desk, Problem, R, Rows
from bot.forges.local.state import CheckRun, Repository, User

OUTPUT_LENGTH = 65_535
MOST_ANNOTATIONS = 50
DESCRIPTION_LENGTH = 140
CONCLUSIONS = frozenset(
    {"success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required", "stale"}
)


class Checks:
    """Answers about checks."""

    def __init__(self, desk: Desk, passed: Callable[[Repository, User], Awaitable[None]]) -> None:
        self._passed = passed  # hears of each check run that was written
        self._desk, self._state, self._repos, self._shapes = desk, desk.state, desk.repos, desk.shapes

    def rows(self) -> Rows:
        """Return method, path and answer of each operation."""
        return [
            ("POST", f"{R}/check-runs", self._create),
            ("GET", f"{R}/check-runs/{{id:int}}", self._show),
            ("PATCH", f"{R}/check-runs/{{id:int}}", self._update),
            ("GET", f"{R}/commits/{{ref:path}}/check-runs", self._runs),
            ("GET", f"{R}/commits/{{ref:path}}/check-suites", self._suites),
            ("POST", f"{R}/statuses/{{sha}}", self._status),
        ]

    async def _create(self, call: Call) -> Response:
        if call.user.type != "Bot":
            raise Problem(403, "You must authenticate via a GitHub App.")
        sha = str(call.body.get("head_sha", ""))
        if await self._repos.resolve(call.repo.full_name, sha) is None:
            raise Problem(422, f"No commit found for SHA: {sha}")
        run = CheckRun(self._state.number(), str(call.body["name"]), sha, self._state.stamp())
        self._fill(run, call.body)
        call.repo.checks[run.id] = run
        self._desk.told()
        await self._passed(call.repo, call.user)
        return JSONResponse(self._shapes.check(call.repo, run), 201)

    async def _show(self, call: Call) -> Response:
        return JSONResponse(self._shapes.check(call.repo, _run(call)))

    async def _update(self, call: Call) -> Response:
        run = _run(call)
        self._fill(run, call.body)
        self._desk.told()
        await self._passed(call.repo, call.user)
        return JSONResponse(self._shapes.check(call.repo, run))

    async def _runs(self, call: Call) -> Response:
        sha = await self._commit(call)
        name = call.query.get("check_name")
        found = [c for c in list(call.repo.checks.values()) if c.head_sha == sha and name in (None, c.name)]
        return call.page([self._shapes.check(call.repo, c) for c in reversed(found)], under="check_runs")

    async def _suites(self, call: Call) -> Response:
        sha = await self._commit(call)
        found = [s for s in call.repo.suites if s.head_sha == sha]
        return call.page([self._shapes.suite(call.repo, s) for s in found], under="check_suites")

    async def _status(self, call: Call) -> Response:
        if len(str(call.body.get("description") or "")) > DESCRIPTION_LENGTH:
            raise Problem(422, f"description is too long (maximum is {DESCRIPTION_LENGTH} characters)")
        shown = self._shapes.status(call.repo, call.user, call.path["sha"], call.body, self._state.number())
        call.repo.statuses.append(shown)
        self._desk.told()
        return JSONResponse(shown, 201)

    async def _commit(self, call: Call) -> str:
        found = await self._repos.resolve(call.repo.full_name, call.path["ref"])
        if found is None:
            raise Problem(422, f"No commit found for SHA: {call.path['ref']}")
        return found

    def _fill(self, run: CheckRun, body: Mapping[str, Any]) -> None:
        output = body.get("output") or {}
        _refuse(output, body)
        conclusion = body.get("conclusion")
        run.name = str(body.get("name") or run.name)
        run.status = "completed" if conclusion else str(body.get("status") or run.status)
        run.conclusion = conclusion or (run.conclusion if run.status == "completed" else None)
        run.completed_at = (body.get("completed_at") or self._state.stamp()) if run.status == "completed" else None
        run.external_id = str(body.get("external_id") or run.external_id)
        run.details_url = body.get("details_url") or run.details_url
        run.output = {**run.output, **output}
        run.actions = list(body.get("actions") or run.actions)


def _refuse(output: Mapping[str, Any], body: Mapping[str, Any]) -> None:
    wrong = None
    for name in ("summary", "text"):
        if len(output.get(name) or "") > OUTPUT_LENGTH:
            wrong = f"{name} exceeds {OUTPUT_LENGTH} characters"
    if output and not (output.get("title") and output.get("summary")):
        wrong = '"title" and "summary" weren\'t supplied'
    if len(output.get("annotations") or []) > MOST_ANNOTATIONS:
        wrong = f"more than {MOST_ANNOTATIONS} annotations"
    if body.get("conclusion") is not None and body["conclusion"] not in CONCLUSIONS:
        wrong = f"{body['conclusion']} is not a conclusion"
    if body.get("status") == "completed" and not body.get("conclusion"):
        wrong = "conclusion is needed for a completed check run"
    if wrong:
        raise Problem(422, f"Invalid request: {wrong}")


def _run(call: Call) -> CheckRun:
    found = call.repo.checks.get(call.path["id"])
    if found is None:
        raise Problem(404, "Not Found")
    return found
