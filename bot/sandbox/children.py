"""Hear of children's ends from the kernel. Python does so by itself from 3.12 on, and this file goes with 3.11."""

import asyncio
import contextlib
import functools
import os
import sys
from typing import Any


@functools.cache
def hear_of_ends() -> None:
    """Let a descriptor (pidfd, Linux 5.3) say when a child has ended; once a process, where the system can.

    Python 3.11 starts a thread for each child that waits in it, which costs more than to start git.
    """
    if sys.version_info < (3, 12):
        with contextlib.suppress(AttributeError, OSError):  # neither Linux nor new enough
            os.close(os.pidfd_open(os.getpid()))
            asyncio.set_child_watcher(_Descriptors())


if sys.version_info < (3, 12):

    class _Descriptors(asyncio.PidfdChildWatcher):
        """Serves every loop of the process: each hears of the children that it started."""

        def is_active(self) -> bool:
            return True

        def attach_loop(self, loop: asyncio.AbstractEventLoop | None) -> None:
            """Do nothing: a child belongs to the loop that runs when it is started."""

        def add_child_handler(self, pid: int, callback: Any, *args: Any) -> None:  # type: ignore[override]
            loop, descriptor = asyncio.get_running_loop(), os.pidfd_open(pid)

            def ended() -> None:
                loop.remove_reader(descriptor)
                os.close(descriptor)
                try:
                    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                except ChildProcessError:
                    code = 255  # somebody else waited for it; what Python itself says then
                callback(pid, code, *args)

            loop.add_reader(descriptor, ended)

        def remove_child_handler(self, pid: int) -> bool:  # noqa: ARG002 none is ever taken back
            return False
