"""Dependencies: installed once, again when the lockfile changes or a job touched them, and never half."""

import asyncio
import json
import os
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.sandbox import box as boxes
from bot.sandbox import proc
from bot.sandbox.box import Box
from bot.slots import git
from bot.slots.install import InstallFailed, InstallStopped
from bot.slots.pool import Pool
from bot.slots.proof import Proof
from bot.slots.slot import Slot
from bot.tickets.repository import Install
from bot.tickets.store import open_store, sqlite_url
from tests.bot.slots.origin import commit, make_origin, run
from tests.needs import needs

STUB = "mkdir -p node_modules/dep && echo one >node_modules/dep/index.js && echo run >>/tmp/ran"
UNCHANGED = ("folder", "git files", "processes", "status", "dependencies unchanged")


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    return make_origin(tmp_path / "origin")


class Host:
    """A pool of one slot, and jobs in it."""

    def __init__(self, folder: Path, origin: Path) -> None:
        self.origin = origin
        self.pool = Pool(folder / "slots", open_store(sqlite_url(folder / "s.db")), host="h", slots=1)
        self.slot: Slot
        self.jobs = 0

    async def start(self, sha: str, install: Install, *, base: str = "") -> list[str]:
        """Lease and prepare; return the parts that took time."""
        self.jobs += 1
        parts: list[str] = []
        slot = await self.pool.lease("acme/app", ticket=self.jobs, epoch=1)
        assert slot is not None
        self.slot = slot
        await self.pool.prepare(
            slot,
            url=str(self.origin),
            token=None,
            sha=sha,
            install=install,
            on_part=lambda part, _: parts.append(part),
            base=base,
        )
        return parts

    async def end(self) -> Proof:
        proof = await self.pool.release(self.slot)
        await self.pool.close()
        return proof

    async def say(self, *argv: str) -> str:
        """Return what a job's command prints."""
        store = self.pool.store_for(self.slot)
        box = Box(
            "bubblewrap", self.slot.path, self.slot.home, readable=(store,) if store.exists() else (),
            env=self.pool.environment(self.slot),
        )  # fmt: skip
        command, env = boxes.wrap(box, argv, env={})
        return (await proc.run(*command, cwd=self.slot.path, env=env, limit_s=60)).output.strip()


@pytest.fixture
async def host(tmp_path: Path, origin: Path) -> Host:
    host = Host(tmp_path, origin)
    await host.pool.open()
    return host


async def test_what_is_installed_stays_for_the_next_job(host: Host) -> None:
    sha, wish = commit(host.origin, {"b.txt": "b"}), Install(run=STUB)
    first = await host.start(sha, wish)
    proof = await host.end()
    second = await host.start(sha, wish)
    assert (first, proof, second, (host.slot.path / "node_modules" / "dep" / "index.js").read_text()) == (
        ["clone", "worktree", "install"], Proof(True, UNCHANGED), ["checkout"], "one\n",
    )  # fmt: skip


async def test_a_changed_member_of_a_workspace_is_installed_anew_under_the_same_lockfile(host: Host) -> None:
    wish = Install(run=STUB)
    first = commit(host.origin, {"package-lock.json": "{}", "packages/a/package.json": '{"bin": "one.js"}'})
    await host.start(first, wish)
    await host.end()
    again = await host.start(commit(host.origin, {"packages/a/package.json": '{"bin": "two.js"}'}), wish)
    await host.end()
    other = await host.start(commit(host.origin, {"packages/a/index.js": "1"}), wish)
    assert (again, other) == (["fetch", "checkout", "update"], ["fetch", "checkout"])


async def test_a_job_cannot_plant_a_changed_dependency_for_the_next_one(host: Host) -> None:
    sha, wish = commit(host.origin, {"b.txt": "b"}), Install(run=STUB)
    await host.start(sha, wish)
    (host.slot.path / "node_modules" / "dep" / "index.js").write_text("bad\n")
    proof = await host.end()
    parts = await host.start(sha, wish)
    assert (proof, parts, (host.slot.path / "node_modules" / "dep" / "index.js").read_text()) == (
        Proof(True, (*UNCHANGED[:4], "dependencies changed: thrown away")), ["checkout", "install"], "one\n",
    )  # fmt: skip


