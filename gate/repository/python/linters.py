"""Which files of a Python product its linters look at, and by which pattern the others are hidden from them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from typing import Any, NamedTuple

from gate import git
from gate.commands.part import option_values
from gate.commands.resolve import Command
from gate.integrity.configs import PYTHON
from gate.repository.checks import Check
from gate.repository.opening import Repository
from gate.repository.patterns import searches
from gate.repository.python.config import Settings, below, product, settings
from gate.repository.tree import Tree
from gate.tools import pre_commit

IGNORED = "a tracked file that .gitignore names"
_PYLINT = (
    (".pylintrc", ("MASTER",)), (".pylintrc", ("MAIN",)), ("pylintrc", ("MASTER",)), ("pylintrc", ("MAIN",)),
    ("pyproject.toml", ("tool", "pylint", "main")), ("pyproject.toml", ("tool", "pylint", "master")),
    ("pyproject.toml", ("tool", "pylint", "MASTER")), ("pyproject.toml", ("tool", "pylint", "MAIN")), ("setup.cfg", ("pylint.MASTER",)),
)  # fmt: skip
_PLACES: Mapping[str, Any] = {
    "ruff": PYTHON["ruff"],
    "flake8": PYTHON["flake8"],
    "black": PYTHON["black"],
    "pylint": _PYLINT,
}
# tool: its settings, and options of the same names, that hide files; how their values are read
_KEYS = {
    "ruff": {"exclude": "glob", "extend-exclude": "glob"}, "flake8": {"exclude": "glob", "extend-exclude": "glob"},
    "black": {"exclude": "regex", "extend-exclude": "regex", "force-exclude": "regex"},
    "pylint": {"ignore": "glob", "ignore-patterns": "name", "ignore-paths": "start"},
}  # fmt: skip
_VALUES = frozenset({
    "--config", "--select", "--ignore", "--extend-select", "--output-format", "--format", "--max-line-length", "--max-complexity", "--rcfile",
    "--target-version", "-t", "-l", "--line-length", "--exclude", "--extend-exclude", "--force-exclude", "--ignore-patterns", "--ignore-paths",
    "--disable", "--enable", "-d", "-e", "-j", "--jobs", "--per-file-ignores", "--extend-ignore", "--fail-under", "--cache-dir", "-W", "--workers",
    "--output-file", "-o", "--load-plugins", "--include", "--add-opts", "--tee-file", "--docstring-convention", "--fail-on", "--required-version",
})  # fmt: skip
_HOOKS = {
    "ruff": "ruff",
    "ruff-check": "ruff",
    "ruff-format": "ruff format",
    "flake8": "flake8",
    "pylint": "pylint",
    "black": "black",
}


class Linted(NamedTuple):
    """One run of a linter: what it looks at, and what is hidden from it by which pattern; `at` is None where nothing runs it."""

    at: Check | None
    tool: str
    seen: frozenset[str]
    hidden: Mapping[tuple[str, str, int | None], tuple[str, ...]]  # (pattern, path, line): files

    @property
    def is_format(self) -> bool:
        """Return whether only the look of a file is judged."""
        return self.tool in ("black", "ruff format")


def linted(repo: Repository) -> tuple[Linted, ...] | None:
    """Return the runs; None where the words of one leave open what it looks at."""
    found = list[Linted]()
    for at in repo.checks:
        for command in at.commands:
            if command.argv[0] in _KEYS and not {"--version", "--help", "rule", "config", "clean"} & set(
                command.argv[1:3]
            ):
                if any(sign in w for w in command.argv[1:] for sign in "$`{") or _has_config(command):
                    return None
                found += _of_command(repo.tree, at, command)
    return (*found, *_of_hooks(repo))


def _has_config(command: Command) -> bool:
    return (
        bool(option_values(command.argv, frozenset({"--config", "--rcfile", "--append-config"})))
        or "--isolated" in command.argv
    )


def _of_command(tree: Tree, at: Check, command: Command) -> Iterator[Linted]:
    tool, words = command.argv[0], list(command.argv[1:])
    if tool == "ruff":
        tool, words = (
            ("ruff format" if words[:1] == ["format"] else "ruff"),
            words[1:] if words[:1] in (["check"], ["format"]) else words,
        )
    folder = tree.relative(command.cwd)
    folder = "" if folder == "." or folder.startswith("..") else folder
    targets = [below(folder, w) for w in _plain(words)] or ([folder] if tool not in ("pylint", "black") else [])
    inside = [p for p in product(tree) if any(not t or p == t or p.startswith(f"{t}/") for t in targets)]
    given = [
        (v, k, how) for k, how in _KEYS[command.argv[0]].items() for v in option_values(words, frozenset({f"--{k}"}))
    ]
    yield _linted(tree, at, (tool, folder), inside, given)


def _plain(words: list[str]) -> Iterator[str]:
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in _VALUES:
            skip = True
        elif not word.startswith("-"):
            yield word


def _linted(
    tree: Tree, at: Check | None, tool: tuple[str, str], inside: Iterable[str], given: list[tuple[str, str, str]]
) -> Linted:
    program = tool[0].partition(" ")[0]
    own = settings(tree, _PLACES[program], tool[1])
    patterns = [
        (p, how, at.source if at else "", at.line if at else None) for v, _, how in given for p in _split(v, how)
    ]
    patterns += _of_settings(tree, own, program) if own else []
    ignored = frozenset[str]()
    if program in ("ruff", "black") and not (own and own.table.get("respect-gitignore") is False):
        ignored = _ignored(tree)
    seen, hidden = set[str](), dict[tuple[str, str, int | None], list[str]]()
    root = own.folder if own else tool[1]
    for path in inside:
        by = next(((p, file, line) for p, how, file, line in patterns if _hides(p, how, path, root)), None)
        if by is None and path in ignored:
            by = (IGNORED, ".gitignore", None)
        if by is None:
            seen.add(path)
        else:
            hidden.setdefault(by, []).append(path)
    return Linted(at, tool[0], frozenset(seen), {by: tuple(files) for by, files in hidden.items()})


def _of_settings(tree: Tree, own: Settings, program: str) -> list[tuple[str, str, str, int | None]]:
    found = list[tuple[str, str, str, int | None]]()
    for key, how in _KEYS[program].items():
        for name in (key, key.replace("-", "_")):
            value = own.table.get(name)
            texts = (
                [str(v) for v in value]
                if isinstance(value, list)
                else _split(value, how)
                if isinstance(value, str)
                else []
            )
            line = tree.line_of(own.path, name)
            found += [(text, how, own.path, line) for text in texts]
    return found


def _split(value: str, how: str) -> list[str]:
    if how == "regex":
        lines = [re.sub(r"(?:^|\s)#.*", "", line).strip() for line in value.splitlines()]
        return ["".join(lines)] if any(lines) else []
    return [part.strip() for part in re.split(r"[,\n]", value) if part.strip()]


def _hides(pattern: str, how: str, path: str, root: str) -> bool:
    """Return whether a pattern hides a file, as its tool reads it; False where that cannot be said."""
    names = path[len(root) + 1 if root else 0 :].split("/")
    heads = ["/".join(names[:end]) for end in range(1, len(names) + 1)]
    if how == "glob":
        plain = pattern.removeprefix("./").rstrip("/")
        if "/" not in plain:
            return any(fnmatch(name, plain) for name in names)
        return any(
            fnmatch(head, one)
            for head in heads
            for one in {plain, plain.removeprefix("**/"), plain.removesuffix("/**")}
        )
    if how == "regex":
        return any(searches(pattern, f"/{head}{'/' if head != heads[-1] else ''}") for head in heads)
    if how == "name":
        return any(searches(f"^(?:{pattern})", name) for name in names)
    return searches(f"^(?:{pattern})", heads[-1]) is True


def _ignored(tree: Tree) -> frozenset[str]:
    def ask() -> frozenset[str]:
        if not any(p.rpartition("/")[2] == ".gitignore" for p in tree.files):
            return frozenset()
        listed = git.ask(tree.root, "ls-files", "--cached", "--ignored", "--exclude-per-directory=.gitignore", "-z")
        return frozenset(listed.out.decode("utf-8", "surrogateescape").split("\0"))

    return tree.once("tracked and ignored", ask)


def _of_hooks(repo: Repository) -> Iterator[Linted]:
    """Yield the hooks of pre-commit: run where a check runs them, else only what they would look at."""
    path = ".pre-commit-config.yaml"
    found: Any = repo.tree.yaml(path) if path in repo.tree.known else None
    found = found if isinstance(found, Mapping) else {}
    at = next((c for c in repo.checks for x in c.commands if pre_commit.matches(x.argv)), None)
    repos = found.get("repos")
    for one in repos if isinstance(repos, list) else ():
        hooks = one.get("hooks") if isinstance(one, Mapping) else None
        for hook in hooks if isinstance(hooks, list) else ():
            tool = _HOOKS.get(str(hook.get("id"))) if isinstance(hook, Mapping) else None
            if tool:
                yield _of_hook(repo.tree, at, tool, found, hook)


def _of_hook(tree: Tree, at: Check | None, tool: str, found: Mapping[str, Any], hook: Mapping[str, Any]) -> Linted:
    path = ".pre-commit-config.yaml"
    hidden = dict[tuple[str, str, int | None], tuple[str, ...]]()
    inside = list(product(tree))
    for table in (found, hook):
        for key, wanted in (("exclude", False), ("files", True)):
            value = table.get(key)
            if isinstance(value, str) and value not in ("", "^$"):
                pattern = (
                    "".join(line.strip() for line in value.removeprefix("(?x)").splitlines())
                    if "(?x)" in value
                    else value
                )
                gone = tuple(p for p in inside if searches(pattern, p) is (not wanted))
                inside = [p for p in inside if p not in gone]
                if gone:
                    hidden[(f"{key}: {' '.join(pattern.split())}", path, getattr(table, "lines", {}).get(key))] = gone
    rest = _linted(tree, at, (tool, ""), inside, [])
    return rest._replace(hidden={**hidden, **rest.hidden})
