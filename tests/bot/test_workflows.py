"""Whether workflows began on a pushed commit: seen through the forge's check suites, over a real mirror."""

from pathlib import Path

import pytest

from bot.forges.github import GitHub
from bot.forges.local import LocalForge
from bot.slots import git
from bot.work import workflows

REPO = "acme/app"
CI = "on: [push, pull_request]\njobs: {}\n"


async def note(forge: LocalForge, github: GitHub, folder: Path, sha: str) -> str:
    await git.ensure_mirror(folder)
    await git.fetch(folder, forge.git_url(REPO), token=await github.git_token(REPO))
    return await workflows.note(github, REPO, sha, folder, waits_s=(0.0,))


@pytest.mark.parametrize(
    ("files", "suite", "told"),
    [
        ({"a": "b"}, "", False),
        ({".github/workflows/ci.yml": CI}, "github-actions", False),
        ({".github/workflows/ci.yml": CI}, "", True),
        ({".github/workflows/ci.yml": CI}, "sluice", True),
        ({".github/workflows/night.yml": "on:\n  schedule: []\n"}, "", False),
    ],
    ids=["none there", "begun", "not begun", "only our own suite", "none for pushes"],
)
async def test_workflows_that_did_not_begin_are_told(
    forge: LocalForge, github: GitHub, tmp_path: Path, files: dict[str, str], suite: str, told: bool
) -> None:
    sha = forge.create_repository(REPO, files)
    if suite:
        forge.start_suite(REPO, sha, app=suite)
    said = await note(forge, github, tmp_path / "mirror.git", sha)
    assert said.startswith(f" No workflow has begun on `{sha[:10]}`") is told


async def test_a_forge_that_is_not_asked_with_success_claims_nothing(
    forge: LocalForge, github: GitHub, tmp_path: Path
) -> None:
    sha = forge.create_repository(REPO, {".github/workflows/ci.yml": CI})
    forge.fail_next("GET", "/check-suites", 403, times=9)
    assert await note(forge, github, tmp_path / "mirror.git", sha) == ""
