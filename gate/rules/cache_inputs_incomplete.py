"""turbo or nx replay a check from their cache although a file changed that it reads."""

from collections.abc import Iterator

from gate.patterns import later
from gate.report import Finding, Level
from gate.repository.checks import Check
from gate.repository.javascript.caches import Replayed, replayed
from gate.repository.javascript.workspace import Asked, scripts_everywhere
from gate.repository.opening import Repository

ID = "cache-inputs-incomplete"
SUMMARY = (
    "a task of turbo or nx is replayed, and green, as long as none of its `inputs` changed. Files that its tool reads and that are "
    "no inputs: settings of the tool, test files, or what these settings name above the package (a shared setup file, a preset, a "
    "base tsconfig), which turbo does not take into account by itself. Told for steps of the policy, and for workflows that keep a "
    "cache; dependencies between packages are not looked at.\n"
    "Next: name them in `inputs` (`$TURBO_DEFAULT$`, `{workspaceRoot}/...`) or in `globalDependencies`."
)
_KEPT = later(
    r"TURBO_TOKEN|TURBO_TEAM|TURBO_CACHE|\.turbo\b|turborepo|caching-for-turbo|remoteCache|nxCloud|NX_CLOUD|nx-cloud|\.nx/cache|node_modules/\.cache"
)
_JUDGES = later(r"test|check|lint|types?\b|verif|e2e|spec|unit|tsc|build")


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding for each task, with all files of all packages that are no inputs."""
    found = dict[tuple[str, str, int | None], tuple[Check, Asked, set[str]]]()
    for at, asked in scripts_everywhere(repo):
        if at.is_policy or _keeps(repo, at):
            for one in replayed(repo.tree, asked):
                if _JUDGES.search(one.task):
                    found.setdefault((one.task, one.path, one.line), (at, asked, set()))[2].update(one.missed)
    for (task, path, line), (at, asked, missed) in found.items():
        yield _told(Replayed(task, path, line, tuple(sorted(missed))), at, asked)


def _keeps(repo: Repository, at: Check) -> bool:
    return any(
        _KEPT.search(repo.tree.text(p) or "") for p in (at.source, "turbo.json", "nx.json") if p in repo.tree.known
    )


def _told(one: Replayed, at: Check, asked: Asked) -> Finding:
    named = ", ".join(one.missed[:3]) + (f" and {len(one.missed) - 3} more" if len(one.missed) > 3 else "")
    return Finding(
        ID, Level.WARNING, f"{at.name}: {asked.program} replays {one.task} although {named} changed: no input of the task",
        one.path, one.line, files=one.missed, count=len(one.missed), fix="name them in inputs or globalDependencies",
        reproduce=f"{asked.words}; printf '\\n' >> {one.missed[0]}; {asked.words}  # a cache hit; git checkout {one.missed[0]}",
    )  # fmt: skip