PLANT = r"""
setsid sleep 300 >/dev/null 2>&1 &
ln -s / root; ln -s "$HOME" home; ln -s .. up; ln -s node_modules/dep src/dep
echo evil >>node_modules/dep/index.js; touch -r a.txt node_modules/dep/index.js; echo evil >node_modules/evil.js
git config core.hooksPath . ; git config filter.x.clean evil; printf '#!/bin/sh\nevil' >post-checkout
echo 'gitdir: /tmp' >.git; rm -f .git; mv .git git-away
mkdir .git-x -- -rf '*' ' ' closed; : >"new
line"; mkfifo fifo; chmod 0 closed; printf '* filter=x' >.gitattributes
mkdir -p "$HOME/.config/git"; printf '[core]\nhooksPath=/tmp' >"$HOME/.gitconfig"; echo evil >/tmp/evil
echo done
"""
PLANTED = {"evil", ".gitconfig", ".config"}


async def test_a_job_that_plants_all_it_can_leaves_a_clean_slot(host: Host) -> None:
    sha, wish = commit(host.origin, {"b.txt": "b"}), Install(run=STUB)
    await host.start(sha, wish)
    plain = sorted(p.name for p in host.slot.path.iterdir())
    said = (await host.say("sh", "-c", PLANT)).splitlines()[-1]
    proof = await host.end()
    between = sorted(p.name for p in host.slot.path.iterdir())
    parts = await host.start(sha, wish)
    homes = {p.name for folder in (host.slot.home, host.slot.home.with_name("tmp")) for p in folder.iterdir()}
    assert (said, proof, between, parts, sorted(p.name for p in host.slot.path.iterdir()), homes & PLANTED) == (
        "done", Proof(True, (*UNCHANGED[:4], "dependencies changed: thrown away")),
        [name for name in plain if name != "node_modules"], ["checkout", "install"], plain, set(),
    )  # fmt: skip


async def test_a_job_that_a_crash_cut_off_is_looked_at_before_the_next_one(host: Host) -> None:
    sha, wish = commit(host.origin, {"b.txt": "b"}), Install(run=STUB)
    await host.start(sha, wish)
    (host.slot.path / "node_modules" / "dep" / "new.js").write_text("bad\n")
    await host.pool.open()
    parts = await host.start(sha, wish)
    assert (parts, [p.name for p in (host.slot.path / "node_modules" / "dep").iterdir()]) == (
        ["checkout", "install"], ["index.js"],
    )  # fmt: skip


async def test_what_tools_write_below_node_modules_is_no_change(host: Host) -> None:
    sha, wish = commit(host.origin, {"b.txt": "b"}), Install(run=STUB)
    await host.start(sha, wish)
    (host.slot.path / "node_modules" / ".cache" / "eslint").mkdir(parents=True)
    assert await host.end() == Proof(True, UNCHANGED)


async def test_a_failed_install_says_what_failed_and_counts_as_none(host: Host) -> None:
    sha = commit(host.origin, {"b.txt": "b"})
    failing = Install(run="mkdir node_modules; echo no such package; exit 3")
    said = []
    for _ in range(2):
        with pytest.raises(InstallFailed) as failed:
            await host.start(sha, failing)
        said.append(str(failed.value))
        await host.end()
    assert said == [f"`{failing.run}` ended with exit code 3:\nno such package"] * 2


async def test_a_cancelled_install_stops_at_once(host: Host) -> None:
    sha = commit(host.origin, {"b.txt": "b"})
    slot, stop = await host.pool.lease("acme/app", ticket=1, epoch=1), asyncio.Event()
    assert slot is not None
    asyncio.get_running_loop().call_later(0.5, stop.set)
    with pytest.raises(InstallStopped):
        await host.pool.prepare(
            slot, url=str(host.origin), token=None, sha=sha, install=Install(run="sleep 60"), on_part=lambda *_: None,
            cancelled=stop,
        )  # fmt: skip
    assert (await host.pool.release(slot)).clean
    await host.pool.close()


