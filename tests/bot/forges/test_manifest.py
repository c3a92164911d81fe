"""An App made in one click on the local forge."""

import json
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from bot.forges import manifest
from bot.forges.errors import Refused
from bot.forges.local import LocalForge
from tests.plain import PLAIN

BACK = "http://127.0.0.1:9/setup/done"


async def click(http: httpx.AsyncClient, forge: LocalForge, state: str) -> dict[str, list[str]]:
    """Do as a browser does: post the manifest, press the button, come back."""
    wanted = manifest.manifest("Sluice of acme", url="http://h", hook_url="http://h/webhook", redirect_url=BACK)
    form = {"manifest": json.dumps(wanted), "state": state}
    page = await http.post(manifest.registration_url(forge.url, state=state), data={"manifest": form["manifest"]})
    assert "Create Sluice of acme" in page.text
    back = await http.post(f"{forge.url}/settings/apps/create", data=form)
    return parse_qs(urlsplit(back.headers["location"]).query)


async def test_the_app_comes_back_with_its_key_and_exactly_what_the_bot_needs(forge: LocalForge) -> None:
    async with httpx.AsyncClient(verify=PLAIN) as http:
        query = await click(http, forge, "our state/1")
        made = await manifest.convert(http, api_url=forge.api_url, code=query["code"][0])
    assert (query["state"], made.pem, made.webhook_secret, forge.state.permissions, forge.hooks.target) == (
        ["our state/1"], forge.private_key, forge.state.secret, dict(manifest.PERMISSIONS), "http://h/webhook",
    )  # fmt: skip


async def test_a_code_is_good_once(forge: LocalForge) -> None:
    async with httpx.AsyncClient(verify=PLAIN) as http:
        query = await click(http, forge, "s")
        await manifest.convert(http, api_url=forge.api_url, code=query["code"][0])
        with pytest.raises(Refused, match="start the set-up once more"):
            await manifest.convert(http, api_url=forge.api_url, code=query["code"][0])


def test_an_organization_registers_at_its_own_page() -> None:
    url = manifest.registration_url("https://github.com/", state="a b&c", organization="acme")
    assert url == "https://github.com/organizations/acme/settings/apps/new?state=a%20b%26c"
