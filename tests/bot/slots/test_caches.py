"""Caches: kept from gate to gate while what makes them valid stays, copied for agents, and some never believed."""

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bot.slots import git, shelf
from bot.slots.caches import Ground, eslint_looks_at_other_files, pytest_runs_a_part, typescript_wrote_output
from bot.slots.pool import Pool, Ready
from bot.slots.shelf import Lent, Use
from bot.slots.slot import Slot
from bot.tickets.repository import Install
from bot.tickets.store import open_store, sqlite_url
from tests.bot.slots.origin import commit, make_origin

STUB = Install(run="mkdir -p node_modules/dep")


class Host:
    """A pool of one slot, and gates in it."""

    def __init__(self, folder: Path) -> None:
        self.origin = make_origin(folder / "origin")
        self.pool = Pool(folder / "slots", open_store(sqlite_url(folder / "s.db")), host="h", slots=1)
        self.slot: Slot
        self.ready: Ready
        self.jobs = 0

    async def start(
        self, sha: str, use: Use = "lend", *, keep: tuple[str, ...] = (), install: Install = STUB
    ) -> list[str]:
        """Lease and prepare; return the paths of the caches that the job finds."""
        self.jobs += 1
        slot = await self.pool.lease("acme/app", ticket=self.jobs, epoch=1)
        assert slot is not None
        self.slot = slot
        self.ready = await self.pool.prepare(
            slot,
            url=str(self.origin),
            token=None,
            sha=sha,
            install=install,
            keep=keep,
            on_part=lambda *_: None,
            use=use,
        )
        return [one.path for one in self.ready.lent]

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            (self.slot.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.slot.path / name).write_text(text)

    async def end(self, *, take: bool = True) -> dict[str, str]:
        """Take the caches of a gate, give the slot back; return what was not believed."""
        refused = await self.pool.take_caches(self.slot, self.ready.ground) if take else {}
        assert (await self.pool.release(self.slot)).clean
        await self.pool.close()
        return refused


@pytest.fixture
async def host(tmp_path: Path) -> Host:
    host = Host(tmp_path)
    await host.pool.open()
    return host


async def test_what_a_gate_left_is_there_for_the_next_gate(host: Host) -> None:
    files = {"package.json": "{}", "web/package.json": "{}", "pyproject.toml": ""}
    sha = commit(host.origin, files)
    left = {".mypy_cache/3.11/a.json": "1", "web/.next/cache/x": "2", "web/.next/build": "gone", "other/x": "gone",
            "node_modules/.cache/y": "3", ".ruff_cache/z": "4"}  # fmt: skip
    first = await host.start(sha)
    host.write(left)
    refused = await host.end()
    between = sorted(p.name for p in host.slot.path.iterdir())
    second = await host.start(sha)
    held = {name: (host.slot.path / name).read_text() for name in left if (host.slot.path / name).exists()}
    assert (first, refused, between, second) == (
        [], {}, [".git", ".gitignore", "a.txt", "node_modules", "package.json", "pyproject.toml", "src", "web"],
        [".mypy_cache", ".ruff_cache", "node_modules/.cache", "web/.next/cache"],
    )  # fmt: skip
    assert held == {name: text for name, text in left.items() if text != "gone"}


async def test_dependencies_stay_unchanged_beside_a_cache_in_their_folder(host: Host) -> None:
    sha = commit(host.origin, {"package.json": "{}"})
    for _ in range(2):
        await host.start(sha)
        host.write({"node_modules/.cache/y": "3"})
        await host.end()
    await host.start(sha)
    assert (host.ready.dependencies, [one.path for one in host.ready.lent]) == ("unchanged", ["node_modules/.cache"])


@pytest.mark.parametrize(
    ("files", "install"),
    [
        ({"tsconfig.json": "{}"}, STUB),
        ({"package.json": '{"a": 1}'}, STUB),
        ({"README.md": "x"}, Install(run="mkdir -p node_modules/other")),
    ],
    ids=["configuration", "the package's file", "other dependencies"],
)
async def test_a_cache_goes_with_what_made_it_valid(host: Host, files: dict[str, str], install: Install) -> None:
    await host.start(commit(host.origin, {"package.json": "{}"}))
    host.write({".next/cache/x": "1"})
    await host.end()
    assert (await host.start(commit(host.origin, files), install=install), shelf.kept(host.slot)) == ([], [])


async def test_a_change_elsewhere_keeps_the_cache(host: Host) -> None:
    await host.start(commit(host.origin, {"package.json": "{}"}))
    host.write({".next/cache/x": "1"})
    await host.end()
    assert await host.start(commit(host.origin, {"src/new.ts": "x"})) == [".next/cache"]