async def test_nothing_is_installed_where_the_repository_says_so(host: Host) -> None:
    sha = commit(host.origin, {"package-lock.json": "not even JSON"})
    assert await host.start(sha, Install(enabled=False)) == ["clone", "worktree"]


async def test_dependencies_that_are_not_ignored_are_not_committed(host: Host) -> None:
    sha = commit(host.origin, {"b.txt": "b"})
    await host.start(sha, Install(run=STUB))
    assert await git.commit_all(host.slot.tree, parent=sha, message="x", author=("S", "s@x")) is None


NEST = r"""
mkdir -p "$0" && cd "$0" && git init -q . && echo x >f && git add f
git -c user.name=a -c user.email=a@b commit -qm x
printf '#!/bin/sh\necho ran >%s/.git/ran\n' "$PWD" >.git/evil; chmod +x .git/evil
git config core.fsmonitor "$PWD/.git/evil"; git config filter.x.clean "$PWD/.git/evil"
echo '* filter=x' >.gitattributes; echo y >f
"""


@pytest.mark.parametrize("folder", ["module", "new"])
async def test_a_repository_that_a_job_makes_is_neither_committed_nor_asked_anything(host: Host, folder: str) -> None:
    """Its git would run, outside of the box, what the job wrote into its configuration."""
    one = commit(host.origin, {"b.txt": "b"})
    run("git", "update-index", "--add", "--cacheinfo", f"160000,{one},module", cwd=host.origin)
    run("git", "commit", "-qm", "a submodule", cwd=host.origin)
    sha = run("git", "rev-parse", "HEAD", cwd=host.origin)
    await host.start(sha, Install(enabled=False))
    await host.say("sh", "-c", NEST, folder)
    (host.slot.path / "b.txt").unlink()
    (host.slot.path / "src" / "b.txt").unlink()
    (host.slot.path / "src" / "b.txt").mkdir()
    odd = os.fsdecode(b"src/b.txt/\xff\n")
    (host.slot.path / odd).touch()
    made = ""
    for _ in range(3):
        made = await git.commit_all(host.slot.tree, parent=sha, message="x", author=("S", "s@x")) or ""
    ran = (host.slot.path / folder / ".git" / "ran").exists()
    changed = run("git", "diff", "--name-status", "--no-renames", sha, made, cwd=host.slot.mirror)
    assert (ran, changed, (await host.end()).clean) == (
        False, 'D\tb.txt\nD\tsrc/b.txt\nA\t"src/b.txt/\\377\\n"', True,
    )  # fmt: skip


def _npm_files(version: str) -> Mapping[str, str]:
    lock = {
        "name": "app", "lockfileVersion": 3, "requires": True,
        "packages": {
            "": {"name": "app", "dependencies": {"dep": "file:dep"}},
            "dep": {"version": version},
            "node_modules/dep": {"resolved": "dep", "link": True},
        },
    }  # fmt: skip
    return {
        "web/package.json": json.dumps({"name": "app", "dependencies": {"dep": "file:dep"}}),
        "web/package-lock.json": json.dumps(lock),
        "web/dep/package.json": json.dumps({"name": "dep", "version": version, "main": "index.js"}),
        "web/dep/index.js": f"module.exports = '{version}'\n",
    }


@needs("npm", package="npm")
async def test_npm_goes_through_three_jobs_with_the_lockfile_changed_in_the_second(host: Host) -> None:
    found = []
    one, two = commit(host.origin, dict(_npm_files("1.0.0"))), commit(host.origin, dict(_npm_files("2.0.0")))
    for sha in (one, two, two):
        parts = await host.start(sha, Install())
        said = await host.say("sh", "-c", "cd web && node -p \"require('dep')\"")
        found.append((parts[-1], said, (await host.end()).checks[-1]))
    assert found == [
        ("install", "1.0.0", UNCHANGED[-1]), ("update", "2.0.0", UNCHANGED[-1]), ("checkout", "2.0.0", UNCHANGED[-1]),
    ]  # fmt: skip


