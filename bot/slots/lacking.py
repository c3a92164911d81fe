"""What a partial mirror lacks for a job: the files of its commits, of where they parted, and of what lies between."""

from collections.abc import Sequence
from pathlib import Path

from bot.slots import git
from bot.slots.partial import is_partial

MOST_BASES = 64  # of two lines of work that merged each other again and again


async def lacking(mirror: Path, *commits: str, beyond: str = "") -> list[str]:
    """Return the files that have to be fetched before all can be done with these commits without a network.

    That is: standing at one, reading and comparing them, merging them with the first; with `beyond` also bundling and
    pushing what they have that this commit has not. The mirror has to hold the commits themselves. Nothing is lacking
    in a mirror that is whole.
    """
    if not commits or not is_partial(mirror):
        return []
    known = dict.fromkeys((*commits, beyond) if beyond else commits)
    for head in tuple(known)[1:]:
        await _parted(mirror, head, commits[:1], known)
    found = await _missing(mirror, "--no-walk", *known)
    if beyond:
        found += await _missing(mirror, *commits, f"^{beyond}")
    return list(dict.fromkeys(found))


async def _missing(mirror: Path, *revisions: str) -> list[str]:
    done = await git.call("rev-list", "--objects", "--no-object-names", "--missing=print", *revisions, git_dir=mirror)
    return [line[1:] for line in done.output.splitlines() if line.startswith("?")]


async def _parted(mirror: Path, one: str, others: Sequence[str], known: dict[str, None]) -> None:
    """Add where two lines of work parted; where in several places, what merging those into one base needs as well.

    As git does it: https://git-scm.com/docs/git-merge#_merge_strategies (ort)
    """
    done = await git.call("merge-base", "--all", one, *others, git_dir=mirror, ok=(0, 1))
    bases = [sha for sha in reversed(done.output.split()) if done.exit_code == 0]
    is_new = not known.keys() >= set(bases)
    known.update(dict.fromkeys(bases))
    if is_new and len(known) < MOST_BASES:
        for n in range(1, len(bases)):
            await _parted(mirror, bases[n], bases[:n], known)
