"""Look at the App from the forge's side: permissions, events, deliveries, installations, issue templates."""

import re
from collections.abc import Collection, Mapping, Sequence

import yaml

from bot.forges.answers import AppInfo, Delivery
from bot.forges.auth import Installation, has
from bot.forges.errors import ForgeError, Refused
from bot.forges.github import GitHub
from bot.forges.manifest import EVENTS, NOWHERE, PERMISSIONS
from bot.setup.finding import Finding

TEMPLATES = ".github/ISSUE_TEMPLATE"
MOST_REPOSITORIES = 20
MOST_TEMPLATES = 20
LATEST = 20  # deliveries that tell whether the webhook is reached
MENDS: Mapping[int, str] = {  # what the bot's own answers to a delivery mean
    400: "set the webhook's content type to application/json",
    401: "give BOT_WEBHOOK_SECRET the webhook's secret, or `bot setup --new-secret`; where they are one, something "
         "on the way (a tunnel) writes the JSON anew, and nothing can be verified",
    404: "let the address end in /webhook, and start `bot serve` without --pull",
    503: "look at the bot's log: its database could not store the delivery",
}  # fmt: skip
_FRONT = re.compile(r"\A---\s*\n(.*?)\n---\s*(?:\n|\Z)", re.DOTALL)


async def examine(forge: GitHub, *, label: str, pulls: bool) -> list[Finding]:
    """Return what the forge knows of us; `label` starts work, `pulls` says that no webhook has to reach us."""
    if not forge.is_app:
        return [Finding("App", True, "a personal token stands for one; a commit status stands for the check run")]
    try:
        app = await forge.app()
    except ForgeError as error:
        return [Finding("App", False, str(error), "check BOT_APP_ID, the private key, BOT_API_URL and the clock")]
    findings = [Finding("App", True, f"signs in as {app.slug}"), _permissions(app), _events(app)]
    findings += [await _webhook(forge, pulls=pulls)]
    try:
        installations = await forge.installations()
        names = await forge.repositories()
    except ForgeError as error:
        return [*findings, Finding("installed", False, str(error), "try again when the forge answers")]
    findings += _installed(app, installations, names)
    for name in names[:MOST_REPOSITORIES]:
        findings += await _repository(forge, name, label)
    return findings


def _permissions(app: AppInfo) -> Finding:
    lacking = [f"{name}: {level}" for name, level in PERMISSIONS.items() if not has(app.permissions, name, level)]
    settings = f"{app.html_url or 'the App'}, Permissions & events"
    said = f"the App does not ask for {', '.join(lacking)}" if lacking else "the App asks for all that is needed"
    return Finding("permissions", not lacking, said, f"add them under {settings}; each owner then has to accept")


def _events(app: AppInfo) -> Finding:
    lacking = [name for name in EVENTS if name not in app.events]
    said = f"the App does not subscribe to {', '.join(lacking)}" if lacking else "the App subscribes to all"
    return Finding("events", not lacking, said, "tick them under Permissions & events of the App's settings")


async def _webhook(forge: GitHub, *, pulls: bool) -> Finding:
    try:
        url, listed = await forge.hook_url(), await forge.deliveries(most_pages=1)
    except ForgeError as error:
        return Finding("webhook", False, str(error), "try again when the forge answers", needed=not pulls)
    if url == NOWHERE:
        return Finding("webhook", True, "the App has no public address: start `bot serve --pull`")
    ok, said = reached(listed[:LATEST])
    way = f"let {url or 'a public address'} reach BOT_HOST:BOT_PORT/webhook with BOT_WEBHOOK_SECRET; or `--pull`"
    mend = MENDS.get(listed[0].status_code, way) if listed else way
    return Finding("webhook", ok, f"{url or 'no address'}: {said}", mend, needed=not pulls)


def reached(latest: Sequence[Delivery]) -> tuple[bool, str]:
    """Return whether the newest delivery came through, and what can be told of the latest ones."""
    if not latest:
        return True, "nothing was delivered yet"
    well = sum(delivery.status == "OK" for delivery in latest)
    newest = latest[0]
    why = "" if newest.status == "OK" else f"; the newest ({newest.event}): {newest.status or 'no answer yet'}"
    return newest.status == "OK", f"{well} of the latest {len(latest)} deliveries came through{why}"


def _installed(app: AppInfo, installations: Sequence[Installation], names: Sequence[str]) -> list[Finding]:
    if not installations:
        return [Finding("installed", False, "nowhere", f"install it: {app.html_url}/installations/new")]
    findings = [Finding("installed", bool(names), f"{len(names)} repositories", "give it repositories where it is")]
    for one in installations:
        who = one.account.login if one.account else str(one.id)
        lacking = [f"{n}: {lv}" for n, lv in PERMISSIONS.items() if not has(one.permissions, n, lv)]
        if one.suspended_at is not None:
            findings.append(Finding(who, False, "the installation is suspended", "its owner lifts that"))
        elif lacking:
            said = f"has not granted {', '.join(lacking)}"
            mend = "its owner accepts them under Settings → GitHub Apps → Configure"
            findings.append(Finding(who, False, said, mend, needed=False))
        else:
            findings.append(Finding(who, True, "has granted all that is needed"))
    return findings


async def _repository(forge: GitHub, name: str, label: str) -> list[Finding]:
    """Say which issue templates put the trigger label on: with them every stranger's issue asks for work."""
    try:
        branch = await forge.default_branch(name)
        paths = [
            path for path in await forge.folder(name, TEMPLATES, branch) if path.endswith((".yml", ".yaml", ".md"))
        ]
        texts = {path: await forge.file(name, path, branch) for path in paths[:MOST_TEMPLATES]}
    except Refused as refused:
        return [Finding(name, False, str(refused), "its owner gives the App this repository", needed=False)]
    bring = [path for path, text in texts.items() if text and label.casefold() in labels_of(path, text)]
    if not bring:
        return []
    said = f"{', '.join(bring)} puts `{label}` on: whoever opens such an issue asks for work, and an outsider's waits"
    return [Finding(name, False, said, "take the label out of the template, or set labels.trigger", needed=False)]


def labels_of(path: str, text: bytes) -> Collection[str]:
    """Return the labels that an issue form or template puts on, in lower case; what cannot be read puts on none."""
    try:
        words = text[:65_536].decode()
        front = _FRONT.match(words)
        found = yaml.safe_load((front[1] if front else "") if path.endswith(".md") else words)
    except (UnicodeDecodeError, yaml.YAMLError):
        return ()
    labels = found.get("labels") if isinstance(found, Mapping) else None
    names = labels.split(",") if isinstance(labels, str) else labels if isinstance(labels, list) else []
    return {str(name).strip().casefold() for name in names}
