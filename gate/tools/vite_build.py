"""vite build: `✓ 40 modules transformed.`, once for each environment that it builds."""

from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, closing_line

NAME = "vite build"
KIND = "build"

_MODULES = closing_line(r"(?:✓ )?(?P<modules>\d+) modules? transformed\.")


def matches(argv: Sequence[str]) -> bool:
    """Return whether this is a build by vite."""
    return argv[0] in {"vite", "rolldown-vite"} and "build" in argv[1:3]


def read(ran: Ran) -> Counts:
    """Return how many modules were transformed."""
    found = _MODULES.findall(ran.output)
    if not found:
        return Counts()
    files = sum(int(modules) for modules in found)
    return Counts(files=files, hollow="" if files else "vite build transformed no module")