async def test_an_agent_works_on_a_copy_that_no_gate_ever_sees(host: Host) -> None:
    sha = commit(host.origin, {"pyproject.toml": ""})
    await host.start(sha)
    host.write({".mypy_cache/a": "true", "src/b.txt": "b\n"})
    await host.end()
    seen = await host.start(sha, "copy")
    host.write({".mypy_cache/a": "planted", ".ruff_cache/b": "planted"})
    again = await host.pool.prepare(
        host.slot, url=str(host.origin), token=None, sha=sha, install=STUB, on_part=lambda *_: None, use="lend"
    )
    assert ([one.path for one in again.lent], seen, (host.slot.path / ".mypy_cache/a").read_text()) == (
        [".mypy_cache"], [".mypy_cache"], "true",
    )  # fmt: skip
    assert not (host.slot.path / ".ruff_cache").exists()


async def test_a_stranger_finds_no_cache_and_leaves_none(host: Host) -> None:
    sha = commit(host.origin, {"pyproject.toml": ""})
    await host.start(sha)
    host.write({".mypy_cache/a": "ours"})
    await host.end()
    seen = await host.start(sha, "none")
    host.write({".mypy_cache/a": "theirs"})
    await host.end(take=False)
    assert (seen, await host.start(sha), (host.slot.path / ".mypy_cache/a").read_text()) == (
        [],
        [".mypy_cache"],
        "ours",
    )


async def test_a_gate_that_was_cut_off_leaves_no_cache(host: Host) -> None:
    sha = commit(host.origin, {"pyproject.toml": ""})
    await host.start(sha)
    host.write({".mypy_cache/a": "x"})
    await host.end()
    await host.start(sha)
    await host.pool.open()  # the host died, and starts again
    assert await host.start(sha) == []


async def test_what_was_committed_with_an_old_time_gets_a_new_one(host: Host) -> None:
    """Tools that compare times would take it for what they saw before."""
    sha = commit(host.origin, {"pyproject.toml": "", "other.py": "1"})
    await host.start(sha)
    host.write({".mypy_cache/a": "x"})
    await host.end()
    await host.start(sha, "copy")
    host.write({"other.py": "2"})
    os.utime(host.slot.path / "other.py", (1, 1))
    head = await git.commit_all(host.slot.tree, parent=sha, message="x", author=("S", "s@x"))
    assert head is not None
    ready = await host.pool.prepare(
        host.slot, url=str(host.origin), token=None, sha=head, install=STUB, on_part=lambda *_: None, use="lend"
    )
    found = host.slot.path / "other.py"
    assert ([one.path for one in ready.lent], found.read_text(), found.stat().st_mtime > 1) == (
        [".mypy_cache"],
        "2",
        True,
    )


async def test_folders_that_the_repository_names_are_kept_but_none_outside_or_tracked(host: Host) -> None:
    sha, keep = commit(host.origin, {"b.txt": "b"}), ("build/x", "../out", "src", ".git", "/etc", "a//b")
    await host.start(sha, keep=keep)
    host.write({"build/x/1": "1", "build/y": "gone", "src/left": "gone"})
    await host.end()
    assert await host.start(sha, keep=keep) == ["build/x"]


async def test_a_cache_in_quarantine_is_not_used_until_its_key_changes(host: Host) -> None:
    sha = commit(host.origin, {"package.json": "{}"})
    found = []
    for n in range(3):
        found.append(await host.start(sha))
        host.write({".next/cache/x": str(n)})
        refused = await host.end()
        if n == 1:
            host.pool.quarantine_caches("acme/app", host.ready.lent, "a cold gate said RED")
    after = await host.start(commit(host.origin, {"package.json": '{"b": 1}'}))
    host.write({".next/cache/x": "new"})
    assert (found, refused, after, await host.end(), [k.quarantined for k in shelf.kept(host.slot)]) == (
        [[], [".next/cache"], []], {".next/cache": "a cold gate said RED"}, [], {}, [""],
    )  # fmt: skip


def _link(slot: Slot, outside: Path) -> None:
    (slot.path / ".mypy_cache").symlink_to(outside)


def _link_above(slot: Slot, outside: Path) -> None:
    (outside / "cache").mkdir()
    (slot.path / ".next").symlink_to(outside)


def _links_inside(slot: Slot, outside: Path) -> None:
    (outside / "eslint").mkdir()
    (outside / "eslint" / "x").touch()
    (slot.path / "node_modules" / ".cache").mkdir(parents=True)
    (slot.path / "node_modules" / ".cache" / "out").symlink_to(outside)


def _hard_link(slot: Slot, outside: Path) -> None:
    (outside / "file").write_text("{}")
    os.link(outside / "file", slot.path / ".eslintcache")


def _fifo(slot: Slot, outside: Path) -> None:
    os.mkfifo(slot.path / ".eslintcache")
    (slot.path / ".mypy_cache").mkdir()
    os.mkfifo(slot.path / ".mypy_cache" / "fifo")


