"""Ask a tool what it looks at, after its step passed: short, without side effects, bounded in time, boxed as the step.

A tool that cannot be asked is no error: its count stays unknown.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gate import proc

_CONTAINERS = {"docker", "docker-compose", "podman", "nerdctl"}  # another container is a side effect
_MOST_BYTES = 16 << 20
ALL_S = 30.0  # for all questions of a step
# the programs of the packages around are found as package scripts find them; only what the tool says is kept
_SHELL = 'PATH="$0:$PATH"; exec "$@" 2>/dev/null'
_SHELL_FED = 'PATH="$0:$PATH"; printf %s "$1" | { shift; exec "$@" 2>/dev/null; }'


class Asker(NamedTuple):
    """How questions are put: the step's environment, and what is put before its shell, such as a sandbox."""

    env: Mapping[str, str]
    until: float  # by the monotonic clock; a question that comes later is not put
    wrap: tuple[str, ...] = ()
    stop: threading.Event | None = None

    def ask(self, argv: Sequence[str], *, cwd: Path, stdin: str = "", limit_s: float = 20) -> str | None:
        """Return what a command prints, None when it fails, takes too long or cannot be started."""
        if "$" in argv[0] or argv[0] in _CONTAINERS:
            return None
        limit_s = min(limit_s, self.until - time.monotonic())
        if limit_s <= 0:
            return None
        bins = ":".join(str(folder / "node_modules" / ".bin") for folder in (cwd, *cwd.parents))
        shell = ["sh", "-c", _SHELL_FED, bins, stdin] if stdin else ["sh", "-c", _SHELL, bins]
        import tempfile  # noqa: PLC0415 few steps have a tool that is asked

        with tempfile.TemporaryDirectory(prefix="gate-ask-") as folder:
            log = Path(folder) / "answer"
            ended = proc.run(
                [*self.wrap, *shell, *argv],
                cwd=cwd,
                env=self.env,
                log=log,
                limit_s=limit_s,
                stop=self.stop or threading.Event(),
            )
            if ended.exit_code != 0 or ended.error:
                return None
            with log.open("rb") as file:
                return file.read(_MOST_BYTES).decode("utf-8", "replace")
