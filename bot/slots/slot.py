"""One long-lived worktree, and what lies beside it."""

from dataclasses import dataclass, field
from pathlib import Path

from bot.slots.git import Tree


@dataclass(frozen=True, slots=True)
class Slot:
    """One worktree; `home` is HOME of what runs in it, outside of the worktree and new for every job."""

    name: str
    repository: str
    path: Path
    git_dir: Path
    mirror: Path
    home: Path
    held: tuple[int, int] = field(
        default=(0, 0), compare=False
    )  # ticket and epoch of the lease: who gives it back must still hold it

    @property
    def trash(self) -> Path:
        """Return the folder for what is thrown away, on the same file system, emptied off the hot path."""
        return self.path.with_name("trash")

    @property
    def shelf(self) -> Path:
        """Return the folder in which caches lie between jobs, out of their reach."""
        return self.path.with_name("caches")

    @property
    def lent(self) -> Path:
        """Return the file whose time says since when a job may have written here."""
        return self.path.with_name("lent")

    @property
    def made(self) -> Path:
        """Return the file that says what the worktree was when it was made."""
        return self.path.with_name("made.json")

    @property
    def swept(self) -> Path:
        """Return the file that says how each folder stood when the slot was given back."""
        return self.path.with_name("swept.json")

    @property
    def written(self) -> Path:
        """Return the file that says by which attributes git wrote the files of the worktree."""
        return self.path.with_name("written")

    @property
    def installed(self) -> Path:
        """Return the file that says which dependencies stand in the worktree."""
        return self.path.with_name("installed.json")

    @property
    def tree(self) -> Tree:
        """Return worktree and git folder for calls of git."""
        return Tree(self.path, self.git_dir)
