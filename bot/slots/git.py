"""Every call of git: environment from nothing, no hooks, no configuration but ours, explicit folders."""

import asyncio
import base64
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot import log as logs
from bot.sandbox import proc
from bot.slots import own, partial
from bot.slots.index import Tracked, listed, read_index
from bot.slots.plain import is_kept_by_git, take_away_odd
from bot.slots.remote import Away, trouble

LOG = logs.logger("slots")
LIMIT_S = 600.0
SILENCE_S = 60  # of a forge, which shows every 5 s that it works (uploadpack.keepAlive, receive.keepAlive)
OUTPUT_BYTES = 50_000_000
NEGOTIATED_BYTES = 4_000_000  # of history: to send as much costs more than the two requests of asking what is there
_WARNINGS = re.compile(r"\A(?:warning: [^\n]*\n)+")
ENV: Mapping[str, str] = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_NO_LAZY_FETCH": "1",  # known since git 2.44; before that the address in partial.SECTION leads nowhere
}
CONFIG = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.trustctime=true", "core.checkStat=default",
    "core.untrackedCache=false", "core.symlinks=true", "core.autocrlf=false", "core.attributesFile=/dev/null",
    "credential.helper=", "http.followRedirects=false", "gc.auto=0", "maintenance.auto=false", "commit.gpgSign=false",
    "safe.directory=*", "submodule.recurse=false", "fetch.recurseSubmodules=false", "protocol.ext.allow=never",
    "protocol.file.allow=always", "diff.external=", "advice.detachedHead=false",
)  # fmt: skip


class GitError(Exception):
    """A call of git failed; the text is what git said."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A slot's worktree with its git folder named outright, so that a rewritten `.git` file leads nowhere."""

    path: Path
    git_dir: Path


@dataclass(frozen=True, slots=True)
class Pushed:
    """The branch is at the commit now."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The forge refused the push."""

    reason: str


async def call(
    *args: str, git_dir: Path, work_tree: Path | None = None, env: Mapping[str, str] | None = None,
    stdin: bytes | None = None, limit_s: float = LIMIT_S, ok: Sequence[int | None] = (0,), log: Path | None = None,
) -> proc.Done:  # fmt: skip
    """Run git over an explicit git folder; raises GitError for an exit code that is not `ok`."""
    where = [f"--git-dir={git_dir}", *([f"--work-tree={work_tree}"] if work_tree else [])]
    config = [part for setting in CONFIG for part in ("-c", setting)]
    done = await proc.run(
        "git", *where, *config, *args, cwd=work_tree or git_dir, env={**ENV, **(env or {})}, limit_s=limit_s,
        stdin=stdin, keep_bytes=OUTPUT_BYTES, log=log, ours=True,
    )  # fmt: skip
    if done.exit_code not in ok:
        why = "took too long" if done.timed_out else done.output.strip()[-2000:]
        raise GitError(f"git {args[0]}: {why}")
    return done


async def tracked(tree: Tree) -> tuple[Tracked, bool]:
    """Return the index's paths, each with mode and blob, and whether no flag hides one from a reset."""
    found = read_index(tree.git_dir / "index")
    if found is not None:
        return found, True
    lines = await _names(tree, "ls-files", "-v", "-s", "-z")
    return listed(_entry(line) for line in lines), all(line.startswith("H ") for line in lines)


def _entry(line: str) -> tuple[str, int, str]:
    """Return path, mode and id of a line of `ls-files -v -s`: `H 100644 e69de29... 0<tab>path`."""
    what, _, path = line.partition("\t")
    _, mode, blob, _ = what.split(" ")
    return path, int(mode, 8), blob


async def ensure_mirror(path: Path, *, is_partial: bool = False) -> bool:
    """Make the bare repository that serves all slots of one repository; return whether it was made now.

    `is_partial` is for one that is made now: of files it holds what `fetch_objects` brings.
    """
    if (path / "HEAD").exists():
        return False
    path.mkdir(parents=True, exist_ok=True)
    await call("init", "--quiet", "--bare", str(path), git_dir=path)
    if is_partial:
        partial.begin(path)
    own.note(path)
    return True


