"""Real package managers from job to job: installed, installed anew for another lockfile, found again, never half."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.sandbox.box import PATH
from bot.slots.install import InstallFailed
from bot.tickets.repository import Install
from tests.bot.slots.origin import commit, make_origin
from tests.bot.slots.test_install import UNCHANGED, Host, write_wheel

pytestmark = pytest.mark.slow(seconds=3)


def at_hand(program: str, *, how: str, in_ci: bool = True) -> pytest.MarkDecorator:
    """Return the mark of tests that need a program where boxes find it."""
    missing = shutil.which(program, path=PATH) is None
    if missing and in_ci and os.environ.get("CI") and os.geteuid() == 0:
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
    assert (host.pool.store_of("acme/app") / "pnpm").is_dir()


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
    assert (host.pool.store_of("acme/app") / "uv").is_dir()


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


LIES = "ended with exit code"  # the lockfile does not say what the manifest asks for


async def jobs_of(host: Host, shas: list[str], *ask: str) -> list[tuple[str, str]]:
    """Return of each job its last part and what the dependency says, or that the install failed; all end clean."""
    found = []
    for sha in shas:
        try:
            found.append(((await host.start(sha, Install()))[-1], (await host.say(*ask)).splitlines()[-1]))
        except InstallFailed as error:
            found.append(("failed", LIES if LIES in str(error) else str(error)))
        assert (await host.end()).clean
    return found


def seven(host: Host, write: Callable[[str], None], *, manifest: str) -> list[str]:
    """Return commits: the first version, the same, the second, the same, one whose lockfile lies twice, the second."""
    write("1.0.0")
    old, one = (host.origin / manifest).read_text(), commit(host.origin, {"n": "1"})
    write("1.1.0")
    two = commit(host.origin, {"n": "2"})
    lies = commit(host.origin, {manifest: old})
    return [one, one, two, two, lies, lies, two]


def seven_parts(second: str = "update") -> list[tuple[str, str]]:
    """Return what comes of them: a failed install never counts, and what it left is not built on."""
    return [
        ("install", "1.0.0"), ("checkout", "1.0.0"), (second, "1.1.0"), ("checkout", "1.1.0"),
        ("failed", LIES), ("failed", LIES), ("install", "1.1.0"),
    ]  # fmt: skip


@at_hand("bun", how="npm install -g bun", in_ci=False)
async def test_bun_installs_once_again_for_another_lockfile_and_never_half(host: Host) -> None:
    def write(version: str) -> None:
        tarball(host.origin, version)
        wants = {"name": "app", "version": "1.0.0", "dependencies": {"dep": f"file:./dep-{version}.tgz"}}
        (host.origin / "package.json").write_text(json.dumps(wants))
        run("bun", "install", "--lockfile-only", cwd=host.origin)

    shas = seven(host, write, manifest="package.json")
    found = await jobs_of(host, shas, "node", "-p", "require('dep')")
    assert found == seven_parts("install")  # from nothing: bun leaves what nobody asks for any more
    assert (host.slot.path / "node_modules" / "dep" / "index.js").stat().st_nlink == 1  # nothing shared with the store


@at_hand("cargo", how="apt-get install cargo", in_ci=False)
async def test_cargo_fetches_once_again_for_another_lockfile_and_never_half(host: Host) -> None:
    def write(version: str) -> None:
        commit(host.origin, {
            "Cargo.toml": f'[package]\nname = "app"\nversion = "{version}"\n[dependencies]\ndep = {{ path = "dep" }}\n',
            "dep/Cargo.toml": f'[package]\nname = "dep"\nversion = "{version}"\n',
            "dep/src/lib.rs": f'pub const V: &str = "{version}";\n',
            "src/main.rs": 'fn main() { println!("{}", dep::V) }\n', ".gitignore": "target/\n",
        })  # fmt: skip
        run("cargo", "generate-lockfile", "--offline", cwd=host.origin)

    shas = seven(host, write, manifest="Cargo.toml")
    assert await jobs_of(host, shas, "cargo", "run", "--quiet") == seven_parts()


@at_hand("composer", how="apt-get install composer", in_ci=False)
async def test_composer_installs_once_again_for_another_lockfile_and_never_half(host: Host) -> None:
    def write(version: str) -> None:
        here = [{"type": "path", "url": "./dep", "options": {"symlink": False}}, {"packagist.org": False}]
        app = {"name": "acme/app", "require": {"acme/dep": version}, "repositories": here}
        dep = {"name": "acme/dep", "version": version, "autoload": {"files": ["dep.php"]}}
        commit(host.origin, {
            "composer.json": json.dumps(app), "dep/composer.json": json.dumps(dep),
            "dep/dep.php": f"<?php const DEP = '{version}';\n", ".gitignore": "vendor/\n",
        })  # fmt: skip
        run("composer", "update", "--no-install", "--no-interaction", "--quiet", cwd=host.origin)

    shas = seven(host, write, manifest="composer.json")
    assert await jobs_of(host, shas, "php", "-r", "require 'vendor/autoload.php'; echo DEP;") == seven_parts()


@at_hand("bundle", how="apt-get install ruby-bundler", in_ci=False)
async def test_bundler_installs_once_again_for_another_lockfile_and_never_half(host: Host) -> None:
    def write(version: str) -> None:
        gem, cache = host.origin.parent / "gem", host.origin / "vendor" / "cache"
        for folder in (gem / "lib", cache):
            folder.mkdir(parents=True, exist_ok=True)
        for old in cache.iterdir():
            old.unlink()
        (gem / "lib" / "dep.rb").write_text(f"DEP = '{version}'\n")
        spec = f"s.name = 'dep'; s.version = '{version}'; s.summary = 'x'; s.authors = ['a']; s.files = ['lib/dep.rb']"
        (gem / "dep.gemspec").write_text(f"Gem::Specification.new {{ |s| {spec} }}\n")
        run("gem", "build", "dep.gemspec", "-o", str(cache / f"dep-{version}.gem"), cwd=gem)
        source = "https://rubygems.org"
        commit(host.origin, {
            "Gemfile": f"source '{source}'\ngem 'dep', '{version}'\n",
            "Gemfile.lock": f"GEM\n  remote: {source}/\n  specs:\n    dep ({version})\n\nPLATFORMS\n  ruby\n\n"
            f"DEPENDENCIES\n  dep (= {version})\n",
        })  # fmt: skip

    shas = seven(host, write, manifest="Gemfile")
    found = await jobs_of(host, shas, "bundle", "exec", "ruby", "-e", "require 'dep'; puts DEP")
    assert found == seven_parts()