def write_wheel(origin: Path, version: str) -> None:
    """Write a wheel by hand, so that no index is needed; each of another size, or Python may take old bytecode for new."""
    with zipfile.ZipFile(origin / f"tinydep-{version}-py3-none-any.whl", "w") as wheel:
        info = f"tinydep-{version}.dist-info"
        wheel.writestr("tinydep.py", f"VERSION = '{version}'\n" + "\n" * int(version[0]))
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tinydep\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


async def test_pip_goes_through_three_jobs_with_the_requirements_changed_in_the_second(host: Host) -> None:
    if shutil.which("python3", path="/usr/bin") is None:
        pytest.skip("needs a Python of the system: apt-get install python3-venv")
    shas, found = [], []
    for version in ("1.0", "2.0"):
        write_wheel(host.origin, version)
        shas.append(commit(host.origin, {"requirements.txt": f"--no-index\n./tinydep-{version}-py3-none-any.whl\n"}))
    for sha in (shas[0], shas[1], shas[1]):
        parts = await host.start(sha, Install())
        said = await host.say("python", "-c", "import tinydep; print(tinydep.VERSION)")
        found.append((parts[-1], said, (await host.end()).checks[-1]))
    assert found == [
        ("install", "1.0", UNCHANGED[-1]), ("update", "2.0", UNCHANGED[-1]), ("checkout", "2.0", UNCHANGED[-1]),
    ]  # fmt: skip


@pytest.mark.parametrize("folder", [".cache", ".tmp", ".vite"])
async def test_scratch_of_tools_does_not_cost_a_new_install(host: Host, folder: str) -> None:
    sha, wish = commit(host.origin, {"b.txt": "b"}), Install(run=STUB)
    await host.start(sha, wish)
    (host.slot.path / "node_modules" / folder).mkdir()
    (host.slot.path / "node_modules" / folder / "tsconfig.app.tsbuildinfo").write_text("{}")
    await host.end()
    assert await host.start(sha, wish) == ["checkout"]


async def test_what_a_build_writes_beside_a_restore_does_not_cost_a_new_one(host: Host) -> None:
    sha, wish = commit(host.origin, {"app/App.csproj": ""}), Install(run="mkdir app/obj; echo {} >app/obj/assets.json")
    await host.start(sha, wish)
    await host.say("sh", "-c", "mkdir -p app/obj/Debug/net8.0 app/bin; echo dll >app/obj/Debug/net8.0/App.dll")
    proof = await host.end()
    parts = await host.start(sha, wish)
    assert (proof, parts, sorted(p.name for p in (host.slot.path / "app").rglob("*"))) == (
        Proof(True, UNCHANGED), ["checkout"], ["App.csproj", "assets.json", "obj"],
    )  # fmt: skip


@pytest.mark.parametrize("plant", ["echo evil >.pnp.cjs", "ln -sf /etc/passwd .pnp.cjs", "rm .pnp.cjs; mkdir .pnp.cjs"],
                         ids=["text", "link", "folder"])  # fmt: skip
async def test_a_kept_file_is_thrown_away_when_a_job_touched_it(host: Host, plant: str) -> None:
    sha, wish = commit(host.origin, {"b.txt": "b"}), Install(run="echo good >.pnp.cjs")
    passwd = Path("/etc/passwd").read_bytes()
    await host.start(sha, wish)
    await host.say("sh", "-c", plant)
    touched = await host.end()
    parts = await host.start(sha, wish)
    kept = host.slot.path / ".pnp.cjs"
    assert (touched.checks[-1], parts, kept.read_text(), kept.is_symlink(), (await host.end()).checks[-1]) == (
        "dependencies changed: thrown away", ["checkout", "install"], "good\n", False, UNCHANGED[-1],
    )  # fmt: skip
    assert Path("/etc/passwd").read_bytes() == passwd
