"""What we read of the forge's answers: only the fields we need, tolerant of all others."""

import msgspec


class Label(msgspec.Struct, frozen=True):
    """A label."""

    name: str = ""


class User(msgspec.Struct, frozen=True):
    """Who did something."""

    login: str = ""
    id: int = 0
    type: str = "User"


class Issue(msgspec.Struct, frozen=True):
    """An issue, or a pull request seen as one."""

    number: int
    title: str = ""
    body: str | None = None
    state: str = "open"
    labels: list[Label] = []
    user: User | None = None
    updated_at: str = ""
    pull_request: dict[str, object] | None = None
    repository_url: str = ""

    def is_of(self, repo: str) -> bool:
        """Return whether the issue is one of this repository: dependencies may reach into others."""
        return not self.repository_url or self.repository_url.lower().endswith(f"/repos/{repo.lower()}")


class Comment(msgspec.Struct, frozen=True):
    """A comment on an issue."""

    id: int
    body: str | None = None
    user: User | None = None


class Ref(msgspec.Struct, frozen=True):
    """One end of a pull request."""

    ref: str = ""
    sha: str = ""


class AutoMerge(msgspec.Struct, frozen=True):
    """That a pull request merges by itself once all is there that its base requires."""

    enabled_by: User | None = None


class Pull(msgspec.Struct, frozen=True):
    """A pull request."""

    number: int
    state: str = "open"
    merged: bool = False
    mergeable: bool | None = None
    mergeable_state: str = ""  # clean, unstable, blocked, behind, dirty, draft, unknown
    node_id: str = ""
    head: Ref = Ref()
    base: Ref = Ref()
    title: str = ""
    body: str | None = None
    draft: bool = False
    merge_commit_sha: str | None = None
    auto_merge: AutoMerge | None = None


class CheckRun(msgspec.Struct, frozen=True):
    """A check run."""

    id: int
    name: str = ""
    external_id: str | None = None
    status: str = ""
    conclusion: str | None = None


class CheckRuns(msgspec.Struct, frozen=True):
    """A page of check runs."""

    check_runs: list[CheckRun] = []


class Slug(msgspec.Struct, frozen=True):
    """The name of an App."""

    slug: str = ""


class CheckSuite(msgspec.Struct, frozen=True):
    """What one App checks of a commit."""

    id: int
    status: str | None = None
    conclusion: str | None = None
    app: Slug | None = None


class CheckSuites(msgspec.Struct, frozen=True):
    """A page of check suites."""

    check_suites: list[CheckSuite] = []


class Delivery(msgspec.Struct, frozen=True):
    """One try at delivering a webhook."""

    id: int
    guid: str
    status: str = ""
    status_code: int = 0
    event: str = ""
    action: str | None = None
    redelivery: bool = False
    delivered_at: str = ""


class HookConfig(msgspec.Struct, frozen=True):
    """Where a webhook leads."""

    url: str = ""


class Hook(msgspec.Struct, frozen=True):
    """A webhook of a repository."""

    id: int
    config: HookConfig = HookConfig()


class Merged(msgspec.Struct, frozen=True):
    """The pull request is merged."""

    sha: str = ""


class HeadMoved(msgspec.Struct, frozen=True):
    """The head is no longer the commit that was to be merged."""


class NotMergeable(msgspec.Struct, frozen=True):
    """The forge does not allow the merge."""

    reason: str = ""


class AppInfo(msgspec.Struct, frozen=True):
    """What the App is: its name, what it asks to be allowed, what it wants to hear of."""

    slug: str = ""
    permissions: dict[str, str] = {}
    events: list[str] = []
    html_url: str = ""


class RepositoryName(msgspec.Struct, frozen=True):
    """A repository, by name."""

    full_name: str = ""


class Repositories(msgspec.Struct, frozen=True):
    """A page of repositories."""

    repositories: list[RepositoryName] = []
