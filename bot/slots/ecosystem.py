"""What a package manager is to a slot: the lockfile that shows it, how it installs, and what of that is kept."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bot.sandbox.box import PATH

DEEPEST = 3  # folders below the root in which lockfiles are looked for


@dataclass(frozen=True, slots=True)
class Project:
    """One folder of a repository with a lockfile."""

    folder: str  # from the root; "" is the root
    files: frozenset[str]  # tracked names in it that a package manager of any kind looks at
    scripts: bool  # whether packages may run their own install scripts

    def named(self, *names: str) -> list[str]:
        """Return which of these the folder has, in this order."""
        return [name for name in names if name in self.files]


class Ecosystem(Protocol):
    """One package manager; its modules satisfy this."""

    NAME: str
    LANGUAGE: str  # one manager a language and folder, the first in the registry
    LOCKS: Sequence[str]  # one of these in a folder shows it
    INPUTS: Sequence[str]  # what else changes the outcome of an install
    KEEP: Sequence[str]  # what an install makes and that stays from job to job: folders, and clean.KEPT_FILES
    PROGRAMS: Sequence[str]  # those whose version changes the outcome; the first one installs

    def commands(self, project: Project, /) -> Sequence[Sequence[str]]:
        """Return what installs exactly what the lockfile says."""
        ...

    def env(self, store: Path, /) -> Mapping[str, str]:
        """Return where the manager keeps what it loads, shared by all slots of a host; nothing hard-linked from it."""
        ...

    def later(self, root: Path, store: Path, /) -> Mapping[str, str]:
        """Return the environment in which commands of jobs find what was installed, without a network."""
        ...


Found = tuple[Ecosystem, Project]


def detect(paths: Iterable[str], ecosystems: Sequence[Ecosystem], *, scripts: bool) -> list[Found]:
    """Return the projects among tracked paths, those of upper folders first."""
    folders: dict[str, set[str]] = {}
    telling = {name for e in ecosystems for name in (*e.LOCKS, *e.INPUTS)}
    for path in [p for p in paths if p.rpartition("/")[2] in telling]:  # a few of perhaps 50,000
        folder, _, name = path.rpartition("/")
        if path.count("/") <= DEEPEST:
            folders.setdefault(folder, set()).add(name)
    found: list[Found] = []
    for folder in sorted(folders, key=lambda f: (f.count("/") + bool(f), f)):
        languages: set[str] = set()
        project = Project(folder, frozenset(folders[folder]), scripts)
        for ecosystem in ecosystems:
            if ecosystem.LANGUAGE not in languages and project.named(*ecosystem.LOCKS):
                languages.add(ecosystem.LANGUAGE)
                found.append((ecosystem, project))
    return found


def virtual_env(root: Path) -> dict[str, str]:
    """Return what puts a folder's `.venv` first; its compiled files come from the install and are not written again."""
    return {
        "VIRTUAL_ENV": str(root / ".venv"), "PATH": f"{root / '.venv' / 'bin'}:{PATH}", "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