@pytest.mark.parametrize("plant", [_link, _link_above, _links_inside, _hard_link, _fifo], ids=lambda f: f.__name__)
async def test_a_cache_that_leads_out_is_never_followed(
    host: Host, tmp_path: Path, plant: Callable[[Slot, Path], None]
) -> None:
    (outside := tmp_path / "outside").mkdir()
    sha = commit(host.origin, {"package.json": '{"devDependencies": {"typescript-eslint": "8"}}'})
    await host.start(sha)
    plant(host.slot, outside)
    before = sorted(outside.rglob("*"))
    await host.end()
    for use in ("copy", "lend"):
        await asyncio.wait_for(host.start(sha, use), 30)
        await host.end()
    assert sorted(outside.rglob("*")) == before


ESLINT: Mapping[str, tuple[str, str, bool]] = {
    "plain rules": ('{"devDependencies": {"eslint": "9", "@eslint/js": "9"}}', 'import js from "@eslint/js"', False),
    "react": ('{"devDependencies": {"eslint-plugin-react-hooks": "5"}}', "", False),
    "types": ('{"devDependencies": {"typescript-eslint": "8"}}', "", True),
    "imports": ('{"devDependencies": {"eslint-plugin-import": "2"}}', "", True),
    "a configuration of others": ('{"devDependencies": {"eslint-config-next": "15"}}', "", True),
    "in the old configuration": ("{}", '{"extends": ["plugin:@typescript-eslint/recommended"]}', True),
    "in the old configuration, harmless": ("{}", '{"extends": ["eslint:recommended", "plugin:react/recommended"]}', False),
    "from a parent's packages": ("{}", "parserOptions: {projectService: true}", True),
    "unreadable": ("{", "", True),
}  # fmt: skip


@pytest.mark.parametrize(("package", "config", "refused"), ESLINT.values(), ids=ESLINT)
def test_eslints_cache_is_believed_only_where_each_file_stands_for_itself(
    package: str, config: str, refused: bool
) -> None:
    said = eslint_looks_at_other_files({"package.json": package, "eslint.config.js": config})
    assert bool(said) == refused


async def test_eslints_results_are_taken_out_of_folders_that_tools_share(host: Host) -> None:
    sha = commit(host.origin, {"package.json": '{"devDependencies": {"typescript-eslint": "8"}}'})
    await host.start(sha)
    host.write({".eslintcache": "[]", "node_modules/.cache/eslint/x": "[]", "node_modules/.cache/babel/y": "1"})
    refused = await host.end()
    found = await host.start(sha)
    inside = sorted(p.name for p in (host.slot.path / "node_modules/.cache").iterdir())
    why = "with `typescript-eslint` a file's result depends on other files, and the cache holds each file for itself"
    assert (refused, found, inside) == ({".eslintcache": why}, ["node_modules/.cache"], ["babel"])


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("addopts = -q --lf", True),
        ("run = 'pytest --last-failed'", True),
        ("addopts = --ff --lf-none", False),
        ("", False),
    ],
)
def test_pytests_cache_is_not_believed_where_it_chooses_the_tests(text: str, refused: bool) -> None:
    assert bool(pytest_runs_a_part({"pyproject.toml": text})) == refused


def _info(pending: list[object]) -> bytes:
    names = ["lib.es5.d.ts", "./src/a.ts", "./src/b.ts", "./node_modules/x/x.ts", "./src/types.d.ts"]
    return json.dumps({"fileNames": names, "affectedFilesPendingEmit": pending}).encode()


@pytest.mark.parametrize(
    ("data", "refused"),
    [(_info([2, 3]), False), (_info([[2, 1], [3, 1]]), False), (_info([2]), True), (_info([]), True), (b"{", True)],
    ids=["only checked", "older form", "half written", "written", "not JSON"],
)
def test_typescripts_notes_are_believed_only_where_it_wrote_nothing(data: bytes, refused: bool) -> None:
    assert bool(typescript_wrote_output(data)) == refused


def test_a_folder_of_that_name_is_cargos_only_beside_its_manifest() -> None:
    ground = Ground("s", {"a/Cargo.toml": "1", "b/pom.xml": "2"}, fingerprint="")
    found = [
        place.tool.name if place else None for place in map(ground.place, ("a/target", "b/target", "a/Cargo.toml"))
    ]
    assert found == ["cargo", None, None]


def test_a_lent_cache_is_known_by_path_tool_and_key() -> None:
    ground = Ground("s", {"pyproject.toml": "1"}, fingerprint="f")
    place = ground.place(".mypy_cache")
    assert place is not None
    other = Ground("t", {"pyproject.toml": "1", "x.py": "2"}, fingerprint="f")
    assert Lent(place.path, place.tool.name, ground.key(place)) == Lent(".mypy_cache", "mypy", other.key(place))
