"""A file of Go tests is built under a tag only, and no run of the gate sets it."""

import re
from collections.abc import Iterator, Sequence

from gate.report import Finding, Level
from gate.repository.go_files import GoRun, can_hold, constraint, go_runs, has_tests, own_tags
from gate.repository.opening import Repository
from gate.repository.shell_files import place

ID = "build-tag-hides-tests"
SUMMARY = (
    "`go test ./...` passes over a file that begins with `//go:build integration`: `[no test files]`, exit 0. A warning where a\n"
    "script names the tag but no step runs it, a note where a workflow does so beside the policy, or for tags such as `ignore`.\n"
    "Next: add a step `go test -tags integration ./...`."
)
_ASIDE = frozenset({"ignore", "never", "none", "disabled", "skip", "manual", "tools", "tool", "example", "wip", "todo"})
_SCRIPTS = (
    "**/*.sh", "**/*.bash", "**/*.mk", "**/Makefile", "**/makefile", "**/GNUmakefile", "**/*.yml", "**/*.yaml", "**/justfile", "**/Earthfile",
    "**/Dockerfile*", "**/*.py", "**/*.toml", "**/BUILD", "**/BUILD.bazel", "**/magefile.go", "magefiles/**", "**/*.ps1", "**/.envrc",
)  # fmt: skip


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding for each constraint, with the files that stand under it."""
    runs = go_runs(repo.tree, repo.gate)
    if not runs:
        return
    hidden: dict[str, list[str]] = {}
    for path in repo.tree.sources("_test.go"):
        expression = constraint(repo.tree, path)
        if expression and own_tags(expression) and _is_hidden(path, expression, runs) and has_tests(repo.tree, path):
            hidden.setdefault(expression, []).append(path)
    every = go_runs(repo.tree, repo.checks)
    for expression, files in hidden.items():
        first = next(r for r in runs if r.takes(files[0]))
        tags = own_tags(expression)
        level, why = _level(repo, tags, elsewhere=not all(_is_hidden(f, expression, every) for f in files))
        many = f"{len(files)} files" if len(files) > 1 else "1 file"
        yield Finding(
            ID, level, f"{first.at.name}: {many} of tests built under `{expression}` never {'runs' if len(files) == 1 else 'run'}{why}",
            *place(repo.tree, first.at, first.command, "test"), files=tuple(files), count=len(files),
            fix=f"add a step `go test -tags {','.join(tags)} ./...`",
            reproduce=f"go list -f '{{{{.IgnoredGoFiles}}}}' ./{files[0].rpartition('/')[0]}",
        )  # fmt: skip


def _is_hidden(path: str, expression: str, runs: Sequence[GoRun]) -> bool:
    """Return whether runs test a file's package, and each of them without the file."""
    taking = [run for run in runs if run.takes(path)]
    return bool(taking) and not any(can_hold(expression, run.tags) for run in taking)


def _level(repo: Repository, tags: Sequence[str], *, elsewhere: bool) -> tuple[Level, str]:
    if elsewhere:
        return Level.NOTE, " in the gate, at most in a workflow beside it"
    if _ASIDE.intersection(tags):
        return Level.NOTE, ""
    named = re.compile(rf"tags?\b[^\n]*\b(?:{'|'.join(map(re.escape, tags))})\b", re.IGNORECASE)
    for path in repo.tree.named(*_SCRIPTS):
        if path != repo.tree.policy.file and named.search(repo.tree.text(path) or ""):
            return Level.WARNING, f", though {path} knows the tag"
    return Level.ERROR, ""
