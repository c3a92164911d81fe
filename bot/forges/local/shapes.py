"""Our state in GitHub's JSON: every field that its schemas ask for, with values that follow from the state."""

import base64
from typing import Any

from bot.forges import manifest
from bot.forges.local.links import pull_links, repository_links, user_links
from bot.forges.local.state import CheckRun, CheckSuite, Comment, Delivery, Issue, Repository, User

Shape = dict[str, Any]
LEGACY = {"maintain": "write", "triage": "read"}
EVENTS = list(manifest.EVENTS)


class Shapes:
    """Renders things as GitHub's REST API and webhooks do."""

    def __init__(self, url: str, app_id: int) -> None:
        self._url = url
        self._app_id = app_id

    def api(self, repo: Repository) -> str:
        """Return the address of a repository's API."""
        return f"{self._url}/api/repos/{repo.full_name}"

    def user(self, user: User) -> Shape:
        """Return a simple user."""
        api = f"{self._url}/api/users/{user.login}"
        return {
            "login": user.login, "id": user.id, "node_id": f"U_{user.id}", "avatar_url": f"{self._url}/{user.id}.png",
            "gravatar_id": "", "url": api, "html_url": f"{self._url}/{user.login}", "type": user.type,
            "site_admin": False, **user_links(api),
        }  # fmt: skip

    def private_user(self, user: User) -> Shape:
        """Return a user, as they see themselves."""
        nothing = dict.fromkeys(("name", "company", "blog", "location", "email", "hireable", "bio"))
        counts = dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0)
        return {**self.user(user), **nothing, **counts, "created_at": "2026-01-01T00:00:00Z",
                "updated_at": "2026-01-01T00:00:00Z"}  # fmt: skip

    def organization(self, login: str) -> Shape:
        """Return an organisation."""
        api = f"{self._url}/api/orgs/{login}"
        return {
            "login": login, "id": 1, "node_id": "O_1", "url": api, "repos_url": f"{api}/repos",
            "events_url": f"{api}/events", "hooks_url": f"{api}/hooks", "issues_url": f"{api}/issues",
            "members_url": f"{api}/members{{/member}}", "public_members_url": f"{api}/public_members{{/member}}",
            "avatar_url": "", "description": None,
        }  # fmt: skip

    def permission(self, user: User, role: str) -> Shape:
        """Return what a user may do."""
        legacy = LEGACY.get(role, role)
        return {"permission": legacy, "role_name": role, "user": {**self.user(user), "role_name": role}}

    def repository(self, repo: Repository) -> Shape:
        """Return a repository, as webhooks and pull requests carry it."""
        owner, name = repo.full_name.split("/", 1)
        api = f"{self._url}/api/repos/{repo.full_name}"
        open_issues = sum(1 for issue in list(repo.issues.values()) if issue.state == "open")
        return {
            "id": repo.id, "node_id": f"R_{repo.id}", "name": name, "full_name": repo.full_name, "private": False,
            "owner": self.user(User(repo.id + 1_000_000, owner, "Organization")),
            "html_url": f"{self._url}/{repo.full_name}", "description": None, "fork": bool(repo.fork_of), "url": api,
            "default_branch": repo.default_branch, "clone_url": f"{self._url}/{repo.full_name}.git",
            "git_url": f"git://127.0.0.1/{repo.full_name}.git", "ssh_url": f"git@127.0.0.1:{repo.full_name}.git",
            "svn_url": f"{self._url}/{repo.full_name}", "mirror_url": None, "archived": False, "disabled": False,
            "visibility": "public", "homepage": None, "language": None, "license": None, "topics": [],
            "size": repo.size_kb,
            "has_issues": True, "has_projects": False, "has_wiki": False, "has_pages": False, "has_downloads": False,
            "has_discussions": False, "forks": 0, "forks_count": 0, "stargazers_count": 0, "watchers": 0,
            "watchers_count": 0, "open_issues": open_issues, "open_issues_count": open_issues, "is_template": False,
            "allow_forking": True, "web_commit_signoff_required": False, "created_at": repo.at, "updated_at": repo.at,
            "pushed_at": repo.at, **repository_links(api),
        }  # fmt: skip

    def full_repository(self, repo: Repository) -> Shape:
        """Return a repository, as asked for by itself."""
        merging = {f"allow_{method}": True for method in ("merge_commit", "squash_merge", "rebase_merge")}
        return {**self.repository(repo), **merging, "allow_auto_merge": False, "network_count": 0,
                "subscribers_count": 0}  # fmt: skip

    def label(self, name: str) -> Shape:
        """Return a label."""
        number = sum(name.encode())
        return {"id": number, "node_id": f"L_{number}", "url": f"{self._url}/api/labels/{number}", "name": name,
                "description": None, "color": "ededed", "default": False}  # fmt: skip

    def issue(self, repo: Repository, issue: Issue) -> Shape:
        """Return an issue."""
        api = f"{self._url}/api/repos/{repo.full_name}/issues/{issue.number}"
        found: Shape = {
            "id": repo.id * 1000 + issue.number, "node_id": f"I_{repo.id}_{issue.number}", "url": api,
            "repository_url": f"{self._url}/api/repos/{repo.full_name}", "labels_url": f"{api}/labels{{/name}}",
            "comments_url": f"{api}/comments", "events_url": f"{api}/events",
            "html_url": f"{self._url}/{repo.full_name}/issues/{issue.number}", "number": issue.number,
            "state": issue.state, "title": issue.title, "body": issue.body, "user": self.user(issue.user),
            "labels": [self.label(name) for name in issue.labels], "assignee": None, "assignees": [],
            "milestone": None, "locked": False, "active_lock_reason": None, "comments": len(repo.on(issue.number)),
            "closed_at": issue.closed_at, "created_at": issue.at, "updated_at": issue.changed_at or issue.at,
            "author_association": "CONTRIBUTOR", "reactions": _rollup(api, issue.reactions), "state_reason": None,
            "performed_via_github_app": None, "timeline_url": f"{api}/timeline",
        }  # fmt: skip
        closed = {n for n, other in repo.issues.items() if other.state == "closed"}
        blockers, parts = issue.blocked_by, issue.parts
        blocking = [n for n, other in repo.issues.items() if issue.number in other.blocked_by]
        found["issue_dependencies_summary"] = {
            "blocked_by": len(set(blockers) - closed), "total_blocked_by": len(blockers),
            "blocking": 0 if issue.state == "closed" else len(set(blocking) - closed), "total_blocking": len(blocking),
        }  # fmt: skip
        done = len(closed.intersection(parts))
        percent = 100 * done // len(parts) if parts else 0
        found["sub_issues_summary"] = {"total": len(parts), "completed": done, "percent_completed": percent}
        if issue.head is not None:
            pull = f"{self._url}/{repo.full_name}/pull/{issue.number}"
            found["html_url"] = pull
            found["pull_request"] = {
                "url": f"{self._url}/api/repos/{repo.full_name}/pulls/{issue.number}", "html_url": pull,
                "diff_url": f"{pull}.diff", "patch_url": f"{pull}.patch",
            }  # fmt: skip
        return found

    def comment(self, repo: Repository, comment: Comment) -> Shape:
        """Return a comment."""
        api = f"{self._url}/api/repos/{repo.full_name}/issues"
        page = f"{self._url}/{repo.full_name}/issues/{comment.issue}"
        return {
            "id": comment.id, "node_id": f"IC_{comment.id}", "url": f"{api}/comments/{comment.id}",
            "html_url": f"{page}#issuecomment-{comment.id}", "body": comment.body, "user": self.user(comment.user),
            "created_at": comment.at, "updated_at": comment.at, "issue_url": f"{api}/{comment.issue}",
            "author_association": "CONTRIBUTOR", "performed_via_github_app": None,
            "reactions": _rollup(f"{api}/comments/{comment.id}", comment.reactions),
        }  # fmt: skip

    def reaction(self, user: User, content: str) -> Shape:
        """Return a reaction."""
        return {"id": user.id, "node_id": f"RE_{user.id}", "user": self.user(user), "content": content,
                "created_at": "2026-01-01T00:00:00Z"}  # fmt: skip

    def pull(
        self, repo: Repository, pull: Issue, head_sha: str, base_sha: str, *, mergeable: bool, is_blocked: bool,
        is_behind: bool,
    ) -> Shape:  # fmt: skip
        """Return a pull request, as asked for by itself."""
        states = (("dirty", not mergeable), ("blocked", is_blocked), ("behind", is_behind), ("clean", True))
        return {
            **self._pull(repo, pull, head_sha, base_sha), "merged": pull.merged_sha is not None,
            "mergeable": mergeable, "rebaseable": mergeable,
            "mergeable_state": next(state for state, holds in states if holds),
            "merged_by": self.user(pull.user) if pull.merged_sha else None, "comments": len(repo.on(pull.number)),
            "review_comments": 0, "maintainer_can_modify": False, "commits": 1, "additions": 1, "deletions": 1,
            "changed_files": 1,
        }  # fmt: skip

    def pull_row(self, shown: Shape) -> Shape:
        """Return a pull request, as lists carry it."""
        whole = ("merged", "mergeable", "mergeable_state", "rebaseable", "merged_by", "comments", "review_comments",
                 "maintainer_can_modify", "commits", "additions", "deletions", "changed_files")  # fmt: skip
        return {name: value for name, value in shown.items() if name not in whole}

    def _pull(self, repo: Repository, pull: Issue, head_sha: str, base_sha: str) -> Shape:
        api = f"{self._url}/api/repos/{repo.full_name}"
        page = f"{self._url}/{repo.full_name}/pull/{pull.number}"
        fork = Repository(repo.id + 500_000, pull.head_repository, fork_of=repo.full_name)
        shown = self.full_repository(repo)
        later = pull.merges_later and {
            "enabled_by": self.user(pull.merges_later[0]), "merge_method": pull.merges_later[1],
            "commit_title": pull.title, "commit_message": "",
        }  # fmt: skip

        def end(ref: str, sha: str, fork: Repository | None = None) -> Shape:
            whose = self.full_repository(fork) if fork else shown
            return {"label": f"{whose['owner']['login']}:{ref}", "ref": ref, "sha": sha, "user": whose["owner"],
                    "repo": whose}  # fmt: skip

        return {
            "id": repo.id * 1000 + pull.number, "node_id": f"PR_{repo.id}_{pull.number}", "html_url": page,
            "diff_url": f"{page}.diff", "patch_url": f"{page}.patch", "number": pull.number, "state": pull.state,
            "locked": False, "active_lock_reason": None, "title": pull.title, "user": self.user(pull.user),
            "body": pull.body or None, "labels": [self.label(name) for name in pull.labels], "milestone": None,
            "created_at": pull.at, "updated_at": pull.closed_at or pull.at, "closed_at": pull.closed_at,
            "merged_at": pull.closed_at if pull.merged_sha else None, "merge_commit_sha": pull.merged_sha,
            "assignee": None, "assignees": [], "requested_reviewers": [], "requested_teams": [], "auto_merge": later,
            "head": end(pull.head or "", head_sha, fork if pull.head_repository else None),
            "base": end(pull.base or "", base_sha), "draft": pull.draft,
            "author_association": "CONTRIBUTOR", **pull_links(api, page, pull.number, head_sha),
        }  # fmt: skip

    def check(self, repo: Repository, run: CheckRun) -> Shape:
        """Return a check run."""
        output = {"title": None, "summary": None, "text": None, **run.output}
        api = f"{self._url}/api/repos/{repo.full_name}/check-runs/{run.id}"
        page = f"{self._url}/{repo.full_name}/runs/{run.id}"
        return {
            "id": run.id, "node_id": f"CR_{run.id}", "name": run.name, "head_sha": run.head_sha,
            "external_id": run.external_id, "url": api, "html_url": page, "details_url": run.details_url or page,
            "status": run.status, "conclusion": run.conclusion, "started_at": run.at,
            "completed_at": run.completed_at, "check_suite": {"id": run.id},
            "output": {
                "title": output["title"], "summary": output["summary"], "text": output["text"],
                "annotations_count": len(run.output.get("annotations", [])), "annotations_url": f"{api}/annotations",
            },
            "app": self.app({}), "pull_requests": [],
        }  # fmt: skip

    def suite(self, repo: Repository, suite: CheckSuite) -> Shape:
        """Return a check suite."""
        api = f"{self._url}/api/repos/{repo.full_name}/check-suites/{suite.id}"
        commit = {"id": suite.head_sha, "tree_id": suite.head_sha, "message": "", "timestamp": repo.at,
                  "author": None, "committer": None}  # fmt: skip
        return {
            "id": suite.id, "node_id": f"CS_{suite.id}", "head_branch": None, "head_sha": suite.head_sha,
            "status": suite.status, "conclusion": suite.conclusion, "url": api, "before": None, "after": None,
            "pull_requests": [], "app": {**self.app({}), "slug": suite.app}, "created_at": repo.at,
            "updated_at": repo.at, "latest_check_runs_count": 0, "check_runs_url": f"{api}/check-runs",
            "head_commit": commit, "repository": self.repository(repo),
        }  # fmt: skip

    def status(self, repo: Repository, user: User, sha: str, given: Shape, number: int) -> Shape:
        """Return a commit status."""
        return {
            "id": number, "node_id": f"SC_{number}", "url": f"{self._url}/api/repos/{repo.full_name}/statuses/{sha}",
            "state": given.get("state"), "description": given.get("description"), "avatar_url": None,
            "target_url": given.get("target_url"), "context": given.get("context", "default"),
            "created_at": repo.at, "updated_at": repo.at, "creator": self.user(user),
        }  # fmt: skip

    def ref(self, repo: Repository, branch: str, sha: str) -> Shape:
        """Return a git reference."""
        git = f"{self._url}/api/repos/{repo.full_name}/git"
        found = {"type": "commit", "sha": sha, "url": f"{git}/commits/{sha}"}
        return {"ref": f"refs/heads/{branch}", "node_id": f"REF_{branch}", "url": f"{git}/refs/heads/{branch}",
                "object": found}  # fmt: skip

    def content(self, repo: Repository, path: str, ref: str, found: bytes) -> Shape:
        """Return a file with its bytes in base64."""
        api, page = f"{self._url}/api/repos/{repo.full_name}/contents/{path}?ref={ref}", f"{self._url}/{repo.full_name}"
        links = {"self": api, "git": api, "html": page}
        return {
            "type": "file", "encoding": "base64", "size": len(found), "name": path.rsplit("/", 1)[-1], "path": path,
            "content": base64.encodebytes(found).decode(), "sha": "0" * 40, "url": api, "git_url": api,
            "html_url": page, "download_url": page, "_links": links,
        }  # fmt: skip

    def entry(self, repo: Repository, path: str, ref: str) -> Shape:
        """Return a file as the list of its folder shows it."""
        shown = self.content(repo, path, ref, b"")
        return {name: value for name, value in shown.items() if name not in ("content", "encoding")}

    def app(self, permissions: dict[str, str]) -> Shape:
        """Return the App."""
        return {
            "id": self._app_id, "node_id": f"A_{self._app_id}", "slug": "sluice", "client_id": f"Iv1.{self._app_id}",
            "name": "Sluice", "description": None, "external_url": self._url, "html_url": f"{self._url}/apps/sluice",
            "owner": self.user(User(1, "operator")), "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-01T00:00:00Z", "permissions": permissions, "events": EVENTS,
        }  # fmt: skip

    def installation(self, permissions: dict[str, str]) -> Shape:
        """Return the App's one installation."""
        api = f"{self._url}/api/app/installations/1"
        return {
            "id": 1, "app_id": self._app_id, "app_slug": "sluice", "target_id": 1, "target_type": "Organization",
            "account": self.user(User(1, "operator")), "repository_selection": "all", "events": EVENTS,
            "access_tokens_url": f"{api}/access_tokens",
            "repositories_url": f"{self._url}/api/installation/repositories",
            "html_url": f"{self._url}/settings/installations/1", "permissions": permissions, "single_file_name": None,
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "suspended_by": None,
            "suspended_at": None,
        }  # fmt: skip

    def delivery(self, delivery: Delivery) -> Shape:
        """Return a webhook delivery."""
        return {
            "id": delivery.id, "guid": delivery.guid, "delivered_at": delivery.at, "redelivery": delivery.redelivery,
            "duration": 0.01, "status": delivery.status, "status_code": delivery.code, "event": delivery.event,
            "action": delivery.action or None, "installation_id": 1, "repository_id": None, "throttled_at": None,
        }  # fmt: skip


def _rollup(api: str, reactions: list[tuple[str, str]]) -> Shape:
    names = ("+1", "-1", "laugh", "confused", "heart", "hooray", "eyes", "rocket")
    counts = {name: sum(1 for _, content in reactions if content == name) for name in names}
    return {"url": f"{api}/reactions", "total_count": len(reactions), **counts}
