"""Start the command line; also by path (`python -I /path/to/gate/__main__.py`), which keeps PYTHONPATH clean."""

import contextlib
import gc
import os
import signal
import sys
from typing import NoReturn

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C while modules load ends us without a traceback
if sys.version_info < (3, 11):  # noqa: UP036 whoever starts us by path may have an older one
    print("gate: expected Python 3.11 or newer, found " + sys.version.split()[0], file=sys.stderr)
    sys.exit(2)

if not __package__:
    # run by path: the folder above `gate` is not on sys.path yet, and ours must not be
    import pathlib

    _here = pathlib.Path(__file__).resolve().parent
    sys.path[:] = [str(_here.parent), *(p for p in sys.path if p != str(_here))]

from gate import cli


def main() -> NoReturn:
    """Run a command and leave at once: taking all modules down one by one would cost a tenth of a short run."""
    gc.disable()  # a run makes next to no cycles, and looking for them costs as much
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # from here on somebody catches it
    code = cli.main()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