async def fetch(
    mirror: Path, url: str, *, token: str | None, refs: Sequence[str] = ("+refs/heads/*:refs/remotes/origin/*",),
    silence_s: int = SILENCE_S,
) -> None:  # fmt: skip
    """Bring refs of the forge into the mirror; nothing of the repository's configuration is used.

    Raises remote.Away where the forge cannot serve it now, remote.NoAccess where it will not.
    """
    is_partial = partial.is_partial(mirror)
    is_new = not is_partial or not any((mirror / "objects" / "pack").glob("*.pack"))
    done = await _remote(
        "fetch", "--quiet", "--no-tags", "--prune", "--no-write-fetch-head", "--no-auto-gc",
        *((partial.FILTER, partial.REMOTE) if is_partial else (url,)), *refs,
        git_dir=mirror, env=_environment(url, token), ok=(0,), silence_s=silence_s,
    )  # fmt: skip
    if is_partial and is_new and partial.IGNORED in done.output:
        partial.end(mirror)
        own.note(mirror)
        LOG.warning("cloned whole: the forge's git knows no filters", extra={"mirror": mirror.parent.name})


async def fetch_objects(mirror: Path, url: str, *, token: str | None, ids: Sequence[str]) -> None:
    """Bring these objects of the forge into a partial mirror, in one request. Raises as `fetch`."""
    await _remote(
        "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", partial.FILTER, "--stdin",
        partial.REMOTE, git_dir=mirror, env=_environment(url, token, ("fetch.negotiationAlgorithm", "noop")), ok=(0,),
        stdin="".join(f"{one}\n" for one in ids).encode(),
    )  # fmt: skip


async def _remote(
    *args: str, git_dir: Path, env: Mapping[str, str], ok: Sequence[int], limit_s: float = LIMIT_S,
    silence_s: int = SILENCE_S, stdin: bytes | None = None,
) -> proc.Done:  # fmt: skip
    """Run git against the forge; raises what stands between us and it, else GitError for a code that is not `ok`."""
    patience = {"GIT_HTTP_LOW_SPEED_LIMIT": "1", "GIT_HTTP_LOW_SPEED_TIME": str(silence_s)}  # bytes a second, seconds
    given = {**env, **patience}
    done = await call(*args, git_dir=git_dir, env=given, limit_s=limit_s, ok=(0, 1, 128, None), stdin=stdin)
    if done.timed_out:
        raise Away(f"git {args[0]}: the forge did not finish within {limit_s:g} s")
    stands = trouble(args[0], done.output) if done.exit_code != 0 else None
    if stands is not None:
        raise stands
    if done.exit_code not in ok:
        raise GitError(f"git {args[0]}: {done.output.strip()[-2000:]}")
    return done


async def has_commit(mirror: Path, sha: str) -> bool:
    """Return whether the mirror holds a commit."""
    done = await call("cat-file", "-e", f"{sha}^{{commit}}", git_dir=mirror, ok=(0, 1, 128))
    return done.exit_code == 0


async def merge_base(mirror: Path, one: str, other: str) -> str | None:
    """Return the commit at which two lines of work parted; None where they never met."""
    done = await call("merge-base", one, other, git_dir=mirror, ok=(0, 1))
    return done.output.split()[0] if done.exit_code == 0 else None


async def read_first(mirror: Path, sha: str, paths: Sequence[str]) -> str:
    """Return the text of the first of these files that the commit has, or nothing.

    Raises GitError where the commit has one and a partial mirror does not.
    """
    asked = (call("cat-file", "blob", f"{sha}:{path}", git_dir=mirror, ok=(0, 128)) for path in paths)
    found = await asyncio.gather(*asked)
    lacks = next((done.output for done in found if done.exit_code != 0 and partial.LACKS.search(done.output)), "")
    if lacks:
        raise GitError(f"git cat-file: {lacks.strip()[-2000:]}")
    return next((done.output for done in found if done.exit_code == 0), "")


async def changed_paths(mirror: Path, base: str, head: str) -> tuple[str, ...]:
    """Return the paths that differ between two commits, both names of a rename."""
    done = await call(
        "diff", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "-z", base, head, git_dir=mirror
    )
    return tuple(path for path in done.output.split("\0") if path)


async def commit_all(
    tree: Tree, *, parent: str, message: str, author: tuple[str, str], co_author: str = "",
    parents: Sequence[str] = (), keep_as: str | None = None, on_left: Callable[[Sequence[str]], None] | None = None,
) -> str | None:  # fmt: skip
    """Commit all that differs from `parent` in the worktree, on top of it or of `parents`; None where nothing does.

    What lies in a repository that the job made is left out, and so are FIFOs, sockets and devices in place of files:
    `on_left` hears of both, repositories with a `/` at their end. Submodules stay as they are.
    `keep_as` is a ref of ours that is brought to the commit in the same step as HEAD.
    """
    before, written = await asyncio.gather(
        call("rev-parse", f"{parent}^{{tree}}", git_dir=tree.git_dir), _write_tree(tree, on_left)
    )
    if written == before.output.strip():
        return None
    who = {
        "GIT_AUTHOR_NAME": author[0], "GIT_AUTHOR_EMAIL": author[1],
        "GIT_COMMITTER_NAME": author[0], "GIT_COMMITTER_EMAIL": author[1],
    }  # fmt: skip
    text = f"{message.strip()}\n" + (f"\nCo-authored-by: {co_author}\n" if co_author else "")
    on = [word for one in parents or (parent,) for word in ("-p", one)]
    made = await call("commit-tree", written, *on, "-F", "-", git_dir=tree.git_dir, env=who, stdin=text.encode())
    sha = made.output.strip()
    moved = f"option no-deref\nupdate HEAD {sha}\n" + (f"update {keep_as} {sha}\n" if keep_as else "")
    await call("update-ref", "--stdin", git_dir=tree.git_dir, stdin=moved.encode())
    return sha


