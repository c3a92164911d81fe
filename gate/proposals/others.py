"""Go, Rust, the JVM, .NET, C, Swift, Ruby, PHP, Elixir, make, just and pre-commit."""

import re
from collections.abc import Iterator
from pathlib import Path

from gate.proposals.line import Line, read, read_json, read_toml

_OWN = ("package.json", "pyproject.toml", "go.mod", "Cargo.toml", "pom.xml", "setup.py", "CMakeLists.txt")


def look(folder: Path) -> Iterator[Line]:
    """Yield the steps of every ecosystem that is here."""
    for found in (_go, _rust, _jvm, _dotnet, _c, _scripted, _make):
        yield from found(folder)
    if (folder / ".pre-commit-config.yaml").is_file():
        yield Line("hooks", "pre-commit run --all-files", "check", "pre-commit is configured")


def _go(folder: Path) -> Iterator[Line]:
    if (folder / "go.mod").is_file():
        yield Line("vet", "go vet ./...", "lint", "go.mod is here")
        if any(folder.glob(".golangci.*")):
            yield Line("lint", "golangci-lint run", "lint", "golangci-lint is configured")
        yield Line("test", "go test ./...", "test", "go.mod is here")


def _rust(folder: Path) -> Iterator[Line]:
    manifest = read_toml(folder / "Cargo.toml")
    if not manifest or (
        "workspace" not in manifest and any((p / "Cargo.toml").is_file() for p in list(folder.parents)[:2])
    ):
        return
    whole = " --workspace" if "workspace" in manifest else ""
    yield Line("clippy", f"cargo clippy{whole} --all-targets -- -D warnings", "lint", "Cargo.toml is here")
    yield Line("test", f"cargo test{whole}", "test", "Cargo.toml is here")


def _jvm(folder: Path) -> Iterator[Line]:
    above = folder.parent
    if (folder / "pom.xml").is_file() and folder.name not in re.findall(
        r"<module>\s*(?:[^<]*/)?([^</]+?)\s*</module>", read(above / "pom.xml")
    ):
        program = "./mvnw" if (folder / "mvnw").is_file() else "mvn"
        yield Line("test", f"{program} -B verify", "test", "pom.xml is here")
    elif any(
        (folder / name).is_file()
        for name in ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
    ):
        program = "./gradlew" if (folder / "gradlew").is_file() else "gradle"
        yield Line("test", f"{program} check", "test", "a Gradle build is here")


def _dotnet(folder: Path) -> Iterator[Line]:
    solution = [*folder.glob("*.sln"), *folder.glob("*.slnx")]
    above = [*folder.parent.glob("*.sln"), *folder.parent.glob("*.slnx")]
    if solution or (any(folder.glob("*.[cf]sproj")) and not above):
        yield Line("test", "dotnet test", "test", "a .NET solution or project is here")


def _c(folder: Path) -> Iterator[Line]:
    text = read(folder / "CMakeLists.txt")
    if re.search(r"^[ \t]*project\s*\(", text, re.M | re.I):
        build = "cmake -S . -B build && cmake --build build"
        if re.search(r"enable_testing|include\s*\(\s*CTest", text, re.I):
            yield Line(
                "test", f"{build} && ctest --test-dir build --no-tests=error", "test", "CMakeLists.txt enables tests"
            )
        else:
            yield Line("build", build, "build", "CMakeLists.txt is here, without tests", evidence='"exit"')
    if (folder / "Package.swift").is_file():
        yield Line("test", "swift test", "test", "Package.swift is here")


def _scripted(folder: Path) -> Iterator[Line]:
    """Ruby, PHP and Elixir."""
    if (folder / "Gemfile").is_file():
        if (folder / ".rubocop.yml").is_file():
            yield Line("lint", "bundle exec rubocop", "lint", ".rubocop.yml is here")
        if (folder / "spec").is_dir():
            yield Line("test", "bundle exec rspec", "test", "a Gemfile and spec/ are here")
        elif (folder / "bin" / "rails").is_file():
            yield Line("test", "bin/rails test", "test", "bin/rails is here")
        elif (folder / "test").is_dir():
            yield Line("test", "bundle exec rake test", "test", "a Gemfile and test/ are here")
    if read_json(folder / "composer.json"):
        if any(folder.glob("phpstan.neon*")):
            yield Line("analyse", "vendor/bin/phpstan analyse", "typecheck", "phpstan is configured", evidence='"exit"')
        if any(folder.glob("phpunit.xml*")):
            yield Line("test", "vendor/bin/phpunit", "test", "phpunit.xml is here")
    if (folder / "mix.exs").is_file():
        yield Line("test", "mix test", "test", "mix.exs is here", evidence='"exit"')


def _make(folder: Path) -> Iterator[Line]:
    if any((folder / name).is_file() for name in _OWN):
        return
    for file, program in (("Makefile", "make"), ("GNUmakefile", "make"), ("justfile", "just"), ("Justfile", "just")):
        text = read(folder / file)
        for target, kind in (("lint", "lint"), ("check", "check"), ("build", "build"), ("test", "test")):
            if re.search(rf"^{target}\s*[^:=\n]*:(?!=)", text, re.M):
                yield Line(target, f"{program} {target}", kind, f"the {file} has the target {target!r}")
