"""The fields of GitHub's webhook payloads that we read; whatever may be null or missing has a default."""

import msgspec

NOTHING = msgspec.Raw(b"")


class User(msgspec.Struct, frozen=True):
    """Who did something."""

    login: str | None = None
    id: int | None = None
    type: str | None = None


class App(msgspec.Struct, frozen=True):
    """An App, by its number."""

    id: int | None = None


class Label(msgspec.Struct, frozen=True):
    """A label."""

    name: str | None = None


class Repository(msgspec.Struct, frozen=True):
    """A repository."""

    full_name: str | None = None
    name: str | None = None
    owner: User | None = None


class Dependencies(msgspec.Struct, frozen=True):
    """How many issues block one."""

    blocked_by: int | None = None


class Parts(msgspec.Struct, frozen=True):
    """How many parts an issue has."""

    total: int | None = None
    completed: int | None = None


class Issue(msgspec.Struct, frozen=True):
    """An issue, or a pull request seen as one."""

    number: int | None = None
    title: str | None = None
    body: str | None = None
    state: str | None = None
    user: User | None = None
    labels: list[Label] | None = None
    updated_at: str | None = None
    pull_request: msgspec.Raw = NOTHING
    issue_dependencies_summary: Dependencies | None = None
    sub_issues_summary: Parts | None = None
    repository_url: str | None = None


class Comment(msgspec.Struct, frozen=True):
    """A comment, on an issue or on a line."""

    id: int | None = None
    body: str | None = None
    user: User | None = None
    path: str | None = None
    line: int | None = None
    performed_via_github_app: App | None = None


class End(msgspec.Struct, frozen=True):
    """One end of a pull request."""

    ref: str | None = None
    sha: str | None = None
    repo: Repository | None = None


class Pull(msgspec.Struct, frozen=True):
    """A pull request."""

    number: int | None = None
    user: User | None = None
    head: End | None = None
    base: End | None = None
    merged: bool | None = None
    updated_at: str | None = None


class Review(msgspec.Struct, frozen=True):
    """A review of a pull request."""

    id: int | None = None
    body: str | None = None
    state: str | None = None
    user: User | None = None
    performed_via_github_app: App | None = None


class Check(msgspec.Struct, frozen=True):
    """A check run, or a check suite."""

    name: str | None = None
    head_sha: str | None = None
    external_id: str | None = None
    app: App | None = None


class Was(msgspec.Struct, frozen=True, rename={"from_": "from"}):
    """What something was before."""

    from_: msgspec.Raw = NOTHING


class RepositoryName(msgspec.Struct, frozen=True):
    """What a repository was called before."""

    name: Was | None = None


class OwnerWas(msgspec.Struct, frozen=True):
    """Who owned it before."""

    user: User | None = None
    organization: User | None = None


class Owner(msgspec.Struct, frozen=True, rename={"from_": "from"}):
    """Who owned a repository before."""

    from_: OwnerWas | None = None


class Changes(msgspec.Struct, frozen=True):
    """What an edit changed."""

    title: Was | None = None
    body: Was | None = None
    repository: RepositoryName | None = None
    owner: Owner | None = None


class Installation(msgspec.Struct, frozen=True):
    """Where the App is installed."""

    id: int | None = None


class Payload(msgspec.Struct, frozen=True):
    """The outermost fields of a webhook; any may be missing or null."""

    action: str | None = None
    sender: User | None = None
    repository: Repository | None = None
    installation: Installation | None = None
    issue: Issue | None = None
    blocked_issue: Issue | None = None
    parent_issue: Issue | None = None
    label: Label | None = None
    comment: Comment | None = None
    pull_request: Pull | None = None
    review: Review | None = None
    check_run: Check | None = None
    check_suite: Check | None = None
    changes: Changes | None = None
    repositories: list[Repository] | None = None
    repositories_added: list[Repository] | None = None
    repositories_removed: list[Repository] | None = None
