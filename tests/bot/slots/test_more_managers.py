"""Poetry, pipenv, yarn, Go, Maven and Gradle from job to job, each where it is at hand."""

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.slots.install import InstallFailed
from bot.tickets.repository import Install
from tests.bot.slots.origin import commit, make_origin
from tests.bot.slots.test_install import Host, write_wheel
from tests.bot.slots.test_managers import LIES, at_hand, jobs_of, run, seven, seven_parts, tarball

pytestmark = pytest.mark.slow(seconds=3)
SAYS = ("python", "-c", "import tinydep; print(tinydep.VERSION)")
takes_long = pytest.mark.skipif("ALL_MANAGERS" not in os.environ, reason="takes 30 s: ALL_MANAGERS=1 runs it")


@pytest.fixture
async def host(tmp_path: Path) -> Host:
    host = Host(tmp_path, make_origin(tmp_path / "origin"))
    await host.pool.open()
    return host


@at_hand("poetry", how="pip install poetry, where /usr/local/bin has it", in_ci=False)
async def test_poetry_installs_once_again_for_another_lockfile_and_never_half(host: Host) -> None:
    def write(version: str) -> None:
        write_wheel(host.origin, version)
        (host.origin / "pyproject.toml").write_text(
            '[tool.poetry]\nname = "app"\nversion = "1"\ndescription = ""\nauthors = []\npackage-mode = false\n'
            '[tool.poetry.dependencies]\npython = ">=3.9"\n'
            f'tinydep = {{ path = "tinydep-{version}-py3-none-any.whl" }}\n'
        )
        run("poetry", "lock", "--no-interaction", cwd=host.origin)

    shas = seven(host, write, manifest="pyproject.toml")
    assert await jobs_of(host, shas, *SAYS) == seven_parts()


@at_hand("pipenv", how="pip install pipenv, where /usr/local/bin has it", in_ci=False)
async def test_pipenv_installs_once_again_for_another_lockfile_and_never_half(host: Host) -> None:
    def write(version: str) -> None:
        write_wheel(host.origin, version)
        wheel = f"./tinydep-{version}-py3-none-any.whl"
        (host.origin / "Pipfile").write_text(f'[packages]\ntinydep = {{ file = "{wheel}" }}\n')
        run("pipenv", "lock", cwd=host.origin)

    shas = seven(host, write, manifest="Pipfile")
    assert await jobs_of(host, shas, *SAYS) == seven_parts()


CLASSIC = "# yarn lockfile v1\n\n\n"
MODERN = "__metadata:\n  version: 8\n"


@at_hand("yarn", how="npm install -g yarn")
async def test_yarn_never_installs_from_a_lockfile_of_another_generation(host: Host) -> None:
    run("sh", "-c", "yarn --version >../version", cwd=host.origin)
    version = (host.origin.parent / "version").read_text().strip()
    is_classic = version.startswith("1.")
    manifest = {"package.json": json.dumps({"name": "app", "version": "1.0.0"})}
    sha = commit(host.origin, {**manifest, "yarn.lock": MODERN if is_classic else CLASSIC})
    with pytest.raises(InstallFailed) as failed:
        await host.start(sha, Install())
    said, wanted = str(failed.value).splitlines(), "modern" if is_classic else "classic"
    assert said[:2] == [
        "`yarn install` ended with exit code 1:",
        f"yarn.lock is of a {wanted} yarn, and this host's yarn is {version}. Put a {wanted} one on the host, commit one",
    ]


@at_hand("yarn", how="npm install -g yarn", in_ci=False)
async def test_a_classic_yarn_installs_once_again_for_another_lockfile_and_never_half(host: Host) -> None:
    def write(version: str) -> None:
        tarball(host.origin, version)
        wants = {"name": "app", "version": "1.0.0", "dependencies": {"dep": f"file:./dep-{version}.tgz"}}
        (host.origin / "package.json").write_text(json.dumps(wants))
        run("yarn", "install", "--ignore-scripts", cwd=host.origin)
        shutil.rmtree(host.origin / "node_modules")

    run("sh", "-c", "yarn --version >../version", cwd=host.origin)
    if not (host.origin.parent / "version").read_text().startswith("1."):
        pytest.skip("needs a classic yarn: npm install -g yarn")
    shas = seven(host, write, manifest="package.json")
    assert await jobs_of(host, shas, "node", "-p", "require('dep')") == seven_parts()
    assert (host.pool.store_of("acme/app") / "yarn").is_dir()


MODULE = "module example.org/dep\n\ngo 1.16\n"
MAIN = 'package main\n\nimport "example.org/dep"\n\nfunc main() { print(dep.V) }\n'


def write_module(proxy: Path, version: str) -> None:
    """Write a module as a module proxy serves it."""
    at = proxy / "example.org" / "dep" / "@v"
    at.mkdir(parents=True, exist_ok=True)
    (at / f"v{version}.info").write_text(json.dumps({"Version": f"v{version}"}))
    (at / f"v{version}.mod").write_text(MODULE)
    with zipfile.ZipFile(at / f"v{version}.zip", "w") as packed:
        packed.writestr(f"example.org/dep@v{version}/go.mod", MODULE)
        packed.writestr(f"example.org/dep@v{version}/dep.go", f'package dep\n\nconst V = "{version}"\n')


