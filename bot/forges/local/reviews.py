"""Reviews of pull requests in GitHub's JSON, and requests to check again."""

from typing import Any

from bot.forges.local.state import CheckRun, Repository

Shape = dict[str, Any]


def review_of(pull: Shape, user: Shape, number: int, *, body: str, state: str, at: str) -> Shape:
    """Return a submitted review, as a webhook carries it."""
    page = f"{pull['html_url']}#pullrequestreview-{number}"
    return {
        "id": number, "node_id": f"PRR_{number}", "user": user, "body": body, "commit_id": pull["head"]["sha"],
        "submitted_at": at, "state": state, "html_url": page, "pull_request_url": pull["url"],
        "author_association": "CONTRIBUTOR",
        "_links": {"html": {"href": page}, "pull_request": {"href": pull["url"]}},
    }  # fmt: skip


def review_comment_of(pull: Shape, user: Shape, number: int, *, body: str, path: str, line: int, at: str) -> Shape:
    """Return a comment on a line, as a webhook carries it."""
    page, sha = f"{pull['html_url']}#discussion_r{number}", pull["head"]["sha"]
    api = f"{pull['url'].rsplit('/', 1)[0]}/comments/{number}"
    counts = dict.fromkeys(("+1", "-1", "laugh", "confused", "heart", "hooray", "eyes", "rocket"), 0)
    return {
        "id": number, "node_id": f"PRRC_{number}", "url": api, "pull_request_review_id": number, "diff_hunk": "@@",
        "path": path, "position": 1, "original_position": 1, "commit_id": sha, "original_commit_id": sha,
        "user": user, "body": body, "created_at": at, "updated_at": at, "html_url": page,
        "pull_request_url": pull["url"], "author_association": "CONTRIBUTOR", "line": line, "original_line": line,
        "start_line": None, "original_start_line": None, "side": "RIGHT", "start_side": None, "subject_type": "line",
        "reactions": {"url": f"{api}/reactions", "total_count": 0, **counts},
        "_links": {"self": {"href": api}, "html": {"href": page}, "pull_request": {"href": pull["url"]}},
    }  # fmt: skip


def suite_of(run: CheckRun, app: Shape, repo: Repository, url: str) -> Shape:
    """Return the check suite that a check run's event carries."""
    return {
        "id": run.id, "node_id": f"CS_{run.id}", "head_branch": None, "head_sha": run.head_sha, "status": run.status,
        "conclusion": run.conclusion, "url": f"{url}/api/repos/{repo.full_name}/check-suites/{run.id}",
        "before": None, "after": None, "pull_requests": [], "app": app, "created_at": run.at, "updated_at": run.at,
    }  # fmt: skip
