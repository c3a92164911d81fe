"""What a package manager is to a slot: the lockfile that shows it, how it installs, and what of that is kept."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from bot.sandbox.box import PATH

DEEPEST = 3  # folders below the root in which lockfiles are looked for
ONE_BUILD = frozenset({"jvm"})  # languages whose build of a folder covers the projects below it
NEVER_TAKES_OUT = frozenset({"bun"})  # managers that leave what nobody asks for any more: they start from nothing
UPWARDS = frozenset({  # inputs that a manager looks for in every folder above its project as well
    "global.json", "nuget.config", "NuGet.config", "NuGet.Config", "Directory.Build.props", "Directory.Build.targets",
    "Directory.Packages.props", "go.work", "go.work.sum", "rust-toolchain", "rust-toolchain.toml", ".cargo/config.toml",
    "uv.toml", ".python-version", ".ruby-version", ".yarnrc", ".yarnrc.yml",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Project:
    """One folder of a repository with a lockfile."""

    folder: str  # from the root; "" is the root
    files: frozenset[str]  # tracked names in it that a package manager of any kind looks at
    scripts: bool  # whether packages may run their own install scripts
    also: tuple[str, ...] = ()  # such files elsewhere, from its folder: of its parts below, of what it obeys above

    def named(self, *names: str) -> list[str]:
        """Return which of these the folder has, in this order; `*.x` stands for all that end so."""
        return [file for name in names for file in ([name] if name in self.files else self._ending(name))]

    def _ending(self, name: str) -> list[str]:
        return sorted(file for file in self.files if name.startswith("*.") and file.endswith(name[1:]))


class Ecosystem(Protocol):
    """One package manager; its modules satisfy this."""

    NAME: str
    LANGUAGE: str  # one manager a language and folder, the first in the registry
    LOCKS: Sequence[str]  # one of these in a folder shows it
    # what else changes the outcome of an install; some lie a folder or two below; `*.x` is a kind
    INPUTS: Sequence[str]
    KEEP: Sequence[str]  # what an install makes and that stays from job to job: folders, and clean.KEPT_FILES
    PROGRAMS: Sequence[str]  # those whose version changes the outcome; the first one installs

    def commands(self, project: Project, /) -> Sequence[Sequence[str]]:
        """Return what installs exactly what the lockfile says."""
        ...

    def env(self, store: Path, /) -> Mapping[str, str]:
        """Return where the manager keeps what it loads; nothing is hard-linked from it."""
        ...

    def later(self, root: Path, store: Path, /) -> Mapping[str, str]:
        """Return the environment in which commands of jobs find what was installed, without a network."""
        ...


Found = tuple[Ecosystem, Project]


def detect(paths: Collection[str], ecosystems: Sequence[Ecosystem], *, scripts: bool) -> list[Found]:
    """Return the projects among tracked paths, those of upper folders first."""
    folders: dict[str, set[str]] = {}
    telling = {name for e in ecosystems for name in (*e.LOCKS, *e.INPUTS)}
    for path in [p for p in paths if p.rpartition("/")[2] in telling]:  # a few of perhaps 50,000
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder, set()).add(name)
    found: list[Found] = []
    for folder in sorted(folders, key=lambda f: (f.count("/") + bool(f), f)):
        languages: set[str] = set()
        for ecosystem in ecosystems:
            project = Project(folder, frozenset(folders[folder]), scripts)
            if ecosystem.LANGUAGE in languages or not project.named(*ecosystem.LOCKS):
                continue
            languages.add(ecosystem.LANGUAGE)
            is_part = any(e is ecosystem and _is_below(folder, p.folder) for e, p in found)
            if ecosystem.LANGUAGE in ONE_BUILD and is_part:
                continue
            if folder.count("/") < DEEPEST:
                found.append((ecosystem, project))
    return [(e, _with_kinds(replace(p, also=_also(e, p.folder, folders, found)), paths, e)) for e, p in found]


def _is_below(folder: str, other: str) -> bool:
    return folder != other and (not other or folder.startswith(f"{other}/"))


def _also(
    ecosystem: Ecosystem, folder: str, folders: Mapping[str, set[str]], found: Sequence[Found]
) -> tuple[str, ...]:
    """Return what a project depends on elsewhere: files of its parts and members below, what it obeys above."""
    own = [p.folder for e, p in found if e.LANGUAGE == ecosystem.LANGUAGE and _is_below(p.folder, folder)]
    names = {*ecosystem.LOCKS, *ecosystem.INPUTS}
    below = [
        f"{other}/{name}"[len(folder) :].lstrip("/")
        for other, has in folders.items()
        if (there := has & names) and _is_below(other, folder) and not any(_is_in(other, o) for o in own)
        for name in there
    ]
    return (*sorted(below), *_above(folder, folders, ecosystem))


def _is_in(folder: str, other: str) -> bool:
    return folder == other or _is_below(folder, other)


def _above(folder: str, folders: Mapping[str, set[str]], ecosystem: Ecosystem) -> Iterator[str]:
    """Yield the inputs in folders above a project, from its folder; those with a folder of their own unseen."""
    wanted, up = [name for name in ecosystem.INPUTS if name in UPWARDS], ""
    while folder and wanted:
        folder, up = folder.rpartition("/")[0], f"../{up}"
        yield from (up + name for name in wanted if "/" in name or name in folders.get(folder, ()))


def _with_kinds(project: Project, paths: Collection[str], ecosystem: Ecosystem) -> Project:
    """Return a project with its files of the kinds that its manager reads under any name."""
    endings = tuple(name[1:] for name in ecosystem.INPUTS if name.startswith("*."))
    if not endings:
        return project
    above = f"{project.folder}/" if project.folder else ""
    found = (path[len(above) :] for path in paths if path.endswith(endings) and path.startswith(above))
    return replace(project, files=project.files | {name for name in found if "/" not in name})


def virtual_env(root: Path) -> dict[str, str]:
    """Return what puts a folder's `.venv` first; its compiled files come from the install and are not written again."""
    return {
        "VIRTUAL_ENV": str(root / ".venv"), "PATH": f"{root / '.venv' / 'bin'}:{PATH}", "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
