"""A check names its tests or packages one by one, and some beside them are not among them."""

import re
from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.listings import Listing, listings, siblings
from gate.repository.opening import Repository

ID = "hand-listed-tests-incomplete"
SUMMARY = (
    "a command, a matrix or a loop lists test files or packages by hand, and others of the same kind in the same folder are "
    "run by nothing: who adds a test has to know of the list. Quiet where any workflow, makefile or script names them.\n"
    "Next: give the folder instead of the list, or compute the list; name on purpose what is left out."
)
_MENTIONS = (
    ".github/**", "**/Makefile", "**/makefile", "**/*.mk", "**/*.sh", "**/package.json", "**/tox.ini", "**/noxfile.py", "**/justfile",
    "**/Taskfile*", ".gitlab-ci.yml", ".circleci/*", "azure-pipelines*", ".travis.yml", "Jenkinsfile*", ".buildkite/*", "gate.toml",
    "**/pytest.ini", "**/pyproject.toml", "**/conftest.py", "ci/**",
)  # fmt: skip
_MOST = 4  # times as many beside the list as in it: then it is a choice


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each list whose siblings no run takes and no file of the checks names."""
    found = listings(repo)
    told = set[str]()
    for one in found.found:
        missed = [p for p in siblings(repo.tree, one) if p not in told and not _is_covered(p, found.covered)]
        missed = [p for p in missed if not _is_named(repo, p)]
        if not missed or len(missed) > _MOST * len(one.paths):
            continue
        told.update(missed)
        yield _told(one, sorted(missed))


def _told(one: Listing, missed: list[str]) -> Finding:
    whole, names = len(missed) + len(one.paths), ", ".join(p.rpartition("/")[2] for p in missed[:3])
    more = f" and {len(missed) - 3} more" if len(missed) > 3 else ""
    return Finding(
        ID, Level.WARNING, f"{one.at} lists {len(one.paths)} of the {whole} with tests in {one.folder or 'the root'}; nothing runs {names}{more}",
        one.path, one.line, files=tuple(missed), count=len(missed), fix="give the folder, or compute the list",
        reproduce=f"git ls-files {one.folder or '.'}",
    )  # fmt: skip


def _is_covered(path: str, covered: frozenset[str]) -> bool:
    return any(not c or path == c or path.startswith(f"{c}/") for c in covered)


def _is_named(repo: Repository, path: str) -> bool:
    def words() -> frozenset[str]:
        texts = [repo.tree.text(p) or "" for p in repo.tree.named(*_MENTIONS)]
        return frozenset(w for t in texts for w in re.findall(r"[\w.-]+", t))

    mentioned = repo.tree.once("words of the checks", words)
    name = path.rpartition("/")[2]
    return name in mentioned or name.partition(".")[0] in mentioned
