"""A build is told to pass over errors of types or of the linter."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gate.patterns import later
from gate.report import Finding, Level
from gate.repository.javascript.packages import home, is_below
from gate.repository.javascript.scripts import gated
from gate.repository.javascript.tokens import tokens_of
from gate.repository.opening import Repository

ID = "build-ignores-errors"
SUMMARY = (
    "`typescript.ignoreBuildErrors` or `eslint.ignoreDuringBuilds` of next.config, or `TSC_COMPILE_ON_ERROR` of react-scripts, let a\n"
    "build succeed with errors, and no other step of the gate checks types or lints. A note where one does.\n"
    "Next: take the setting away, or add `tsc --noEmit` and `eslint .` to the gate."
)
_CONFIG = later(r"(?:^|/)next\.config\.[cm]?[jt]s$")
_TYPES = {"tsc", "vue-tsc", "tsgo"}
_LINTERS = {"eslint", "eslint_d", "biome", "oxlint", "xo", "standard"}


class _Setting(NamedTuple):
    key: str
    what: str
    others: set[str]
    tasks: tuple[str, ...]
    mend: str


_SETTINGS = {
    "ignoreBuildErrors": _Setting("ignoreBuildErrors", "type errors", _TYPES, ("type", "tsc"), "tsc --noEmit"),
    "ignoreDuringBuilds": _Setting("ignoreDuringBuilds", "ESLint's errors", _LINTERS, ("lint",), "eslint ."),
}


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each such setting."""
    for path in (p for p in repo.tree.files if _CONFIG.search(p)):
        text = repo.tree.text(path) or ""
        if not any(key in text for key in _SETTINGS):
            continue
        tokens = tokens_of(text)
        for i, token in enumerate(tokens[:-2]):
            setting = _SETTINGS.get(token.text.strip("'\""))
            if setting and tokens[i + 1].text == ":" and tokens[i + 2].text == "true":
                yield _finding(repo, setting, path, token.line, "next build")
    for path in (p for p in repo.tree.files if p.endswith((".env", ".env.production"))):
        for number, line in enumerate((repo.tree.text(path) or "").splitlines(), 1):
            if line.replace(" ", "").strip() == "TSC_COMPILE_ON_ERROR=true":
                yield _finding(repo, _SETTINGS["ignoreBuildErrors"], path, number, "react-scripts build")


def _finding(repo: Repository, setting: _Setting, path: str, line: int, build: str) -> Finding:
    folder = home(repo.tree, path)
    other = _other(repo, folder, setting)
    level = Level.NOTE if other else Level.ERROR if _is_built(repo, folder, build.split()) else Level.WARNING
    end = (
        f"; `{other}` of the gate looks for them"
        if other
        else f", and the gate has no {'type check' if setting.others is _TYPES else 'linter'} of its own"
    )
    return Finding(
        ID, level, f"`{build}` passes over {setting.what}{end}", path, line,
        fix=f"take the setting away{'' if other else f', or add a step with `{setting.mend}`'}", reproduce=f"cd {folder}; npx {setting.mend}",
    )  # fmt: skip


def _other(repo: Repository, folder: str, setting: _Setting) -> str:
    """Return a check of the gate that looks for the same in a package, or above it; empty where there is none."""
    for command in (c for at in repo.gate for c in at.commands):
        if is_below(folder, repo.tree.relative(command.cwd)) and _does(command.argv, setting):
            return " ".join(command.argv)[:60]
    tasks = sorted(t for t in gated(repo).tasks if any(part in t for part in setting.tasks))
    return tasks[0] if tasks else ""


def _does(argv: Sequence[str], setting: _Setting) -> bool:
    if argv[0] == "biome":
        return bool({"lint", "check", "ci"} & set(argv)) and "biome" in setting.others
    return argv[0] in setting.others and not {"--version", "--init", "--help"} & set(argv)


def _is_built(repo: Repository, folder: str, build: list[str]) -> bool:
    return any(
        list(c.argv[:2]) == build and is_below(folder, repo.tree.relative(c.cwd))
        for at in repo.gate
        for c in at.commands
    )
