"""The copy's own git repository: the original's history, borrowed; each broken state is a commit, as a change would be.

Nothing of the original is written to: objects are read through `objects/info/alternates`, new ones are the copy's own.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from gate import git
from gate.errors import UsageError

_WHO = ("-c", "user.name=gate", "-c", "user.email=gate@localhost", "-c", "core.autocrlf=false")
_KEPT = ("remote.", "user.")  # of the original's configuration: what tools ask of it
_GLOB = re.compile(rb"[\\*?\[ !#]")  # what .gitignore reads as more than a name
# no filter of the user's runs, and every file comes back byte for byte
_ATTRIBUTES = "* -filter -text -eol -ident -working-tree-encoding\n"


class History:
    """The repository of the copy at `tree`; `files` are the modes of all that is in its first commit, by path.

    Folders that stand in `without` are not added to it, as installed packages that nobody told git to ignore.
    """

    def __init__(self, root: Path, tree: Path, *, without: Sequence[str] = ()) -> None:
        self._tree = tree
        self._without = without
        self._open(root)
        self.files = dict[str, str]()
        self._base = self._first_commit()

    def commit(self, paths: Sequence[str]) -> None:
        """Commit these files as they are now, on top of the whole state."""
        self._ask("add", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=_literal(paths))
        self._move(self._commit(self._base))

    def restore(self) -> None:
        """Bring back every file of the whole state, with a fresh time where it was another, also what a step wrote."""
        self._move(self._base)
        self._ask("read-tree", "--reset", "-u", self._base)

    def _open(self, root: Path) -> None:
        asked = ("objects", "shallow", "info/exclude")
        form, objects, shallow, exclude = self._ask(
            "rev-parse",
            "--path-format=absolute",
            "--show-object-format",
            *(w for n in asked for w in ("--git-path", n)),
            at=root,
        ).splitlines()
        self._ask("init", "-q", "--template=", f"--object-format={form}")
        own = self._tree / ".git"
        for name in ("objects/info", "info"):
            (own / name).mkdir(parents=True, exist_ok=True)
        (own / "objects" / "info" / "alternates").write_bytes(os.fsencode(objects) + b"\n")
        (own / "info" / "attributes").write_text(_ATTRIBUTES)
        ignored = Path(exclude).read_bytes() if Path(exclude).exists() else b""
        folders = b"".join(b"/%s/\n" % _GLOB.sub(rb"\\\g<0>", os.fsencode(path)) for path in self._without)
        (own / "info" / "exclude").write_bytes(ignored + b"\nnode_modules/\n" + folders)
        if Path(shallow).exists():
            (own / "shallow").write_bytes(Path(shallow).read_bytes())
        refs = self._ask("for-each-ref", "--format=create %(refname) %(objectname)", at=root)
        self._ask("update-ref", "--stdin", stdin=os.fsencode(f"{refs}\n") if refs else b"")
        head = git.ask(root, "symbolic-ref", "--quiet", "HEAD")
        if head.code == 0:
            self._ask("symbolic-ref", "HEAD", head.text)
        else:
            self._ask("update-ref", "--no-deref", "HEAD", self._ask("rev-parse", "HEAD", at=root))
        listed = git.ask(root, "config", "--local", "--list", "-z").out.decode("utf-8", "surrogateescape")
        for item in listed.split("\0"):
            key, _, value = item.partition("\n")
            if key.startswith(_KEPT):
                self._ask("config", "--add", key, value)

    def _first_commit(self) -> str:
        head = git.ask(self._tree, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        parent = head.text if head.code == 0 else ""
        if parent:
            self._ask("read-tree", parent)
        modules = [path for path, mode in self._listed().items() if mode == "160000"]
        self._ask("add", "--all", "--", ".", *(f":(exclude,literal){path}" for path in modules))
        self.files = self._listed()
        base = parent
        if not parent or self._ask("write-tree") != self._ask("rev-parse", f"{parent}^{{tree}}"):
            base = self._commit(parent)
        self._move(base)
        return base

    def _listed(self) -> dict[str, str]:
        lines = self._ask("ls-files", "--stage", "-z").split("\0")
        return {line.partition("\t")[2]: line[:6] for line in lines if line}

    def _commit(self, parent: str) -> str:
        before = ("-p", parent) if parent else ()
        return self._ask("commit-tree", *before, "-m", "A state to be checked", self._ask("write-tree"))

    def _move(self, commit: str) -> None:
        self._ask("update-ref", "HEAD", commit)

    def _ask(self, *words: str, stdin: bytes = b"", at: Path | None = None) -> str:
        answer = git.ask(at or self._tree, *_WHO, *words, stdin=stdin)
        if answer.code != 0:
            raise UsageError(f"expected a repository for the copy, got: git {words[0]}: {answer.error}")
        return answer.text


def _literal(paths: Sequence[str]) -> bytes:
    return b"".join(b":(literal)" + os.fsencode(path) + b"\0" for path in paths)
