"""Start the command line; also by path (`python -I /path/to/gate/__main__.py`), which keeps PYTHONPATH clean."""

import sys

if not __package__:
    # run by path: the folder above `gate` is not on sys.path yet, and ours must not be
    import pathlib

    _here = pathlib.Path(__file__).resolve().parent
    sys.path[:] = [str(_here.parent), *(p for p in sys.path if p != str(_here))]

from gate.cli import main

if __name__ == "__main__":
    sys.exit(main())
