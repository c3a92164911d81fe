"""Commands that run inside a container of this checkout: `docker compose run app pytest`."""

from collections.abc import Sequence
from pathlib import Path

from gate.commands.part import Part, join, skip_options

_RUN = frozenset(
    {"-v", "--volume", "-w", "--workdir", "-e", "--env", "--env-file", "-u", "--user", "--name", "--network", "-p"}
    | {"--publish", "--mount", "--entrypoint", "--platform", "-m", "--memory", "--cpus", "-l", "--label", "--index"}
    | {"--pull", "-h", "--hostname", "--tmpfs", "--shm-size", "--cap-add", "--add-host", "--gpus", "-T=x"}
)
_COMPOSE = frozenset({"-f", "--file", "-p", "--project-name", "--profile", "--env-file", "--project-directory"})


def expand(argv: tuple[str, ...], cwd: Path, root: Path) -> Sequence[Part] | None:
    """Return the command that runs in the container, None when none is named."""
    del root
    words = list(argv[1:])
    if argv[0] in {"docker", "podman", "nerdctl"}:
        if words[:1] == ["compose"]:
            words = skip_options(words[1:], _COMPOSE)
        elif words[:1] == ["container"]:
            words = words[1:]
    elif argv[0] == "docker-compose":
        words = skip_options(words, _COMPOSE)
    else:
        return None
    if words[:1] not in (["run"], ["exec"]):
        return None
    command = skip_options(words[1:], _RUN)[1:]  # the first word is the image or the service
    return [Part(join(command), cwd, launcher=argv[: len(argv) - len(command)])] if command else None
