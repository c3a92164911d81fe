"""What a push and a fetch come to when the forge's side of git fails: waited for, renewed, or told with what to mend."""

import os
import time
from collections.abc import Awaitable
from pathlib import Path

import pytest

from bot.forges.github import GitHub
from bot.forges.local import LocalForge
from bot.slots import git
from bot.slots.remote import Away, NoAccess, TokenSpent, trouble
from tests.bot.slots.origin import commit, make_origin, run
from tests.bot.slots.smart_http import TOKEN, serving

REPO = "acme/app"
FAULTS: list[tuple[int | str, type[Exception]]] = [
    (401, TokenSpent), (403, NoAccess), (404, NoAccess), (409, NoAccess), (410, NoAccess), (422, NoAccess),
    (429, Away), (500, Away), (502, Away), ("cut", Away),
]  # fmt: skip


@pytest.fixture
async def mirror(forge: LocalForge, github: GitHub, tmp_path: Path) -> Path:
    """Return a mirror that has a commit to push."""
    forge.create_repository(REPO, {"a.txt": "one\n"})
    forge.commit(REPO, {"a.txt": "two\n"}, "Change", branch="theirs")
    await git.ensure_mirror(tmp_path / "m.git")
    await git.fetch(tmp_path / "m.git", f"{forge.url}/{REPO}.git", token=await github.git_token(REPO))
    return tmp_path / "m.git"


async def push(forge: LocalForge, github: GitHub, mirror: Path, limit_s: float = 60.0) -> git.Pushed | git.Rejected:
    return await git.push(
        mirror, url=f"{forge.url}/{REPO}.git", token=await github.git_token(REPO), sha=forge.sha(REPO, "theirs") or "",
        branch="ours", expected=forge.sha(REPO, "ours"), limit_s=limit_s,
    )  # fmt: skip


async def raised(doing: Awaitable[object]) -> type[Exception] | object:
    try:
        return await doing
    except (Away, NoAccess) as error:
        return type(error)


@pytest.mark.parametrize(("method", "path"), [("GET", "info/refs"), ("POST", "git-receive-pack")])
async def test_each_fault_of_a_push_is_told_apart_and_the_next_push_arrives(
    forge: LocalForge, github: GitHub, mirror: Path, method: str, path: str
) -> None:
    found = []
    for fault, _ in FAULTS:
        forge.fail_next(method, path, fault)
        found.append((fault, await raised(push(forge, github, mirror))))
    again = await push(forge, github, mirror)
    assert (found, again, forge.sha(REPO, "ours")) == (FAULTS, git.Pushed(), forge.sha(REPO, "theirs"))


async def test_a_push_whose_answer_was_lost_is_there_and_pushing_again_is_fine(
    forge: LocalForge, github: GitHub, mirror: Path
) -> None:
    forge.fail_next("POST", "git-receive-pack", "done, then cut")
    with pytest.raises(Away):
        await push(forge, github, mirror)
    there = forge.sha(REPO, "ours")
    assert (there, await push(forge, github, mirror)) == (forge.sha(REPO, "theirs"), git.Pushed())


async def test_a_push_that_hangs_is_ended(forge: LocalForge, github: GitHub, mirror: Path) -> None:
    forge.fail_next("POST", "git-receive-pack", "hang")
    began = time.monotonic()
    with pytest.raises(Away, match=r"git push: the forge did not finish within 0\.5 s"):
        await push(forge, github, mirror, limit_s=0.5)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("doing", "method", "path"),
    [("push", "GET", "info/refs"), ("fetch", "POST", "git-upload-pack")],
)
async def test_a_forge_that_falls_silent_is_not_waited_for_until_the_very_end(
    forge: LocalForge, github: GitHub, mirror: Path, doing: str, method: str, path: str
) -> None:
    token, url, sha = await github.git_token(REPO), f"{forge.url}/{REPO}.git", forge.sha(REPO, "theirs") or ""
    forge.commit(REPO, {"a.txt": "three\n"}, "More", branch="theirs")  # something to fetch
    doings = {
        "fetch": lambda: git.fetch(mirror, url, token=token, silence_s=1),
        "push": lambda: git.push(mirror, url=url, token=token, sha=sha, branch="ours", expected=None, silence_s=1),
    }
    forge.fail_next(method, path, "hang", times=9)
    with pytest.raises(Away, match="too slow"):
        await doings[doing]()


async def test_each_fault_of_a_fetch_is_told_apart(forge: LocalForge, github: GitHub, mirror: Path) -> None:
    found = []
    for fault, _ in FAULTS:
        forge.fail_next("GET", "info/refs", fault)
        token = await github.git_token(REPO)
        found.append((fault, await raised(git.fetch(mirror, f"{forge.url}/{REPO}.git", token=token))))
    assert found == FAULTS


async def test_a_forge_that_nobody_reaches_is_away(mirror: Path) -> None:
    with pytest.raises(Away):
        await git.fetch(mirror, "http://127.0.0.1:9/acme/app.git", token=None)


async def test_a_branch_that_the_forge_protects_is_an_answer(forge: LocalForge, github: GitHub, mirror: Path) -> None:
    forge.state.repositories[REPO].protected.add("ours")
    found = await push(forge, github, mirror)
    assert isinstance(found, git.Rejected)
    assert "protected branch hook declined" in found.reason


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("!\tabc:refs/heads/x\t[rejected] (stale info)\nDone\nerror: failed to push some refs", None),
        ("!\tabc:refs/heads/x\t[remote failure] (remote failed to report status)", Away),
        ("fatal: unable to access 'https://h/': Could not resolve host: h", Away),
        ("remote: Repository not found.\nfatal: repository 'https://h/a/b/' not found", NoAccess),
        ("remote: This repository was archived so it is read-only.\nThe requested URL returned error: 403", NoAccess),
        ("fatal: bad object abc", None),
    ],
)
def test_what_git_says_is_understood(said: str, told: type[Exception] | None) -> None:
    found = trouble("push", said)
    assert (type(found) if found else None) is told


@pytest.mark.parametrize(("bytes_", "expected"), [
    (0, ["GET refs", "POST git-receive-pack"]),
    (5_000_000, ["GET refs", "GET refs", "POST git-upload-pack", "POST git-receive-pack"]),
])  # fmt: skip
async def test_a_push_asks_what_is_there_before_it_would_send_much_history(
    tmp_path: Path, bytes_: int, expected: list[str]
) -> None:
    origin = make_origin(tmp_path / "origin")
    (origin / "noise").write_bytes(os.urandom(bytes_))
    base = commit(origin, {f"{n}.txt": str(n) for n in range(100)})  # git packs what it fetches from so many on
    run("git", "config", "http.receivepack", "true", cwd=origin)
    mirror = tmp_path / "m.git"
    await git.ensure_mirror(mirror)
    with serving(tmp_path) as (address, asked):
        url = f"{address}/origin/.git"
        await git.fetch(mirror, url, token=TOKEN)
        ours = run(
            "git", "-c", "user.name=s", "-c", "user.email=s@x", "commit-tree", "-p", base, "-m", "m",
            f"{base}^{{tree}}", cwd=mirror,
        )  # fmt: skip
        commit(origin, {"a.txt": "moved"})  # no branch of the forge is known here any more
        del asked[:]
        done = await git.push(mirror, url=url, token=TOKEN, sha=ours, branch="ours", expected=None)
    assert (done, asked) == (git.Pushed(), expected)
