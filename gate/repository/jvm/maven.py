"""The projects that a run of Maven builds, and where their files let tests be skipped or fail in vain.

https://maven.apache.org/surefire/maven-surefire-plugin/test-mojo.html
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gate.commands.part import option_values
from gate.commands.resolve import Command
from gate.repository.checks import Check
from gate.repository.opening import Repository
from gate.repository.places import folder_of, inside
from gate.repository.tree import Tree
from gate.repository.xml_lines import Element

PROGRAMS = ("mvn", "mvnw", "mvnd")
_PHASES = {
    "test",
    "prepare-package",
    "package",
    "pre-integration-test",
    "integration-test",
    "post-integration-test",
    "verify",
    "install",
    "deploy",
}
_PROPERTIES = {
    "maven.test.skip": "skip",
    "skipTests": "skip",
    "maven.test.failure.ignore": "ignore",
    "skipITs": "skip-its",
}
_SETTINGS = {
    "skip": "skip",
    "skipTests": "skip",
    "testFailureIgnore": "ignore",
    "failIfNoTests": "none",
    "skipITs": "skip-its",
    "failIfNoSpecifiedTests": "none",
}
_PLUGINS = ("maven-surefire-plugin", "maven-failsafe-plugin")


class MavenRun(NamedTuple):
    """A run of Maven that goes through the phase of tests; `folder` holds its POM."""

    at: Check
    command: Command
    folder: str

    @property
    def words(self) -> tuple[str, ...]:
        """Return its command line behind the program."""
        return self.command.argv[1:]

    def is_set(self, *names: str) -> str:
        """Return the word that turns one of some properties on, empty where none does."""
        for word in self.words:
            found = re.match(r"-D([\w.]+)(?:=(\S*))?$", word)
            if found and found[1] in names and (found[2] or "true") == "true":
                return word
        return ""

    def turned_off(self, *names: str) -> bool:
        """Return whether one of some properties is set to false."""
        return any(w in self.words for n in names for w in (f"-D{n}=false",))


class Setting(NamedTuple):
    """A setting in a POM: `kind` is skip, skip-its, ignore or none; `profile` is the one it stands in."""

    kind: str
    name: str
    path: str
    line: int
    profile: str
    failsafe: bool


def maven_runs(repo: Repository, checks: Sequence[Check]) -> list[MavenRun]:
    """Return the runs of Maven that reach its tests, whether or not they run any."""
    found = list[MavenRun]()
    for at in checks:
        for command in at.commands:
            argv = command.argv
            folder = folder_of(repo, command.cwd) if argv[0] in PROGRAMS else None
            goals = {w for w in argv[1:] if not w.startswith("-")}
            if folder is not None and (goals & _PHASES or any(g.startswith(("surefire:", "failsafe:")) for g in goals)):
                given = option_values(argv, frozenset({"-f", "--file"}))
                path = inside(folder, given[-1]) if given and "$" not in given[-1] else folder
                home = path.rpartition("/")[0] if path and path.endswith(".xml") else path
                if home is not None:
                    found.append(MavenRun(at, command, home))
    return found


def poms(tree: Tree, folder: str) -> Iterator[tuple[str, Element]]:
    """Yield the POM of a folder and those of its modules, each with its folder, at most once."""
    waiting, seen = [folder], set[str]()
    while waiting and len(seen) < 500:
        at = waiting.pop()
        root = tree.xml(f"{at}/pom.xml" if at else "pom.xml") if at not in seen else None
        seen.add(at)
        if root is not None and root.tag == "project":
            yield at, root
            listed = [*root.all("modules", "module"), *root.all("profiles", "profile", "modules", "module")]
            waiting += [m for e in listed if (m := inside(at, e.text.removesuffix("pom.xml"))) is not None]


def settings(folder: str, root: Element, words: Sequence[str]) -> Iterator[Setting]:
    """Yield the settings of a POM that count in a run: its own, and those of the profiles that are active."""
    path = f"{folder}/pom.xml" if folder else "pom.xml"
    # what a profile turns off again, by whatever it is activated, is not sure
    again = {(c.tag, c.text) for p in root.all("profiles", "profile", "properties") for c in p.children}
    yield from (s for s in _of(root, path, "") if (s.name, "false") not in again)
    asked = {p.lstrip("+") for v in _profiles(words) for p in v.split(",")}
    chosen = [p for p in root.all("profiles", "profile") if p.value("id") in asked]
    by_default = [p for p in root.all("profiles", "profile") if p.value("activation", "activeByDefault") == "true"]
    for profile in chosen or [p for p in by_default if not asked & {f"!{p.value('id')}", f"-{p.value('id')}"}]:
        yield from _of(profile, path, profile.value("id"))


def _profiles(words: Sequence[str]) -> list[str]:
    joined = [w[2:] for w in words if w.startswith("-P") and len(w) > 2]
    return [*joined, *option_values(words, frozenset({"-P", "--activate-profiles"}))]


def _of(place: Element, path: str, profile: str) -> Iterator[Setting]:
    for entry in place.all("properties"):
        for child in entry.children:
            if child.tag in _PROPERTIES and child.text == "true":
                yield Setting(_PROPERTIES[child.tag], child.tag, path, child.line, profile, failsafe=False)
    plugins = [*place.all("build", "plugins", "plugin"), *place.all("build", "pluginManagement", "plugins", "plugin")]
    for plugin in plugins:
        name = plugin.value("artifactId")
        if name in _PLUGINS:
            yield from _of_plugin(plugin, path, profile, failsafe=name == _PLUGINS[1])


def _of_plugin(plugin: Element, path: str, profile: str, *, failsafe: bool) -> Iterator[Setting]:
    executions = list(plugin.all("executions", "execution"))
    for child in (c for e in plugin.all("configuration") for c in e.children):
        others = [e.value("configuration", child.tag) for e in executions]
        if _is_on(child) and not any(v not in ("", child.text) for v in others):
            yield Setting(_SETTINGS[child.tag], child.tag, path, child.line, profile, failsafe)
    for execution in executions:
        for child in (c for e in execution.all("configuration") for c in e.children):
            # surefire has an execution of its own beside those that are listed under other names
            alone = all(e.value("configuration", child.tag) == child.text for e in executions)
            own = failsafe or any(e.value("id") == "default-test" for e in executions)
            if _is_on(child) and alone and own:
                yield Setting(_SETTINGS[child.tag], child.tag, path, child.line, profile, failsafe)


def _is_on(child: Element) -> bool:
    return child.tag in _SETTINGS and child.text == ("false" if _SETTINGS[child.tag] == "none" else "true")
