"""Our state in GitHub's JSON: every field that its schemas ask for, with values that follow from the state."""

from typing import Any

from bot.forges.local.state import CheckRun, Comment, Delivery, Issue, Repository, User


class Shapes:
    """Renders things as GitHub's REST API and webhooks do."""

    def __init__(self, url: str, app_id: int) -> None:
        self._url = url
        self._app_id = app_id

    def user(self, user: User) -> dict[str, Any]:
        """Return a simple user."""
        api = f"{self._url}/api/users/{user.login}"
        links = {
            f"{name}_url": f"{api}/{name}"
            for name in ("followers", "following", "gists", "starred", "subscriptions", "repos", "events",
                         "received_events", "organizations")
        }  # fmt: skip
        return {
            "login": user.login, "id": user.id, "node_id": f"U_{user.id}", "avatar_url": "", "gravatar_id": "",
            "url": api, "html_url": f"{self._url}/{user.login}", "type": user.type, "site_admin": False, **links,
        }  # fmt: skip

    def repository(self, repo: Repository) -> dict[str, Any]:
        """Return a repository, as webhooks and pull requests carry it."""
        owner, name = repo.full_name.split("/", 1)
        return {
            "id": repo.id, "node_id": f"R_{repo.id}", "name": name, "full_name": repo.full_name, "private": False,
            "owner": self.user(User(repo.id + 1, owner, "Organization")), "html_url": f"{self._url}/{repo.full_name}",
            "description": None, "fork": False, "url": f"{self._url}/api/repos/{repo.full_name}",
            "default_branch": repo.default_branch, "clone_url": f"{self._url}/{repo.full_name}.git", "archived": False,
            "disabled": False, "visibility": "public",
        }  # fmt: skip

    def label(self, name: str) -> dict[str, Any]:
        """Return a label."""
        number = sum(name.encode())
        return {"id": number, "node_id": f"L_{number}", "url": f"{self._url}/labels/{name}", "name": name,
                "description": None, "color": "ededed", "default": False}  # fmt: skip

    def issue(self, repo: Repository, issue: Issue) -> dict[str, Any]:
        """Return an issue."""
        api = f"{self._url}/api/repos/{repo.full_name}/issues/{issue.number}"
        found: dict[str, Any] = {
            "id": repo.id * 1000 + issue.number, "node_id": f"I_{repo.id}_{issue.number}", "url": api,
            "repository_url": f"{self._url}/api/repos/{repo.full_name}", "labels_url": f"{api}/labels{{/name}}",
            "comments_url": f"{api}/comments", "events_url": f"{api}/events",
            "html_url": f"{self._url}/{repo.full_name}/issues/{issue.number}", "number": issue.number,
            "state": issue.state, "title": issue.title, "body": issue.body, "user": self.user(issue.user),
            "labels": [self.label(name) for name in issue.labels], "assignee": None, "assignees": [],
            "milestone": None, "locked": False, "comments": len(repo.on(issue.number)), "closed_at": None,
            "created_at": issue.at, "updated_at": issue.at, "author_association": "CONTRIBUTOR",
        }  # fmt: skip
        if issue.head is not None:
            pull = f"{self._url}/{repo.full_name}/pull/{issue.number}"
            found["pull_request"] = {
                "url": f"{self._url}/api/repos/{repo.full_name}/pulls/{issue.number}", "html_url": pull,
                "diff_url": f"{pull}.diff", "patch_url": f"{pull}.patch",
            }  # fmt: skip
        return found

    def comment(self, repo: Repository, comment: Comment) -> dict[str, Any]:
        """Return a comment."""
        api = f"{self._url}/api/repos/{repo.full_name}/issues"
        page = f"{self._url}/{repo.full_name}/issues/{comment.issue}"
        return {
            "id": comment.id, "node_id": f"IC_{comment.id}", "url": f"{api}/comments/{comment.id}",
            "html_url": f"{page}#issuecomment-{comment.id}", "body": comment.body, "user": self.user(comment.user),
            "created_at": comment.at, "updated_at": comment.at, "issue_url": f"{api}/{comment.issue}",
            "author_association": "CONTRIBUTOR",
        }  # fmt: skip

    def pull(self, repo: Repository, pull: Issue, head_sha: str, base_sha: str, *, mergeable: bool) -> dict[str, Any]:
        """Return a pull request."""
        owner = repo.full_name.split("/", 1)[0]
        api = f"{self._url}/api/repos/{repo.full_name}/pulls/{pull.number}"
        page = f"{self._url}/{repo.full_name}/pull/{pull.number}"
        whole = self.repository(repo)

        def end(ref: str, sha: str) -> dict[str, Any]:
            return {"label": f"{owner}:{ref}", "ref": ref, "sha": sha, "user": whole["owner"], "repo": whole}

        return {
            "id": repo.id * 1000 + pull.number, "node_id": f"PR_{repo.id}_{pull.number}", "url": api,
            "html_url": page, "diff_url": f"{page}.diff", "patch_url": f"{page}.patch",
            "issue_url": api.replace("/pulls/", "/issues/"), "number": pull.number, "state": pull.state,
            "locked": False, "title": pull.title, "user": self.user(pull.user), "body": pull.body,
            "labels": [self.label(name) for name in pull.labels], "milestone": None, "created_at": pull.at,
            "updated_at": pull.at, "closed_at": pull.at if pull.state == "closed" else None,
            "merged_at": pull.at if pull.merged_sha else None, "merge_commit_sha": pull.merged_sha,
            "head": end(pull.head or "", head_sha), "base": end(pull.base or "", base_sha), "draft": pull.draft,
            "merged": pull.merged_sha is not None, "mergeable": mergeable, "author_association": "CONTRIBUTOR",
        }  # fmt: skip

    def check(self, repo: Repository, run: CheckRun) -> dict[str, Any]:
        """Return a check run."""
        output = {"title": None, "summary": None, "text": None, **run.output}
        api = f"{self._url}/api/repos/{repo.full_name}/check-runs/{run.id}"
        return {
            "id": run.id, "node_id": f"CR_{run.id}", "name": run.name, "head_sha": run.head_sha,
            "external_id": run.external_id, "url": api, "html_url": f"{self._url}/{repo.full_name}/runs/{run.id}",
            "details_url": None, "status": run.status, "conclusion": run.conclusion, "started_at": run.at,
            "completed_at": run.at if run.status == "completed" else None, "check_suite": {"id": run.id},
            "output": {
                "title": output["title"], "summary": output["summary"], "text": output["text"],
                "annotations_count": len(run.output.get("annotations", [])), "annotations_url": f"{api}/annotations",
            },
            "app": {"id": self._app_id, "slug": "sluice", "name": "Sluice"}, "pull_requests": [],
        }  # fmt: skip

    def delivery(self, delivery: Delivery) -> dict[str, Any]:
        """Return a webhook delivery."""
        return {
            "id": delivery.id, "guid": delivery.guid, "delivered_at": delivery.at, "redelivery": False,
            "duration": 0.01, "status": delivery.status, "status_code": delivery.code, "event": delivery.event,
            "action": delivery.action or None, "installation_id": 1, "repository_id": None, "throttled_at": None,
        }  # fmt: skip
