"""Real package managers through three jobs: installed, installed anew for another lockfile, found again."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bot.sandbox.box import PATH
from bot.tickets.repository import Install
from tests.bot.slots.origin import commit, make_origin
from tests.bot.slots.test_install import UNCHANGED, Host, write_wheel

pytestmark = pytest.mark.slow


def at_hand(program: str, *, how: str) -> pytest.MarkDecorator:
    """Return the mark of tests that need a program where boxes find it."""
    missing = shutil.which(program, path=PATH) is None
    if missing and os.environ.get("CI") and os.geteuid() == 0:
        raise RuntimeError(f"{program} is missing; scripts/setup should have installed it")
    return pytest.mark.skipif(missing, reason=f"needs {program}: {how}")


@pytest.fixture
async def host(tmp_path: Path) -> Host:
    host = Host(tmp_path, make_origin(tmp_path / "origin"))
    await host.pool.open()
    return host


def run(*argv: str, cwd: Path) -> None:
    env = {"PATH": PATH, "HOME": str(cwd.parent), "npm_config_update_notifier": "false"}
    subprocess.run(argv, cwd=cwd, env=env, check=True, capture_output=True)


async def three_jobs(host: Host, shas: tuple[str, str], *ask: str) -> list[tuple[str, str, str]]:
    """Return of each job its last part, what the dependency says, and what was found of the dependencies at the end."""
    found = []
    for sha in (shas[0], shas[1], shas[1]):
        parts = await host.start(sha, Install())
        found.append((parts[-1], await host.say(*ask), (await host.end()).checks[-1]))
    return found


def tarball(origin: Path, version: str) -> None:
    """Pack a package, as a registry serves it."""
    folder = origin.parent / "dep"
    folder.mkdir(exist_ok=True)
    (folder / "package.json").write_text(json.dumps({"name": "dep", "version": version, "main": "index.js"}))
    (folder / "index.js").write_text(f"module.exports = '{version}'\n")
    run("npm", "pack", "--silent", "--pack-destination", str(origin), cwd=folder)


@at_hand("pnpm", how="npm install -g pnpm")
async def test_pnpm_with_isolated_links_goes_through_three_jobs(host: Host) -> None:
    shas = []
    for version in ("1.0.0", "2.0.0"):
        tarball(host.origin, version)
        wants = {"name": "app", "version": "1.0.0", "dependencies": {"dep": f"file:dep-{version}.tgz"}}
        (host.origin / "package.json").write_text(json.dumps(wants))
        run("pnpm", "install", "--lockfile-only", "--offline", cwd=host.origin)
        shas.append(commit(host.origin, {".gitignore": "node_modules/\n"}))
    found = await three_jobs(host, (shas[0], shas[1]), "node", "-p", "require('dep')")
    linked = host.slot.path / "node_modules" / "dep"
    file = linked / "index.js"
    assert found == [
        ("install", "1.0.0", UNCHANGED[-1]), ("update", "2.0.0", UNCHANGED[-1]), ("checkout", "2.0.0", UNCHANGED[-1]),
    ]  # fmt: skip
    assert (linked.is_symlink(), file.stat().st_nlink) == (True, 1)  # into .pnpm, nothing shared with the store
    assert (host.pool.store_folder / "pnpm").is_dir()


@at_hand("uv", how="pip install uv, where /usr/local/bin or /usr/bin has it")
async def test_uv_goes_through_three_jobs(host: Host) -> None:
    shas = []
    for version in ("1.0", "2.0"):
        write_wheel(host.origin, version)
        (host.origin / "pyproject.toml").write_text(
            '[project]\nname = "app"\nversion = "1"\nrequires-python = ">=3.9"\ndependencies = ["tinydep"]\n\n'
            f'[tool.uv.sources]\ntinydep = {{ path = "tinydep-{version}-py3-none-any.whl" }}\n'
        )
        run("uv", "lock", "--offline", cwd=host.origin)
        shas.append(commit(host.origin, {".gitignore": ".venv/\n"}))
    found = await three_jobs(host, (shas[0], shas[1]), "python", "-c", "import tinydep; print(tinydep.VERSION)")
    assert found == [
        ("install", "1.0", UNCHANGED[-1]), ("update", "2.0", UNCHANGED[-1]), ("checkout", "2.0", UNCHANGED[-1]),
    ]  # fmt: skip
    assert (host.pool.store_folder / "uv").is_dir()


@at_hand("yarn", how="npm install -g @yarnpkg/cli-dist")
async def test_a_modern_yarn_with_plug_n_play_goes_through_three_jobs(host: Host) -> None:
    shas = []
    (host.origin / ".yarnrc.yml").write_text("nodeLinker: pnp\nenableTelemetry: false\n")
    for version in ("1.0.0", "2.0.0"):
        tarball(host.origin, version)
        wants = {"name": "app", "version": "1.0.0", "dependencies": {"dep": f"file:./dep-{version}.tgz"}}
        (host.origin / "package.json").write_text(json.dumps(wants))
        run("yarn", "install", "--mode=update-lockfile", cwd=host.origin)
        shas.append(commit(host.origin, {".gitignore": "node_modules/\n.pnp.*\n.yarn/\n"}))
    found = await three_jobs(host, (shas[0], shas[1]), "yarn", "node", "-p", "require('dep')")
    assert found == [
        ("install", "1.0.0", UNCHANGED[-1]), ("update", "2.0.0", UNCHANGED[-1]), ("checkout", "2.0.0", UNCHANGED[-1]),
    ]  # fmt: skip
