"""Which files of a copy can be broken, and how; each that cannot has its reason."""

from collections.abc import Mapping
from pathlib import Path

from gate.canaries import Aviary, describe
from gate.canaries.canary import Canary, Level
from gate.policy import FILE

MOST_BYTES = 1_000_000  # of a file that is broken: what is larger was not written by hand
_BOM = "\ufeff"


class Candidates:
    """The files of the copy at `tree`: those with a canary, and why the others have none, by path."""

    def __init__(self, tree: Path, modes: Mapping[str, str], *, policy_file: str) -> None:
        self._tree = tree
        self._policy_files = {FILE, policy_file}
        self.canaries = dict[str, Canary]()
        self.reasons = dict[str, str]()
        aviary, root = Aviary(), tree.resolve()
        for path, mode in modes.items():
            found = self._look(aviary, root, path, mode)
            if isinstance(found, str):
                self.reasons[path] = found
            else:
                self.canaries[path] = found

    def broken(self, path: str, level: Level, mark: str) -> str | None:
        """Return a file's text with a break in it; None where nothing in it can be broken at that level."""
        text = (self._tree / path).read_bytes().decode()
        start = _BOM if text.startswith(_BOM) else ""
        breaks = self.canaries[path].BREAKS.get(level)
        broken = breaks(text.removeprefix(start), mark) if breaks else None
        return None if broken is None else start + broken

    def why_not(self, path: str, level: Level) -> str:
        """Return why a file with a canary cannot be broken at a level, nothing where it can."""
        canary = self.canaries[path]
        if level not in canary.BREAKS:
            return f"{canary.NAME} cannot be broken at the level {level}"
        if self.broken(path, level, "cnry") is None:
            return f"there is nothing in it to break at the level {level}"
        return ""

    def _look(self, aviary: Aviary, root: Path, path: str, mode: str) -> Canary | str:
        if mode == "120000":
            return "a link; what it leads to is tried where it is"
        if mode == "160000":
            return "a submodule, which has checks of its own"
        if path in self._policy_files:
            return "the policy itself, which every run of the gate reads"
        where = self._tree / path
        try:
            if where.resolve() != root / path:
                return "it lies behind a link"
            if where.stat().st_size > MOST_BYTES:
                return f"larger than {MOST_BYTES:,} bytes"
            text = where.read_bytes().decode()
        except UnicodeDecodeError:
            return "a binary file, or text that is no UTF-8"
        except OSError as error:
            return f"it cannot be read: {error.strerror}"
        if "\0" in text:
            return "a binary file, or text that is no UTF-8"
        return aviary.find(path, text.partition("\n")[0]) or describe(path)
