"""mypy as a hook of pre-commit runs in an environment without the project's packages: what they give is Any."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.opening import Repository

ID = "mypy-isolated-env"
SUMMARY = (
    "the hook of `mirrors-mypy` is installed alone and told `--ignore-missing-imports`: without `additional_dependencies` all "
    "that comes from other packages is `Any`, and mistakes with it are not seen.\n"
    "Next: name the typed dependencies in `additional_dependencies`, or run mypy in the project's own environment."
)
FILE = ".pre-commit-config.yaml"


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each such hook, unless another check runs mypy as well."""
    if any(run.tool.NAME in ("mypy", "pyright") for at in repo.checks for run in at.runs):
        return
    found = repo.tree.yaml(FILE) if FILE in repo.tree.known else None
    repos = found.get("repos") if isinstance(found, dict) else None
    for one in repos if isinstance(repos, list) else ():
        hooks = one.get("hooks") if isinstance(one, dict) and "mirrors-mypy" in str(one.get("repo")) else None
        for hook in hooks if isinstance(hooks, list) else ():
            if isinstance(hook, dict) and hook.get("id") == "mypy" and not hook.get("additional_dependencies"):
                yield Finding(
                    ID, Level.WARNING, "mypy runs without the project's packages, so all that comes from them is Any", FILE,
                    getattr(hook, "line", 1), fix="name the typed packages in additional_dependencies",
                    reproduce="pre-commit run mypy --all-files --verbose",
                )  # fmt: skip
