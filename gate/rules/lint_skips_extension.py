"""ESLint passes over all files of a kind, because no configuration names their ending."""

from collections.abc import Iterator, Mapping
from typing import Any

from gate.patterns import later
from gate.report import Finding, Level
from gate.repository.checks import Check
from gate.repository.javascript.configs import join
from gate.repository.javascript.eslint import Eslint, load_eslint, nested, words_of
from gate.repository.javascript.globs import matches
from gate.repository.javascript.packages import is_below
from gate.repository.opening import Repository
from gate.repository.tree import Tree

ID = "lint-skips-extension"
SUMMARY = (
    "ESLint looks at .js, .mjs and .cjs by itself; at others only where a part of its configuration names them in `files`\n"
    "(`--ext` or `overrides` with .eslintrc). Over a folder it passes the rest over and succeeds.\n"
    "Next: add a part with `files: ['**/*.ts']`, or `--ext .js,.ts`."
)
_TYPED = (".ts", ".tsx", ".mts", ".cts")
_OTHERS = (".jsx", ".vue", ".svelte", ".astro")
_DECLARES = later(r"\.d\.[cm]?ts$|[.-](?:test-)?d\.ts$|\.d\.\w+\.ts$")
_BY_ITSELF = (".js", ".mjs", ".cjs")
_LINTERS = {
    "biome",
    "oxlint",
    "tslint",
    "xo",
    "standard",
    "ts-standard",
    "deno",
    "ng",
    "vue-cli-service",
    "gts",
    "rslint",
    "vp",
    "next",
}


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding for each configuration and kind of files that no run looks at."""
    linters = {c.argv[0] for at in repo.gate for c in at.commands}
    if linters & _LINTERS:
        return
    told = set[tuple[str, str]]()
    for at in repo.gate:
        for command in at.commands:
            config = load_eslint(repo.tree, command) if command.argv[0] == "eslint" else None
            if config is None or config.opens or (not config.is_flat and nested(repo.tree, config.path)):
                continue
            words, folder = words_of(command), repo.tree.relative(command.cwd)
            targets = [join(folder, w) for w in words.alone or ["."]]
            if not all(t == "." or t in repo.tree.folders for t in targets) or "--stdin" in words.options:
                continue
            given = tuple(e if e.startswith(".") else f".{e}" for v in words.options.get("--ext", []) for e in v.split(",") if e)  # fmt: skip
            yield from _skipped(repo.tree, at, config, targets, given, told)


def _skipped(
    tree: Tree, at: Check, config: Eslint, targets: list[str], given: tuple[str, ...], told: set[tuple[str, str]]
) -> Iterator[Finding]:
    patterns, ignored = _files(config), _ignores(config)
    top = config.path.rpartition("/")[0] or "."
    linted = 0
    skipped = dict[str, list[str]]()
    for path in tree.sources(*_BY_ITSELF, *_TYPED, *_OTHERS):
        inner = path if top == "." else path.removeprefix(f"{top}/")
        if (
            not any(is_below(path, t) for t in targets)
            or _DECLARES.search(path)
            or any(_fits(inner, g) for g in ignored)
        ):
            continue
        ending = path[path.rfind(".") :]
        by_itself = (given or (".js",)) if not config.is_flat else (*_BY_ITSELF, *given)
        if ending in by_itself or any(_fits(inner, g) for g in patterns):
            linted += 1
            skipped.setdefault(ending, []).append("")
        else:
            skipped.setdefault(ending, []).append(path)
    if not linted and top not in targets:
        return  # ESLint itself fails
    for ending, paths in skipped.items():
        if "" in paths or ending in _BY_ITSELF or (config.path, ending) in told:
            continue
        told.add((config.path, ending))
        many = f"{len(paths)} files" if len(paths) > 1 else "the 1 file"
        yield Finding(
            ID, Level.ERROR if ending in _TYPED and len(paths) >= linted else Level.WARNING, f"{at.name}: eslint passes over {many} with {ending} and looks at {linted} others",
            config.path, 1, tuple(sorted(paths)), len(paths), fix=f"add a part with files: ['**/*{ending}']" if config.is_flat else f"eslint --ext .js,{ending}",
            reproduce=f"npx eslint --debug {' '.join(targets)} 2>&1 | grep -c 'Lint.*{ending}'",
        )  # fmt: skip


def _files(config: Eslint) -> list[str]:
    """Return the patterns by which files are chosen; those that fit any file choose none by themselves."""
    return [p for part in config.parts for p in _texts(part, "files") if not p.endswith("/*") and p.strip("*/")]


def _ignores(config: Eslint) -> list[str]:
    if not config.is_flat:
        return [p for part in config.parts for p in _texts(part, "ignorePatterns")]
    return [p for part in config.parts if set(part) <= {"ignores", "name"} for p in _texts(part, "ignores")]


def _texts(part: Mapping[str, Any], key: str) -> list[str]:
    value = part.get(key)
    listed = value if isinstance(value, list) else [value]
    flat = [v for one in listed for v in (one if isinstance(one, list) else [one])]
    return [v for v in flat if isinstance(v, str) and not v.startswith("!")]


def _fits(path: str, glob: str) -> bool:
    plain = glob.removeprefix("./").rstrip("/")
    wide = plain if plain.startswith("**/") or "/" in plain.rstrip("/*") else f"**/{plain}"
    return matches(path, plain) or matches(path, wide) or matches(path, f"{wide}/**")