async def _write_tree(tree: Tree, on_left: Callable[[Sequence[str]], None] | None) -> str:
    left = await _stage(tree)
    if left and on_left is not None:
        on_left(left)
    return (await call("write-tree", git_dir=tree.git_dir, work_tree=tree.path)).output.strip()


async def _stage(tree: Tree) -> list[str]:
    """Put what the worktree holds into the index, without looking into repositories in it; return what is left out.

    `git add --all` asks the git of each submodule, and of each repository that it once added, how it stands, and that
    one runs what the job wrote into its configuration (core.fsmonitor, filters): outside of the box.
    """
    await asyncio.to_thread(take_away_odd, tree.path, (".gitattributes", ".gitignore"))
    words, new = await asyncio.gather(
        _names(tree, "diff-files", "--name-status", "--no-renames", "--ignore-submodules=all", "-z"),
        _names(tree, "ls-files", "--others", "--exclude-standard", "-z"),
    )
    gone = [path for how, path in zip(words[::2], words[1::2], strict=True) if how == "D"]
    there = [path for how, path in zip(words[::2], words[1::2], strict=True) if how != "D"]
    odd = [path for path in there if not is_kept_by_git(tree.path / path)]
    there = [path for path in [*there, *new] if not path.endswith("/") and path not in odd]
    for flags, paths in ((("--force-remove",), gone), (("--add", "--remove", "--replace"), there)):
        if paths:
            listed = b"".join(os.fsencode(path) + b"\0" for path in paths)
            await call("update-index", *flags, "-z", "--stdin", stdin=listed, git_dir=tree.git_dir, work_tree=tree.path)
    return [*(path for path in new if path.endswith("/")), *odd]


async def _names(tree: Tree, *args: str) -> list[str]:
    """Return what git lists, not from its output as text: names need not be UTF-8; warnings stand before names."""
    listing = tree.git_dir / f"listing-{args[0]}"
    try:
        await call(*args, git_dir=tree.git_dir, work_tree=tree.path, log=listing)
        parts = os.fsdecode(listing.read_bytes()).split("\0")[:-1]
    finally:
        listing.unlink(missing_ok=True)
    return [_WARNINGS.sub("", part) for part in parts]


@dataclass(frozen=True, slots=True)
class MergeCommit:
    """A merge; `conflicts` are the paths that hold both sides, text between markers."""

    sha: str
    conflicts: tuple[str, ...] = ()


async def merge_commits(mirror: Path, head: str, base: str, *, message: str, author: tuple[str, str]) -> MergeCommit:
    """Merge `base` into `head` without a worktree."""
    done = await call(
        "merge-tree",
        "--write-tree",
        "-z",
        "--name-only",
        "--no-messages",
        "--allow-unrelated-histories",
        head,
        base,
        git_dir=mirror,
        ok=(0, 1),
    )
    tree, *conflicts = [part for part in done.output.split("\0") if part]
    who = {
        "GIT_AUTHOR_NAME": author[0], "GIT_AUTHOR_EMAIL": author[1],
        "GIT_COMMITTER_NAME": author[0], "GIT_COMMITTER_EMAIL": author[1],
    }  # fmt: skip
    made = await call(
        "commit-tree", tree, "-p", head, "-p", base, "-F", "-", git_dir=mirror, env=who, stdin=message.encode()
    )
    return MergeCommit(made.output.strip(), tuple(dict.fromkeys(conflicts)))


async def marked(mirror: Path, sha: str, paths: Sequence[str]) -> tuple[str, ...]:
    """Return which of these files of a commit hold the markers of a conflict."""
    if not paths:
        return ()
    literal = [f":(top,literal){path}" for path in paths]
    done = await call(
        "grep", "-l", "-z", "-I", "-E", "^(<<<<<<<|>>>>>>>) ", sha, "--", *literal, git_dir=mirror, ok=(0, 1)
    )
    return tuple(found.removeprefix(f"{sha}:") for found in done.output.split("\0") if found)


