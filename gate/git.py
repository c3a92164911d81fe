"""Questions to git: no hooks, no pager, no configuration that runs programs, nothing of a calling hook."""

import contextlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gate.errors import UsageError

LIMIT_S = 120
CONFIG = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "diff.external=", "core.quotePath=false",
    "submodule.recurse=false", "log.showSignature=false",
)  # fmt: skip


class Answer(NamedTuple):
    """What git said."""

    code: int
    out: bytes
    error: str

    @property
    def text(self) -> str:
        """Return the output as text, trimmed."""
        return self.out.decode("utf-8", "surrogateescape").strip()


def ask(repo: Path, *args: str, stdin: bytes = b"") -> Answer:
    """Run git in a repository; a missing git is a UsageError."""
    return _answer(_start(repo, args), repo, stdin)


def ask_together(repo: Path, *questions: Sequence[str]) -> list[Answer]:
    """Put several questions to git at the same time; as `ask`."""
    started = [_start(repo, question) for question in questions]
    try:
        return [_answer(process, repo) for process in started]
    finally:
        for process in started:
            if process.returncode is None:  # one before it failed
                process.kill()
                process.communicate()


def _start(repo: Path, args: Sequence[str]) -> subprocess.Popen[bytes]:
    config = [part for setting in CONFIG for part in ("-c", setting)]
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    env |= {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C.UTF-8"}
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(["git", *config, *args], cwd=repo, env=env, stdin=pipe, stdout=pipe, stderr=pipe)
    except FileNotFoundError as error:
        raise UsageError("expected git on PATH, found none. Mend: install git") from error


def _answer(process: subprocess.Popen[bytes], repo: Path, stdin: bytes = b"") -> Answer:
    with process:
        try:
            out, error = process.communicate(stdin, timeout=LIMIT_S)
        except BaseException as cut:
            process.kill()
            if isinstance(cut, subprocess.TimeoutExpired):
                raise UsageError(f"git took more than {LIMIT_S} s in {repo}") from cut
            raise
    return Answer(process.returncode, out, error.decode("utf-8", "replace").strip())


def worktree(folder: Path) -> tuple[Path, str | None]:
    """Return the root of the worktree that holds a folder, and the commit that is checked out, None before the first.

    Raises UsageError with git's own words.
    """
    answer = ask(folder, "rev-parse", "--show-toplevel", "HEAD^{commit}")  # one process where all is well
    if answer.code != 0:
        return _toplevel(folder), None
    root, _, head = answer.out.removesuffix(b"\n").rpartition(b"\n")
    return _own(Path(os.fsdecode(root)), folder), head.decode()


def _toplevel(folder: Path) -> Path:
    answer = ask(folder, "rev-parse", "--show-toplevel")
    if answer.code != 0:
        bare = ask(folder, "rev-parse", "--is-bare-repository").text == "true"
        why = "it is a bare repository, which has no files to check" if bare else _on_one_line(answer.error)
        raise UsageError(f"not-a-worktree: expected a git worktree at {folder}, got: {why}")
    return _own(Path(os.fsdecode(answer.out.removesuffix(b"\n"))), folder)


def _on_one_line(error: str) -> str:
    """Return what git says over several lines, as where a checkout is somebody else's, in one."""
    return " ".join(line.strip() for line in error.removeprefix("fatal: ").splitlines() if line.strip())


def _own(root: Path, folder: Path) -> Path:
    """Return the root, unless the folder is a submodule of it that is not there."""
    if root != folder.resolve() and _is_submodule(root, folder):
        raise UsageError(
            f"not-a-worktree: expected a git worktree at {folder}, got: a submodule that is not checked out; "
            "fetch it with `git submodule update --init`"
        )
    return root


def _is_submodule(root: Path, folder: Path) -> bool:
    """Return whether an outer repository holds a folder as a submodule; git itself answers for the outer one there."""
    with contextlib.suppress(ValueError):
        inside = os.fspath(folder.resolve().relative_to(root.resolve()))
        return ask(root, "ls-files", "--stage", "-z", "--", f":(literal){inside}").out.startswith(b"160000 ")
    return False


def resolve_base(repo: Path, ref: str, *, option: str = "--base") -> str:
    """Return the commit to compare with. Raises UsageError where it is not there, never "nothing changed"."""
    if ref.startswith("-") or not ref.strip():
        raise UsageError(f"{option}: expected a commit or a branch, got {ref!r}")
    answer = ask(repo, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    if answer.code == 0:
        return answer.text
    raise UsageError(f"base-unavailable: expected a commit {ref!r}, found none{_shallow(repo)}")


def _shallow(repo: Path) -> str:
    """Return what mends a clone without its history, ready to stand behind what is missing."""
    if ask(repo, "rev-parse", "--is-shallow-repository").text != "true":
        return ""
    return "; the clone is shallow: deepen it with `git fetch --unshallow`, or check out with fetch-depth: 0"


def branched(repo: Path, base: str) -> str:
    """Return the commit since which HEAD has changes of its own: the base, or where the base went on without it."""
    answer = ask(repo, "merge-base", base, "HEAD")
    if answer.code == 0:
        return answer.text
    raise UsageError(f"base-unavailable: expected HEAD to share history with {base}, found none{_shallow(repo)}")


def show(repo: Path, commit: str, path: str) -> bytes | None:
    """Return a file's bytes at a commit; None where it has no such file."""
    answer = ask(repo, "cat-file", "blob", f"{commit}:{path}")
    if answer.code == 0:
        return answer.out
    listed = ask(repo, "ls-tree", "-z", commit, "--", f":(literal){path}")
    if listed.code != 0 or b" blob " in listed.out:
        raise UsageError(f"base-unavailable: the objects of {commit} are not here: {listed.error or answer.error}")
    return None


def show_all(repo: Path, commit: str, paths: Sequence[str], *, most_bytes: int) -> dict[str, bytes]:
    """Return the files' bytes at a commit, each cut at a size, in one call; what is no file there is left out."""
    if any("\n" in path for path in paths):
        return {path: data[:most_bytes] for path in paths if (data := show(repo, commit, path)) is not None}
    asked = b"".join(os.fsencode(f"{commit}:{path}\n") for path in paths)
    answer = ask(repo, "cat-file", "--batch", stdin=asked)
    if answer.code != 0:
        raise UsageError(f"base-unavailable: the objects of {commit} are not here: {answer.error}")
    found, at = dict[str, bytes](), 0
    for path in paths:
        end = answer.out.index(b"\n", at)
        words = answer.out[at:end].rsplit(b" ", 2)
        at = end + 1
        if words[-1] in (b"missing", b"ambiguous"):
            continue
        size = int(words[2])
        if words[1] == b"blob":
            found[path] = answer.out[at : at + min(size, most_bytes)]
        at += size + 1
    return found


def changed(repo: Path, base: str) -> tuple[str, ...]:
    """Return the paths that differ between a commit and the worktree, untracked ones too."""
    tracked, fresh = ask_together(
        repo,
        # dirty: asking a submodule's git how it stands would run what its configuration names
        (
            "diff",
            "--name-only",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=dirty",
            "-z",
            base,
            "--",
        ),
        ("ls-files", "--others", "--exclude-standard", "-z"),
    )
    if tracked.code != 0:
        raise UsageError(f"base-unavailable: {tracked.error}")
    return tuple(sorted({*_paths(tracked.out), *_paths(fresh.out)}))


def _paths(out: bytes) -> Sequence[str]:
    return [os.fsdecode(path) for path in out.split(b"\0") if path]
