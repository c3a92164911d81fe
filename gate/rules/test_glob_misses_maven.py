"""A Java class holds tests, and neither surefire nor failsafe takes a class of its name."""

import re
from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.jvm.maven import MavenRun, maven_runs, poms
from gate.repository.jvm.tests import files_with_tests
from gate.repository.opening import Repository
from gate.repository.shell_files import place
from gate.repository.xml_lines import Element

ID = "test-glob-misses"
SUMMARY = (
    "Maven's surefire takes classes named `Test*`, `*Test`, `*Tests` or `*TestCase`, failsafe `IT*`, `*IT` or `*ITCase`, and only where "
    "its plugin is configured and the run goes as far as `verify`: tests in a class of another name never run.\n"
    "A warning where a parent from elsewhere may set other patterns.\nNext: rename the class, or configure `includes`."
)
_SUREFIRE = re.compile(r"^(?:Test.*|.*(?:Test|Tests|TestCase))$")
_FAILSAFE = re.compile(r"^(?:IT.*|.*(?:IT|ITCase))$")
_TEST = re.compile(r"^[ \t]+@(?:Test|ParameterizedTest|RepeatedTest)\b", re.M)
_ABSTRACT = re.compile(r"^(?:public\s+)?(?:abstract|interface)\b|^public abstract\b", re.M)
_REACHES = {"verify", "install", "deploy", "integration-test"}


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding for classes of no name that is taken, and one for integration tests that nothing runs."""
    runs = [r for r in maven_runs(repo, repo.gate) if not r.is_set("skipTests", "maven.test.skip")]
    if not runs or any(w.startswith(("-Dtest=", "-Dit.test=")) or "$" in w for r in runs for w in r.words):
        return
    run = runs[0]
    read = dict(poms(repo.tree, run.folder))
    texts = {f: repo.tree.text(f"{f}/pom.xml" if f else "pom.xml") or "" for f in read}
    if any(_configures(root) or "tycho" in texts[f] or "testng" in texts[f].lower() for f, root in read.items()):
        return
    failsafe = any("maven-failsafe-plugin" in t for t in texts.values())
    level = Level.WARNING if any(_has_foreign_parent(root, read) for root in read.values()) else Level.ERROR
    missed, integration = list[str](), list[str]()
    words: dict[str, int] | None = None
    for path in files_with_tests(repo.tree, run.folder):
        home, _, inside = path.rpartition("src/test/java/")
        name = path.rpartition("/")[2].removesuffix(".java")
        if not inside or not path.endswith(".java") or home.rstrip("/") not in read or _SUREFIRE.match(name):
            continue
        text = repo.tree.text(path) or ""
        if not _TEST.search(text) or _ABSTRACT.search(text):
            continue
        words = _words(repo, run) if words is None else words
        # no other file extends it or lists it in a suite
        if words.get(name, 0) <= bool(re.search(rf"\b{name}\b", text)):
            (integration if _FAILSAFE.match(name) else missed).append(path)
    if missed:
        yield _finding(repo, run, "their names fit neither surefire's patterns nor failsafe's", missed, level)
    if integration and (not failsafe or not any(_REACHES & set(r.words) for r in runs)):
        why = "failsafe runs them, and no command goes as far as `verify`" if failsafe else "no POM configures failsafe"
        yield _finding(repo, run, why, integration, Level.WARNING if failsafe else level)


def _finding(repo: Repository, run: MavenRun, why: str, files: list[str], level: Level) -> Finding:
    return Finding(
        ID, level, f"{run.at.name}: tests that never run: {why}", *place(repo.tree, run.at, run.command), files=tuple(sorted(files)), count=len(files),
        fix="rename the classes to …Test, or configure the plugin", reproduce=f"mvn test -Dtest={files[0].rpartition('/')[2].removesuffix('.java')}",
    )  # fmt: skip


def _configures(root: Element) -> bool:
    """Return whether a POM says which classes are tests."""
    places = [root, *root.all("profiles", "profile")]
    plugins = [
        p
        for at in places
        for where in (("build",), ("build", "pluginManagement"))
        for p in at.all(*where, "plugins", "plugin")
    ]
    asked = {
        "includes",
        "include",
        "includesFile",
        "suiteXmlFiles",
        "test",
        "groups",
        "excludes",
        "testClassesDirectory",
    }
    return any(
        asked.intersection(c.tag for c in config.children)
        for p in plugins
        if p.value("artifactId") in ("maven-surefire-plugin", "maven-failsafe-plugin")
        for config in [*p.all("configuration"), *p.all("executions", "execution", "configuration")]
    )


def _has_foreign_parent(root: Element, read: dict[str, Element]) -> bool:
    """Return whether a POM has a parent that is none of those that were read."""
    parent = root.value("parent", "artifactId")
    return bool(parent) and not any(r.value("artifactId") == parent for r in read.values())


def _words(repo: Repository, run: MavenRun) -> dict[str, int]:
    """Return in how many test sources each word stands."""
    found: dict[str, int] = {}
    for path in files_with_tests(repo.tree, run.folder):
        for word in set(re.findall(r"\w+", repo.tree.text(path) or "")):
            found[word] = found.get(word, 0) + 1
    return found
