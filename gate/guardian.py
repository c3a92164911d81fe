"""End what steps started where this process itself is killed and can end nothing any more; Linux only.

A small shell waits for a word through a pipe. Where the pipe closes without one, we are gone, and it kills whatever
carries our run's mark in its environment, and takes our temporary folder away. It starts before orphans are adopted,
and belongs to nobody: not to our session, so that no signal for it ends it, and not to our children, so that the end of
a step need not know it.
PR_SET_PDEATHSIG would reach a step's first process only, and end it with the thread that started it.
"""

import contextlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from gate import proc

# rounds, since what is being killed may still start others; grep's own environment carries no mark
_SCRIPT = """exec 3<&0
(
    while IFS= read -r word <&3; do
        [ "$word" = done ] && exit
        folder=$word
    done
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        found=$(grep -lsaF -- "$1" /proc/[0-9]*/environ)
        [ -n "$found" ] || break
        for file in $found; do file=${file#/proc/}; kill -9 "${file%/environ}"; done
    done
    [ -n "$folder" ] && rm -rf -- "$folder"
) </dev/null >/dev/null 2>&1 &
"""


def watch(mark: str, env: Mapping[str, str]) -> IO[bytes] | None:
    """Start the guardian of all processes whose environment holds `mark`; None where there can be none."""
    if sys.platform != "linux":
        return None
    path = {"PATH": env["PATH"]} if "PATH" in env else {}
    return proc.start_apart(["/bin/sh", "-c", _SCRIPT, "sh", mark], env=path)


def leave(guardian: IO[bytes] | None, folder: Path) -> None:
    """Let the guardian take a folder away, too, where this process cannot."""
    if guardian is not None and "\n" not in str(folder):
        with contextlib.suppress(OSError):
            guardian.write(os.fsencode(folder) + b"\n")
            guardian.flush()


def dismiss(guardian: IO[bytes] | None) -> None:
    """Let the guardian go: all steps have ended, and what they left."""
    if guardian is not None:
        try:
            guardian.write(b"done\n")
            guardian.close()
        except OSError:
            return  # it is gone already
