"""Nothing says what has to pass: no gate.toml, or one without steps."""

from collections.abc import Iterator

from gate.policy import FILE
from gate.report import Finding, Level
from gate.repository.opening import Repository

ID = "no-policy"
SUMMARY = (
    "no step is configured, so `gate run` is UNGATED. A merge without checks looks like one whose checks passed.\n"
    "Next: `gate init` proposes a gate.toml; `gate init --write` writes it."
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one error where there is no step, which says what the workflows do instead."""
    if repo.tree.policy.steps:
        return
    path = FILE if FILE in repo.tree.known else None
    yield Finding(
        ID, Level.ERROR, f"UNGATED: no step is configured; {_instead(repo)}", path, 1 if path else None,
        fix="`gate init` proposes a gate.toml, and `gate init --write` writes it", reproduce="gate run",
    )  # fmt: skip


def _instead(repo: Repository) -> str:
    if not repo.workflows:
        return "there is no workflow either"
    judging = [w.path for w in repo.workflows if w.judges]
    if not judging:
        return "workflows run for other events only, not for pull requests"
    checks = sum(c.source in judging for c in repo.checks)
    commands = "1 command" if checks == 1 else f"{checks} commands"
    return f"nothing asks what {commands} verified for pull requests ({', '.join(judging)})"
