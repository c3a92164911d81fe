"""TypeScript files that no type check of the gate looks at."""

import re
from collections import Counter
from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.alike import MANY
from gate.repository.javascript.collecting import reached
from gate.repository.javascript.configs import join
from gate.repository.javascript.packages import home, is_below, packages
from gate.repository.javascript.tests import test_files
from gate.repository.javascript.tsconfig import SUFFIXES, Project, checked, projects_of
from gate.repository.opening import Repository

ID = "typecheck-excludes-source"
SUMMARY = (
    "the gate checks types with tsc, and files of the same package are in none of the projects that it is given:\n"
    "`exclude`, `include`, `files` or `references` leave them out, and no checked file imports them.\n"
    "Next: include them, or add a step with a project that does (`tsc -p tsconfig.test.json --noEmit`)."
)
_TSC = ("tsc", "vue-tsc", "tsgo")
# they check types in their own ways
_OTHERS = {
    "svelte-check",
    "astro",
    "nuxi",
    "nuxt",
    "ng",
    "react-scripts",
    "tsd",
    "glint",
    "ember-tsc",
    "deno",
    "tsc-files",
    "ngc",
    "stencil",
    "tspc",
    "expo",
    "tsdown",
    "vue-cli-service",
    "gatsby",
    "attw",
}
_TOOLING = re.compile(
    r"(?:^|/)(?:[^/]*\.(?:config|setup|conf|stories|d)(?:\.[^/.]+)?\.[cm]?tsx?|\.[^/]+/.*|[^/]*rc\.ts|next-env\.d\.ts)$|-d\.ts$|\.d\.[cm]?ts$"
)
_ASIDE = re.compile(
    r"(?:^|/)(?:examples?|templates?|__templates__|demos?|playgrounds?|sandbox|stubs?|cypress|docs?|website|samples?|[a-z]*[Cc]ases|assembly|benchmarks?|bench|perf|scaffolds?)/"
)
_AMONG_TESTS = re.compile(r"(?:^|/)(?:tests?|specs?|__tests__)/")
_TEST = re.compile(r"(?:^|[._-])(?:tests?|specs?|e2e)[._-]")
_LESSER = re.compile(r"(?:^|/)(?:scripts?|tools?|tooling|e2e|config|configs|infra|hack)/")


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding for each package whose types are checked in part, or for many of them that are alike."""
    projects, unknown = _projects(repo)
    seen = {file for project in projects for file in checked(repo.tree, project)}
    by_home: dict[str, list[Project]] = {}
    for project in projects:
        by_home.setdefault(home(repo.tree, project.path), []).append(project)
    missed: dict[str, list[str]] = {}
    for file in repo.tree.sources(*SUFFIXES):
        own = home(repo.tree, file)
        if file in seen or own not in by_home or _TOOLING.search(file) or _ASIDE.search(file) or _is_data(repo, file):
            continue
        if not any(is_below(file, folder) for folder in unknown) and not _runs_with_types(repo, own, file):
            missed.setdefault(own, []).append(file)
    alike: dict[tuple[tuple[str, ...], Level], list[str]] = {}
    for own, files in missed.items():
        alike.setdefault((tuple(_folders(own, files)), _level(files)), []).append(own)
    for (folders, level), owners in alike.items():
        if len(owners) < MANY:
            yield from (_finding(repo, own, by_home[own], missed[own]) for own in owners)
        else:
            files = sorted(f for own in owners for f in missed[own])
            shown = ", ".join(folders[:5]) + (", …" if len(folders) > 5 else "")
            message = f"no type check of the gate looks at {shown} in {len(owners)} packages ({len(files)} files)"
            yield _told(repo, by_home[owners[0]][0], message, level, files)


def _projects(repo: Repository) -> tuple[list[Project], list[str]]:
    """Return the projects that the gate checks, and the folders below which something else may check types."""
    found, unknown = list[Project](), list[str]()
    for command in (c for at in repo.gate for c in at.commands):
        folder = repo.tree.relative(command.cwd)
        if command.argv[0] in _TSC and not {"--version", "--init", "--showConfig"} & set(command.argv):
            projects = projects_of(repo.tree, command)
            unknown += [folder] if projects is None else []
            found += projects or ()
        elif command.argv[:2] == ("next", "build"):
            found += projects_of(repo.tree, command._replace(argv=("tsc",))) or ()
        elif command.argv[0] in ("dtslint", "tstyche"):
            unknown += [join(folder, w) for w in command.argv[1:] if not w.startswith("-")] or [folder]
        elif command.argv[0] in _OTHERS or "--typecheck" in command.argv:
            unknown.append(folder)
    return [p for p in {p.path: p for p in found}.values() if not p.is_empty], unknown


def _is_data(repo: Repository, file: str) -> bool:
    """Return whether a file lies among tests, and neither holds one nor is imported by one."""
    if not _AMONG_TESTS.search(file) or _TEST.search(file.rpartition("/")[2]):
        return False
    return file not in test_files(repo.tree) and file not in reached(repo)


def _runs_with_types(repo: Repository, own: str, file: str) -> bool:
    """Return whether a test is compiled with types when it runs: ts-jest and ts-node do."""
    member = packages(repo.tree).get(own)
    return member is not None and member.depends("ts-jest", "ts-node") and file in reached(repo)


def _folders(own: str, files: list[str]) -> Counter[str]:
    """Return the folders of a package that are left out, or files at its top, with how many files of each."""
    start = 0 if own == "." else len(own) + 1
    return Counter(f[start:].partition("/")[0] + "/" if "/" in f[start:] else f[start:] for f in files)


def _level(files: list[str]) -> Level:
    return Level.WARNING if all(_LESSER.search(f) for f in files) else Level.ERROR


def _finding(repo: Repository, own: str, projects: list[Project], files: list[str]) -> Finding:
    folders = _folders(own, files)
    shown = ", ".join(f"{name} ({count})" if name.endswith("/") else name for name, count in folders.most_common(5))
    more = f" and {len(folders) - 5} more" if len(folders) > 5 else ""
    many = f"{len(files)} files" if len(files) > 1 else "1 file"
    return _told(repo, projects[0], f"no type check of the gate looks at {many}: {shown}{more}", _level(files), files)


def _told(repo: Repository, project: Project, message: str, level: Level, files: list[str]) -> Finding:
    keys = ('"exclude"', '"include"', '"files"')
    line = next((n for k in keys if (n := repo.tree.line_of(project.path, k))), 1)
    return Finding(
        ID, level, message, project.path, line, tuple(sorted(files)), len(files),
        fix="include them, or add a step with a project that does", reproduce=f"npx tsc -p {project.path} --listFilesOnly",
    )  # fmt: skip
