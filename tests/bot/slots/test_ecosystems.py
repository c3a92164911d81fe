"""What every package manager must be to a slot, and which one a repository shows."""

from pathlib import Path

import pytest

from bot.slots.ecosystem import Ecosystem, Project, detect
from bot.slots.ecosystems import ECOSYSTEMS

STORE = Path("/data/store")


@pytest.mark.parametrize("ecosystem", ECOSYSTEMS, ids=lambda e: e.NAME)
def test_a_package_manager_keeps_the_contract_of_the_family(ecosystem: Ecosystem) -> None:
    project = Project("app", frozenset(ecosystem.LOCKS), scripts=False)
    commands = ecosystem.commands(project)
    stores = [value for value in ecosystem.env(STORE).values() if str(STORE) in value]
    assert (
        bool(ecosystem.LOCKS), all(argv and all(argv) for argv in commands) and bool(commands),
        any(ecosystem.PROGRAMS[0] in argv[:3][-1].split() or argv[0] == ecosystem.PROGRAMS[0] for argv in commands), bool(stores),
        [k for k in ecosystem.KEEP if k.startswith(("/", ".."))], ecosystem.__name__.rpartition(".")[2],  # type: ignore[attr-defined]
        [f.NAME for f, _ in detect([f"app/{ecosystem.LOCKS[0]}"], ECOSYSTEMS, scripts=False)],
    ) == (True, True, True, True, [], ecosystem.NAME, [ecosystem.NAME])  # fmt: skip


@pytest.mark.parametrize("name", ["npm", "pnpm", "bun"])
def test_packages_run_no_scripts_of_their_own_unless_the_repository_lets_them(name: str) -> None:
    (ecosystem,) = [e for e in ECOSYSTEMS if name == e.NAME]
    without, with_them = (ecosystem.commands(Project("", frozenset(), scripts))[0] for scripts in (False, True))
    assert [*with_them, "--ignore-scripts"] == list(without)


def test_yarn_builds_no_package_unless_the_repository_lets_it() -> None:
    (yarn,) = [e for e in ECOSYSTEMS if e.NAME == "yarn"]
    assert [yarn.commands(Project("", frozenset({"yarn.lock"}), scripts))[0][4:] for scripts in (False, True)] == [
        ("--mode=skip-build", "--ignore-scripts"), ("", ""),
    ]  # fmt: skip


def test_each_project_of_dotnet_is_named_and_what_it_obeys_above_counts() -> None:
    paths = ["global.json", "App.sln", "src/App/App.csproj", "src/App/App.sln", "src/App/packages.lock.json",
             "src/App/Sub/Sub.csproj", "src/nuget.config", "Directory.Packages.props"]  # fmt: skip
    ((dotnet, project),) = detect(paths, ECOSYSTEMS, scripts=False)
    assert (dotnet.commands(project), sorted(project.files), project.also) == (
        [("dotnet", "restore", "App.csproj", "--locked-mode")], ["App.csproj", "packages.lock.json"],
        ("../nuget.config", "../../global.json", "../../Directory.Packages.props"),
    )  # fmt: skip


def test_what_a_manager_obeys_above_its_project_counts_for_that_manager_alone() -> None:
    paths = ["global.json", "rust-toolchain.toml", "a/Cargo.lock", "web/package-lock.json", "web/.yarnrc.yml"]
    found = detect(paths, ECOSYSTEMS, scripts=False)
    assert {project.folder: project.also for _, project in found} == {
        "a": ("../rust-toolchain.toml", "../.cargo/config.toml"), "web": (),
    }  # fmt: skip


def test_members_of_a_workspace_count_and_a_project_with_a_lockfile_of_its_own_does_not() -> None:
    paths = ["package-lock.json", "package.json", "packages/a/package.json", "packages/a/b/package.json", "lib/setup.py",
             "other/pnpm-lock.yaml", "other/package.json", "other/in/package.json"]  # fmt: skip
    found = detect(paths, ECOSYSTEMS, scripts=False)
    assert {project.folder: project.also for _, project in found} == {
        "": ("packages/a/b/package.json", "packages/a/package.json"), "other": ("in/package.json",),
    }  # fmt: skip


CASES = {
    "nothing": (["README.md"], []),
    "both managers of one language": (["package-lock.json", "pnpm-lock.yaml"], ["pnpm:"]),
    "two languages": (["package-lock.json", "uv.lock", "requirements.txt"], ["npm:", "uv:"]),
    "a monorepo, upper folders first": (
        ["b/c/d/package-lock.json", "a/yarn.lock", "go.sum", "a/b/c/d/package-lock.json"],
        ["go:", "yarn:a", "npm:b/c/d"],
    ),
    "the modules of one build": (
        ["pom.xml", "core/pom.xml", "web/settings.gradle", "web/app/build.gradle.kts", "web/a/b/c/d/build.gradle"],
        ["maven:", "gradle:web"],
    ),
}


@pytest.mark.parametrize(("paths", "expected"), CASES.values(), ids=CASES.keys())
def test_lockfiles_show_what_is_to_be_installed(paths: list[str], expected: list[str]) -> None:
    found = detect(paths, ECOSYSTEMS, scripts=False)
    assert [f"{ecosystem.NAME}:{project.folder}" for ecosystem, project in found] == expected


def test_a_build_of_many_projects_depends_on_the_files_of_each() -> None:
    paths = ["app/gradlew", "app/settings.gradle", "app/one/build.gradle", "app/a/b/c/two/build.gradle", "x/pom.xml"]
    (_, project), (_, other) = detect(paths, ECOSYSTEMS, scripts=False)
    assert (sorted(project.files), project.also, other.folder) == (
        ["gradlew", "settings.gradle"], ("a/b/c/two/build.gradle", "one/build.gradle"), "x",
    )  # fmt: skip
