"""The many addresses that GitHub's JSON carries along."""

USER = ("followers", "following{/other_user}", "gists{/gist_id}", "starred{/owner}{/repo}", "subscriptions", "repos",
        "events{/privacy}", "received_events")  # fmt: skip
REPOSITORY = {
    "archive": "{archive_format}{/ref}", "assignees": "assignees{/user}", "blobs": "git/blobs{/sha}",
    "branches": "branches{/branch}", "collaborators": "collaborators{/collaborator}", "comments": "comments{/number}",
    "commits": "commits{/sha}", "compare": "compare/{base}...{head}", "contents": "contents/{+path}",
    "contributors": "contributors", "deployments": "deployments", "downloads": "downloads", "events": "events",
    "forks": "forks", "git_commits": "git/commits{/sha}", "git_refs": "git/refs{/sha}", "git_tags": "git/tags{/sha}",
    "hooks": "hooks", "issue_comment": "issues/comments{/number}", "issue_events": "issues/events{/number}",
    "issues": "issues{/number}", "keys": "keys{/key_id}", "labels": "labels{/name}", "languages": "languages",
    "merges": "merges", "milestones": "milestones{/number}", "notifications": "notifications{?since,all,participating}",
    "pulls": "pulls{/number}", "releases": "releases{/id}", "stargazers": "stargazers", "statuses": "statuses/{sha}",
    "subscribers": "subscribers", "subscription": "subscription", "tags": "tags", "teams": "teams",
    "trees": "git/trees{/sha}",
}  # fmt: skip


def user_links(api: str) -> dict[str, str]:
    """Return the addresses of a user."""
    links = {f"{name.split('{')[0]}_url": f"{api}/{name}" for name in USER}
    return {**links, "organizations_url": f"{api}/orgs"}


def repository_links(api: str) -> dict[str, str]:
    """Return the addresses of a repository."""
    return {f"{name}_url": f"{api}/{rest}" for name, rest in REPOSITORY.items()}


def pull_links(api: str, page: str, number: int, head_sha: str) -> dict[str, object]:
    """Return the addresses of a pull request."""
    pull, issue = f"{api}/pulls/{number}", f"{api}/issues/{number}"
    links = {
        "url": pull, "issue_url": issue, "comments_url": f"{issue}/comments", "commits_url": f"{pull}/commits",
        "review_comments_url": f"{pull}/comments", "review_comment_url": f"{api}/pulls/comments{{/number}}",
        "statuses_url": f"{api}/statuses/{head_sha}",
    }  # fmt: skip
    names = {
        "self": pull, "html": page, "issue": issue, "comments": links["comments_url"], "commits": links["commits_url"],
        "review_comments": links["review_comments_url"], "review_comment": links["review_comment_url"],
        "statuses": links["statuses_url"],
    }  # fmt: skip
    return {**links, "_links": {name: {"href": link} for name, link in names.items()}}
