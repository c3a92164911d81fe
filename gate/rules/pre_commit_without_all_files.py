"""`pre-commit run` looks at staged files only, of which a clean checkout has none."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from gate.commands.part import skip_options
from gate.report import Finding, Level
from gate.repository.checks import Check
from gate.repository.opening import Repository
from gate.repository.shell_files import place

ID = "pre-commit-without-all-files"
SUMMARY = (
    "`pre-commit run` gives its hooks the files that are staged. In a clean checkout nothing is, so every hook is skipped "
    "and the step is green.\n"
    "Next: `--all-files`, or `--from-ref` and `--to-ref` for what a pull request changes."
)
CONFIGS = (".pre-commit-config.yaml", ".pre-commit-config.yml", "prek.toml")
_GIVEN = (
    "--all-files", "-a", "--files", "--from-ref", "--to-ref", "--source", "-s", "--origin", "-o", "--last-commit", "--directory",
    "-d", "--commit-msg-filename", "--help", "-h",
)  # fmt: skip
_VALUES = frozenset({"-c", "--config", "--color", "--hook-stage", "--stage", "--skip", "--cd", "-C"})
_STAGES = re.compile(
    r"\bgit\s+(?:add|stage|reset\s+--soft|apply\s+--(?:index|cached)|merge\s+--(?:no-commit|squash))\b"
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each such command, unless something is staged before or a hook runs always."""
    told = set[tuple[str, int | None]]()
    for at in repo.checks:
        for command in at.commands:
            hooks = _hooks(command.argv)
            if hooks is None or _is_staged(repo, at) or _runs_always(repo, hooks):
                continue
            spot = place(repo.tree, at, command)
            if spot not in told:
                told.add(spot)
                yield Finding(
                    ID, Level.ERROR, f"{at.name}: `{' '.join(command.argv)[:60]}` looks at staged files, and a clean checkout has none", *spot,
                    fix="add --all-files", reproduce=f"{' '.join(command.argv)}  # every hook: (no files to check)Skipped",
                )  # fmt: skip


def _hooks(argv: Sequence[str]) -> list[str] | None:
    """Return the hooks that a run over staged files names, None where it is no such run."""
    if argv[0] not in ("pre-commit", "pre_commit", "prek"):
        return None
    rest = skip_options(argv[1:], _VALUES)
    if rest[:1] not in (["run"], []) or (not rest and argv[1:]):
        return None
    words = rest[1:]
    if any(w.partition("=")[0] in _GIVEN or re.match(r"^-[av]*a[av]*$", w) or "$" in w for w in words):
        return None
    return [w for n, w in enumerate(words) if not w.startswith("-") and words[n - 1 : n] not in [[v] for v in _VALUES]]


def _is_staged(repo: Repository, at: Check) -> bool:
    return _STAGES.search(at.text if at.is_policy else repo.tree.text(at.source) or "") is not None


def _runs_always(repo: Repository, named: list[str]) -> bool:
    """Return whether one of the hooks that run needs no file."""
    found: Any = next((repo.tree.yaml(p) for p in CONFIGS[:2] if p in repo.tree.known), None)
    repos = found.get("repos") if isinstance(found, dict) else None
    for one in repos if isinstance(repos, list) else ():
        hooks = one.get("hooks") if isinstance(one, dict) else None
        for hook in hooks if isinstance(hooks, list) else ():
            if isinstance(hook, dict) and hook.get("always_run") and (not named or hook.get("id") in named):
                return True
    return False
