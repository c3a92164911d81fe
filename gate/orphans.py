"""Adopt what steps leave behind, so that nothing outlives its step; Linux only.

An orphan goes to its nearest ancestor that asked for orphans (PR_SET_CHILD_SUBREAPER, prctl(2)). A process that left
its group and emptied its environment is found by nothing else. Who adopts must bury too: a test that asks whether its
daemon is gone must not find a zombie.
"""

import contextlib
import os
import signal
import sys
import threading
import time
from typing import NamedTuple

MARK = "GATE_STEP"  # in the environment of all that a step starts, unless it is taken out
LIMIT_S = 5.0  # for all of a step's orphans to be gone
_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


class Orphan(NamedTuple):
    """A child of ours that we did not start; `born` is in clock ticks since the system started."""

    pid: int
    born: int
    mark: str


class Family:
    """The processes that we started and those that came to us; nothing is adopted before `adopt` is called."""

    def __init__(self) -> None:
        self.adopts = False
        self.name = os.urandom(8).hex()  # with which the mark of each step begins
        self.starting = threading.RLock()  # held while a process starts: one that is not known yet must not be buried
        self._changed = threading.Condition(self.starting)
        self._own: dict[int, tuple[str, int]] = {}  # what was started and is not reaped: mark, born
        self._starts = 0

    def adopt(self) -> bool:
        """Become the parent of all orphans below; call it once, from a command line. Returns whether it took."""
        if sys.platform != "linux" or self.adopts or not os.path.exists("/proc/self/stat"):  # noqa: PTH110 hot
            return self.adopts
        import ctypes  # noqa: PLC0415 the command line alone adopts

        with contextlib.suppress(OSError, AttributeError):
            self.adopts = ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
        if self.adopts:
            threading.Thread(target=self._bury, daemon=True).start()
        return self.adopts

    def started(self, pid: int, mark: str) -> None:
        """Note a process that was just started, in the same hold of `starting`."""
        if self.adopts:
            self._own[pid] = mark, _born(pid)
            self._starts += 1
            self._changed.notify_all()

    def reaped(self, pid: int) -> None:
        """Note that a process which we started was waited for."""
        with self._changed:
            self._own.pop(pid, None)
            self._changed.notify_all()

    def end(self, mark: str) -> list[int]:
        """Kill the orphans of a step whose process was reaped; return those that do not die."""
        until = time.monotonic() + LIMIT_S
        with self._changed:
            if not self._own and _childless():
                return []
            while left := [orphan.pid for orphan in _orphans(set(self._own)) if self._belongs(orphan, mark)]:
                for pid in left:
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, signal.SIGKILL)
                if time.monotonic() > until:
                    return left
                self._changed.wait(0.05)  # woken by each burial
        return []

    def _belongs(self, orphan: Orphan, mark: str) -> bool:
        """Return whether an orphan came from this step, or from none that still runs."""
        if orphan.mark == mark:
            return True
        if any(orphan.mark == running for running, _ in self._own.values()):
            return False
        return all(born > orphan.born for _, born in self._own.values())

    def _bury(self) -> None:
        """Wait for every orphan that dies; those that we started are left to who waits for them."""
        ours = os.getsid(0)
        while True:
            seen = self._starts
            try:
                # to look without burying: the answer may be one of our own
                died = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
            except ChildProcessError:
                with self._changed:
                    self._changed.wait_for(lambda: self._starts != seen)  # noqa: B023 called at once
                continue
            if died is not None:
                self._let_go(died.si_pid, ours)

    def _let_go(self, pid: int, ours: int) -> None:
        with self._changed:
            if pid in self._own:
                self._changed.wait_for(lambda: pid not in self._own)
                return
            with contextlib.suppress(ProcessLookupError, PermissionError, ChildProcessError):
                if os.getsid(pid) != ours:  # a question to git is in our session, and waited for where it was asked
                    os.waitpid(pid, os.WNOHANG)
            self._changed.notify_all()


FAMILY = Family()


def _childless() -> bool:
    """Return whether this process has no child at all: the usual end, and cheaper to know than whose they are."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def _orphans(own: set[int]) -> list[Orphan]:
    """Return our children that we did not start, zombies too."""
    me, ours, found = str(os.getpid()), os.getsid(0), []
    for name in os.listdir("/proc"):  # noqa: PTH208 hot
        if not name.isdecimal() or (pid := int(name)) in own:
            continue
        try:
            if os.getsid(pid) in (0, ours):  # the kernel's own have none; asking costs a tenth of reading
                continue
        except (ProcessLookupError, PermissionError):
            continue
        stat = _stat(name)
        if len(stat) > 19 and stat[1] == me:
            found.append(Orphan(pid, int(stat[19]), _mark(name)))
    return found


def _stat(pid: str) -> list[str]:
    """Return the fields of /proc/PID/stat from the third on (proc(5)); the second may hold blanks and brackets."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 hot
        return file.read().decode("ascii", "replace").rpartition(")")[2].split()
    return []


def _born(pid: int) -> int:
    stat = _stat(str(pid))
    return int(stat[19]) if len(stat) > 19 else 0


def _mark(pid: str) -> str:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123 hot
        for variable in file.read().split(b"\0"):
            if variable.startswith(f"{MARK}=".encode()):
                return variable.decode("ascii", "replace").partition("=")[2]
    return ""
