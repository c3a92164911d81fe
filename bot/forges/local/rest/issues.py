"""Issues, labels, comments, reactions, and what people may do."""

from starlette.responses import JSONResponse, Response

from bot.forges.local.rest.desk import Call, Desk, Problem, R, Rows
from bot.forges.local.state import Comment

REACTIONS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")
LABEL_LENGTH = 50


class Issues:
    """Answers about issues."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self._state, self._shapes = desk, desk.state, desk.shapes

    def rows(self) -> Rows:
        """Return method, path and answer of each operation."""
        return [
            ("GET", f"{R}/issues", self._issues),
            ("GET", f"{R}/issues/{{n:int}}", self._issue),
            ("GET", f"{R}/issues/{{n:int}}/labels", self._labels),
            ("POST", f"{R}/issues/{{n:int}}/labels", self._add_labels),
            ("DELETE", f"{R}/issues/{{n:int}}/labels/{{label:path}}", self._remove_label),
            ("GET", f"{R}/issues/{{n:int}}/comments", self._comments),
            ("POST", f"{R}/issues/{{n:int}}/comments", self._comment),
            ("POST", f"{R}/issues/{{n:int}}/reactions", self._react_to_issue),
            ("GET", f"{R}/issues/{{n:int}}/dependencies/blocked_by", self._blockers),
            ("GET", f"{R}/issues/{{n:int}}/sub_issues", self._parts),
            ("GET", f"{R}/issues/comments/{{id:int}}", self._one_comment),
            ("PATCH", f"{R}/issues/comments/{{id:int}}", self._edit_comment),
            ("DELETE", f"{R}/issues/comments/{{id:int}}", self._delete_comment),
            ("POST", f"{R}/issues/comments/{{id:int}}/reactions", self._react),
            ("POST", f"{R}/pulls/comments/{{id:int}}/reactions", self._react_to_line),
            ("GET", f"{R}/collaborators/{{login}}/permission", self._permission),
        ]

    async def _issues(self, call: Call) -> Response:
        labels = {name.lower() for name in call.query.get("labels", "").split(",") if name}
        state = call.query.get("state", "open")
        found = [
            issue for issue in reversed(list(call.repo.issues.values()))
            if state in ("all", issue.state) and labels <= {name.lower() for name in issue.labels}
        ]  # fmt: skip
        return call.page([self._shapes.issue(call.repo, issue) for issue in found])

    async def _issue(self, call: Call) -> Response:
        return JSONResponse(self._shapes.issue(call.repo, call.issue()))

    async def _blockers(self, call: Call) -> Response:
        return call.page([self._shapes.issue(call.repo, call.repo.issues[n]) for n in call.issue().blocked_by])

    async def _parts(self, call: Call) -> Response:
        return call.page([self._shapes.issue(call.repo, call.repo.issues[n]) for n in call.issue().parts])

    async def _labels(self, call: Call) -> Response:
        return call.page([self._shapes.label(name) for name in call.issue().labels])

    async def _add_labels(self, call: Call) -> Response:
        issue = call.issue()
        for name in call.body.get("labels", []) if isinstance(call.body, dict) else call.body:
            if len(name) > LABEL_LENGTH:
                raise Problem(422, f"Validation Failed: name is too long (maximum is {LABEL_LENGTH} characters)")
            if name.lower() not in [label.lower() for label in issue.labels]:
                issue.labels.append(name)
                self._desk.emit("issues", "labeled", call.repo, call.user, {"issue": issue, "label": name})
        return JSONResponse([self._shapes.label(name) for name in issue.labels])

    async def _remove_label(self, call: Call) -> Response:
        issue, name = call.issue(), call.path["label"]
        if name not in issue.labels:
            raise Problem(404, "Label does not exist")
        issue.labels.remove(name)
        self._desk.emit("issues", "unlabeled", call.repo, call.user, {"issue": issue, "label": name})
        return JSONResponse([self._shapes.label(name) for name in issue.labels])

    async def _comments(self, call: Call) -> Response:
        return call.page([self._shapes.comment(call.repo, c) for c in call.repo.on(call.issue().number)])

    async def _comment(self, call: Call) -> Response:
        issue, text = call.issue(), call.text()
        if not text.strip():
            raise Problem(422, "Validation Failed: body cannot be blank")
        comment = Comment(self._state.number(), issue.number, call.user, text, self._state.stamp())
        call.repo.comments[comment.id] = comment
        self._desk.emit("issue_comment", "created", call.repo, call.user, {"issue": issue, "comment": comment})
        return JSONResponse(self._shapes.comment(call.repo, comment), 201)

    async def _one_comment(self, call: Call) -> Response:
        return JSONResponse(self._shapes.comment(call.repo, _comment_of(call)))

    async def _edit_comment(self, call: Call) -> Response:
        comment, before = _comment_of(call), _comment_of(call).body
        comment.body = call.text()
        what = {
            "issue": call.repo.issues[comment.issue], "comment": comment, "changes": {"body": {"from": before}},
        }  # fmt: skip
        self._desk.emit("issue_comment", "edited", call.repo, call.user, what)
        return JSONResponse(self._shapes.comment(call.repo, comment))

    async def _delete_comment(self, call: Call) -> Response:
        comment = call.repo.comments.pop(_comment_of(call).id)
        issue = call.repo.issues[comment.issue]
        self._desk.emit("issue_comment", "deleted", call.repo, call.user, {"issue": issue, "comment": comment})
        return Response(status_code=204)

    async def _react(self, call: Call) -> Response:
        return self._reaction(call, _comment_of(call).reactions)

    async def _react_to_line(self, call: Call) -> Response:
        found = call.repo.review_comments.get(call.path["id"])
        if found is None:
            raise Problem(404, "Not Found")
        return self._reaction(call, found.reactions)

    async def _react_to_issue(self, call: Call) -> Response:
        return self._reaction(call, call.issue().reactions)

    def _reaction(self, call: Call, known: list[tuple[str, str]]) -> Response:
        content = str(call.body.get("content"))
        if content not in REACTIONS:
            raise Problem(422, "Validation Failed: content is not a reaction")
        is_new = (call.user.login, content) not in known
        if is_new:
            known.append((call.user.login, content))
        return JSONResponse(self._shapes.reaction(call.user, content), 201 if is_new else 200)

    async def _permission(self, call: Call) -> Response:
        login = call.path["login"]
        if login not in self._state.users:
            raise Problem(404, f"{login} is not a user")
        return JSONResponse(self._shapes.permission(self._state.users[login], call.repo.roles.get(login, "read")))


def _comment_of(call: Call) -> Comment:
    found = call.repo.comments.get(call.path["id"])
    if found is None:
        raise Problem(404, "Not Found")
    return found