def _packed_bytes(mirror: Path) -> int:
    return sum(pack.stat().st_size for pack in (mirror / "objects" / "pack").glob("*.pack"))


async def push(
    mirror: Path, *, url: str, token: str | None, sha: str, branch: str, expected: str | None,
    ours: Sequence[str] = (), limit_s: float = LIMIT_S, silence_s: int = SILENCE_S,
) -> Pushed | Rejected:  # fmt: skip
    """Bring a branch of the forge from `expected` (None: it must not exist) to `sha`; never over somebody's commits.

    `ours` are commits that the bot pushed there before, perhaps from another host. Rejected is the forge's own answer
    about the branch; raises remote.Away and remote.NoAccess as `fetch` does: a lost answer is no refusal.
    """
    if expected is not None and expected != sha and expected not in ours:
        if not await has_commit(mirror, expected):
            await fetch(mirror, url, token=token)
        older = await call("merge-base", "--is-ancestor", expected, sha, git_dir=mirror, ok=(0, 1, 128))
        kept = await call("for-each-ref", "--contains", expected, "refs/sluice/", git_dir=mirror, ok=(0, 129))
        if older.exit_code != 0 and not kept.output.strip():
            return Rejected(f"the branch holds commits that are not ours ({expected[:10]})")
    # where no ref of the forge is known here, for its base moved, a push would send, and first fetch, all of history
    asks = partial.is_partial(mirror) or _packed_bytes(mirror) > NEGOTIATED_BYTES
    negotiated = (("push.negotiate", "true"),) if asks else ()
    lease = f"--force-with-lease=refs/heads/{branch}:{expected or ''}"
    done = await _remote(
        "push", "--quiet", "--no-verify", "--porcelain", lease, url, f"{sha}:refs/heads/{branch}",
        git_dir=mirror, env=_environment(url, token, *negotiated), ok=(0, 1, 128), limit_s=limit_s, silence_s=silence_s,
    )  # fmt: skip
    return Pushed() if done.exit_code == 0 else Rejected(done.output.strip()[-500:])


async def is_ancestor(mirror: Path, older: str, newer: str) -> bool:
    """Return whether a commit is part of another's history."""
    done = await call("merge-base", "--is-ancestor", older, newer, git_dir=mirror, ok=(0, 1))
    return done.exit_code == 0


async def message_of(mirror: Path, sha: str) -> str:
    """Return a commit's message."""
    return (await call("log", "-1", "--format=%B", sha, git_dir=mirror)).output.strip()


async def keep_ref(mirror: Path, ref: str, sha: str) -> None:
    """Keep a commit from being lost, under a ref of ours."""
    await call("update-ref", ref, sha, git_dir=mirror)


async def bundle(mirror: Path, base: str, ref: str) -> bytes:
    """Return the commits from `base` to a ref as a bundle; git makes none of a commit without a name."""
    path = mirror / f"bundle-{ref.replace('/', '-')}"
    try:
        await call("bundle", "create", "--quiet", str(path), ref, f"^{base}", git_dir=mirror)
        return path.read_bytes()
    finally:
        path.unlink(missing_ok=True)


async def unbundle(mirror: Path, data: bytes, head: str) -> None:
    """Bring the commits of a bundle into the mirror, and keep their head."""
    path = mirror / f"unbundle-{head}"
    path.write_bytes(data)
    try:
        await call("bundle", "unbundle", str(path), git_dir=mirror)
        await keep_ref(mirror, f"refs/sluice/kept/{head}", head)
    finally:
        path.unlink(missing_ok=True)


def _environment(url: str, token: str | None, *given: tuple[str, str]) -> dict[str, str]:
    """Return the environment of a call that may reach a forge: only here does a partial mirror know its address.

    The token is for one host; nothing of it shows in a process list.
    """
    settings = [*given, (f"url.{url}.insteadOf", partial.NOWHERE)]
    if token is not None:
        host = "/".join(url.split("/")[:3])
        header = "Authorization: Basic " + base64.b64encode(f"x-access-token:{token}".encode()).decode()
        settings.append((f"http.{host}/.extraHeader", header))
    numbered = {name: text for n, (key, value) in enumerate(settings)
                for name, text in ((f"GIT_CONFIG_KEY_{n}", key), (f"GIT_CONFIG_VALUE_{n}", value))}  # fmt: skip
    return {"GIT_CONFIG_COUNT": str(len(settings)), "GIT_NO_LAZY_FETCH": "0", **numbered}
