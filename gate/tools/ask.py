"""Ask a tool what it looks at, after its step passed: short, without side effects, and bounded in time.

A tool that cannot be asked is no error: its count stays unknown.
"""

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

_MOST_BYTES = 16 << 20


def ask(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None, stdin: str = "", limit_s: float = 20
) -> str | None:
    """Return what a command prints, None when it fails, takes too long or cannot be started.

    Programs of the packages around cwd (`node_modules/.bin`) are found as package scripts find them.
    """
    if any("$" in word for word in argv[:1]):
        return None
    bins = ":".join(str(folder / "node_modules" / ".bin") for folder in (cwd, *cwd.parents))
    command = ["sh", "-c", 'PATH="$0:$PATH"; exec "$@"', bins, *argv]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as given:
        given.write(stdin.encode())
        given.seek(0)
        try:
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env=dict(env) if env else None,
                stdin=given,
                stdout=out,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            return None
        try:
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None
        out.seek(0)
        return out.read(_MOST_BYTES).decode("utf-8", "replace") if code == 0 else None