@at_hand("go", how="apt-get install golang-go")
async def test_go_finds_in_the_store_without_a_network_what_was_loaded_once(host: Host) -> None:
    shas = []
    for version in ("1.0.0", "1.1.0"):
        write_module(host.origin / "proxy", version)
        required = f"module app\n\ngo 1.16\n\nrequire example.org/dep v{version}\n"
        commit(host.origin, {"go.mod": required, "main.go": MAIN})
        proxy = f"GOPROXY=file://{host.origin}/proxy GONOSUMDB=* GOFLAGS=-modcacherw"
        run("sh", "-c", f"{proxy} go mod tidy", cwd=host.origin)
        shas.append(commit(host.origin, {"n": version}))
    parts, said = [], []
    for sha in (shas[0], shas[1], shas[1]):
        wish = Install(run='GOPROXY="file://$PWD/proxy" GONOSUMDB="*" go mod download')
        parts.append((await host.start(sha, wish))[-1])
        said.append(await host.say("go", "run", "."))
        assert (await host.end()).clean
    assert (parts, said) == (["install", "update", "checkout"], ["1.0.0", "1.1.0", "1.1.0"])
    run(
        "chmod", "-R", "u+w", str(host.pool.store_of("acme/app")), cwd=host.origin
    )  # Go makes it read-only; the test's folder goes


@at_hand("go", how="apt-get install golang-go")
async def test_a_go_repository_that_holds_its_modules_itself_needs_no_proxy(host: Host) -> None:
    held = "# example.org/dep v1.0.0\n## explicit; go 1.16\nexample.org/dep\n"
    sha = commit(host.origin, {
        "go.mod": "module app\n\ngo 1.17\n\nrequire example.org/dep v1.0.0\n", "go.sum": "", "main.go": MAIN,
        "vendor/modules.txt": held, "vendor/example.org/dep/dep.go": 'package dep\n\nconst V = "held"\n',
    })  # fmt: skip
    await host.start(sha, Install())
    assert await host.say("go", "run", ".") == "held"


def write_jar(repo: Path, version: str) -> None:
    """Write a library as a Maven repository serves it."""
    at = repo / "org" / "example" / "dep" / version
    at.mkdir(parents=True, exist_ok=True)
    (at / f"dep-{version}.pom").write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>dep</artifactId>"
        f"<version>{version}</version></project>"
    )
    with zipfile.ZipFile(at / f"dep-{version}.jar", "w") as packed:
        packed.writestr("dep.txt", version)


def pom(version: str) -> str:
    """Return a project that takes its plugins, in the versions that Debian has, from Debian's packages."""
    debian = "<id>central</id><url>file:///usr/share/maven-repo</url>"
    pinned = {"dependency": "3.5.0", "site": "3.12.1", "clean": "3.2.0", "deploy": "3.0.0", "install": "3.1.0"}
    plugins = "".join(
        f"<plugin><artifactId>maven-{name}-plugin</artifactId><version>{at}</version></plugin>"
        for name, at in pinned.items()
    )
    return (
        "<project><modelVersion>4.0.0</modelVersion><groupId>org.example</groupId><artifactId>app</artifactId>"
        f"<version>1</version><packaging>pom</packaging><repositories><repository>{debian}</repository><repository>"
        "<id>own</id><url>file://${project.basedir}/repo</url></repository></repositories><pluginRepositories>"
        f"<pluginRepository>{debian}</pluginRepository></pluginRepositories><dependencies><dependency><groupId>"
        f"org.example</groupId><artifactId>dep</artifactId><version>{version}</version></dependency></dependencies>"
        f"<build><pluginManagement><plugins>{plugins}</plugins></pluginManagement></build></project>"
    )


def gradle_build(version: str) -> str:
    """Return a build that prints the names of what it compiles with, in Gradle's older words for that."""
    return (
        "apply plugin: 'java'\nrepositories { maven { url \"${rootDir}/repo\" } }\n"
        f"dependencies {{ compile 'org.example:dep:{version}' }}\n"
        "task say { doLast { println configurations.runtimeClasspath.files*.name } }\n"
    )


CLASSPATH = "mvn -o -B -q dependency:build-classpath -Dmdep.outputFile=/tmp/path >/dev/null 2>&1; cat /tmp/path | xargs basename"
JVM = [
    pytest.param("pom.xml", pom, CLASSPATH, "dep-{}.jar",
                 marks=at_hand("mvn", how="apt-get install maven libmaven-dependency-plugin-java", in_ci=False)),
    pytest.param("build.gradle", gradle_build, "gradle --no-daemon --offline -q say", "[dep-{}.jar]",
                 marks=at_hand("gradle", how="apt-get install gradle (4.4)", in_ci=False)),
]  # fmt: skip


@takes_long
@pytest.mark.parametrize(("manifest", "text", "ask", "answer"), JVM, ids=["maven", "gradle"])
async def test_a_jvm_build_loads_once_again_for_another_version_and_what_failed_once_is_asked_for_again(
    host: Host, manifest: str, text: Callable[[str], str], ask: str, answer: str
) -> None:
    shas = []
    for version in ("1.0.0", "1.1.0", "9.9.9"):
        if version != "9.9.9":  # which is not there yet
            write_jar(host.origin / "repo", version)
        shas.append(commit(host.origin, {manifest: text(version), "n": version}))
    write_jar(host.origin / "repo", "9.9.9")
    late = commit(host.origin, {"n": "late"})
    found = await jobs_of(host, [shas[0], shas[0], shas[1], shas[2], late], "sh", "-c", ask)
    assert found == [
        ("install", answer.format("1.0.0")), ("checkout", answer.format("1.0.0")), ("update", answer.format("1.1.0")),
        ("failed", LIES), ("install", answer.format("9.9.9")),
    ]  # fmt: skip
