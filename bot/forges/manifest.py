"""Making a GitHub App in one click: the manifest that GitHub is given, and what it gives back.

https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
"""

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote

import httpx
import msgspec

from bot.forges.auth import read_answer
from bot.forges.errors import Refused, Unreachable
from bot.forges.transport import HEADERS, message_of

PERMISSIONS: Mapping[str, str] = {
    "metadata": "read",  # who may do what
    "contents": "write",  # branches, merging
    "issues": "write",  # comments, labels
    "pull_requests": "write",
    "checks": "write",
}
EVENTS = (
    "issues", "issue_comment", "pull_request", "pull_request_review", "pull_request_review_comment", "check_run",
    "check_suite", "repository", "issue_dependencies", "sub_issues",
)  # fmt: skip

NOWHERE = "https://example.invalid/webhook"  # an App whose deliveries are pulled: without a webhook there would be none


class NewApp(msgspec.Struct, frozen=True):
    """An App that was just made; its key is shown this once."""

    id: int
    slug: str
    pem: str
    html_url: str = ""
    webhook_secret: str | None = None

    def __repr__(self) -> str:
        return f"NewApp(id={self.id}, slug={self.slug!r})"

    @property
    def install_url(self) -> str:
        """Return where a repository's owner installs it."""
        return f"{self.html_url}/installations/new"


def manifest(
    name: str, *, url: str, hook_url: str, redirect_url: str, is_public: bool = False, workflows: bool = False
) -> dict[str, Any]:
    """Return the manifest of an App with exactly the permissions that the bot uses."""
    return {
        "name": name, "url": url, "redirect_url": redirect_url, "public": is_public,
        "hook_attributes": {"url": hook_url, "active": True},
        "default_permissions": {**PERMISSIONS, **({"workflows": "write"} if workflows else {})},
        "default_events": list(EVENTS),
    }  # fmt: skip


def registration_url(git_url: str, *, state: str, organization: str = "") -> str:
    """Return where the manifest is posted to, as the form field `manifest`."""
    where = f"/organizations/{quote(organization)}" if organization else ""
    return f"{git_url.rstrip('/')}{where}/settings/apps/new?state={quote(state, safe='')}"


async def convert(http: httpx.AsyncClient, *, api_url: str, code: str) -> NewApp:
    """Exchange the code that the browser came back with, good once and for an hour, for the App."""
    path = f"/app-manifests/{quote(code, safe='')}/conversions"
    try:
        answer = await http.post(api_url.rstrip("/") + path, headers=HEADERS)
    except httpx.HTTPError as error:
        raise Unreachable(f"POST {path}: {type(error).__name__}: the App may exist now; its settings on the forge tell"
                          ) from error  # fmt: skip
    if answer.status_code != 201:
        raise Refused(answer.status_code, f"the code was not taken ({message_of(answer)}); start the set-up once more")
    return cast("NewApp", read_answer(answer, NewApp))
