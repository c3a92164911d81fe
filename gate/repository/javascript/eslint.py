"""What a run of ESLint is configured with: flat configurations and the older ones, as far as they are written as values.

https://eslint.org/docs/latest/use/configure/configuration-files, .../configuration-files-deprecated
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gate.commands.resolve import Command
from gate.repository.javascript.collecting.collection import Words, read_words
from gate.repository.javascript.configs import config_in, join, load
from gate.repository.javascript.packages import is_below
from gate.repository.javascript.values import Unknown
from gate.repository.tree import Tree

FLAT = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
_LEGACY = (".js", ".cjs", ".yaml", ".yml", ".json", "")
_VALUES = frozenset({
    "-c", "--config", "--ext", "--rule", "-f", "--format", "-o", "--output-file", "--max-warnings", "--parser", "--ignore-path", "--ignore-pattern", "--cache-location",
    "--env", "--global", "--plugin", "--rulesdir", "--resolve-plugins-relative-to", "--parser-options", "--cache-file", "--cache-strategy", "--concurrency",
})  # fmt: skip
# shared configurations that name no files, by what their module's name ends with or holds
_PLAIN = (
    "@eslint/js.configs.",
    "eslint-config-prettier",
    "globalIgnores()",
    "includeIgnoreFile()",
    "js/recommended",
    "js/all",
)
_PLAIN_LEGACY = {"eslint:recommended", "eslint:all", "prettier", "plugin:prettier/recommended", "standard", "airbnb-base", "airbnb", "google", "semistandard"}  # fmt: skip
_SILENT = ("eslint-config-prettier", "globalIgnores()", "includeIgnoreFile()")


class Eslint(NamedTuple):
    """A configuration: its parts in order. `unknown` are those that cannot be read, `opens` whether one may name files."""

    path: str
    is_flat: bool
    parts: tuple[Mapping[str, Any], ...]
    unknown: tuple[str, ...]

    @property
    def opens(self) -> bool:
        """Return whether a part that cannot be read may name files."""
        if self.is_flat:
            return any(not any(plain in text for plain in _PLAIN) for text in self.unknown)
        return any(text not in _PLAIN_LEGACY for text in self.unknown)

    @property
    def hides_rules(self) -> bool:
        """Return whether a part that cannot be read may switch rules on."""
        return any(text != "prettier" and not any(plain in text for plain in _SILENT) for text in self.unknown)

    def severities(self) -> Iterator[Any]:
        """Yield how each rule is set, those of parts for some files among them."""
        for part in self.parts:
            rules = part.get("rules")
            for value in rules.values() if isinstance(rules, Mapping) else ():
                yield value[0] if isinstance(value, list) and value else value


def words_of(command: Command) -> Words:
    """Return the options of a run, and the paths that it is given."""
    return read_words(command.argv[1:], values=_VALUES)


def load_eslint(tree: Tree, command: Command) -> Eslint | None:
    """Return the configuration of a run; None where there is none in the repository, or it is computed."""
    words, folder = words_of(command), tree.relative(command.cwd)
    named = words.last("-c", "--config")
    if named:
        path = join(folder, named)
        is_flat = ".eslintrc" not in named and (
            config_of(tree, folder, "eslint.config", FLAT) is not None or "eslint.config" in named
        )
        return _read(tree, path, is_flat=is_flat) if path in tree.known else None
    if {"--no-eslintrc", "--no-config-lookup"} & set(words.options):
        return None
    flat = config_of(tree, folder, "eslint.config", FLAT)
    if flat:
        return _read(tree, flat, is_flat=True)
    legacy = config_of(tree, folder, ".eslintrc", _LEGACY)
    if legacy:
        return _read(tree, legacy, is_flat=False)
    package = join(folder, "package.json")
    own = (tree.json(package) or {}).get("eslintConfig") if package in tree.known else None
    return _legacy(package, own) if isinstance(own, dict) else None


def config_of(tree: Tree, folder: str, stem: str, endings: tuple[str, ...]) -> str | None:
    """Return a configuration in a folder or the next one above that has one."""
    while True:
        path = config_in(tree, folder or ".", stem, endings)
        if path or folder in (".", "") or folder.startswith(".."):
            return path
        folder = folder.rpartition("/")[0]


def nested(tree: Tree, path: str) -> bool:
    """Return whether folders below that of an older configuration have their own."""
    folder = path.rpartition("/")[0] or "."
    return any(p != path and is_below(p, folder) for p in tree.named("**/.eslintrc*"))


def _read(tree: Tree, path: str, *, is_flat: bool) -> Eslint | None:
    found = load(tree, path)
    if not is_flat:
        return _legacy(path, found) if isinstance(found, dict) else None
    if isinstance(found, Unknown) and not found.inside:
        return None
    parts, unknown = list[Mapping[str, Any]](), list[str]()
    _flatten(found, parts, unknown)
    return Eslint(path, True, tuple(parts), tuple(unknown))


def _flatten(found: Any, parts: list[Mapping[str, Any]], unknown: list[str], depth: int = 0) -> None:
    if isinstance(found, list) and depth < 8:
        for one in found:
            _flatten(one, parts, unknown, depth + 1)
    elif isinstance(found, dict):
        parts.append(found)
        if (
            not getattr(found, "whole", True)
            or isinstance(found.get("rules"), Unknown)
            or not getattr(found.get("rules"), "whole", True)
        ):
            unknown.append("a spread into an object")
        extends = found.get("extends")
        if extends and depth < 8:
            _flatten(extends if isinstance(extends, list) else [extends], parts, unknown, depth + 1)
    else:
        unknown.append(str(getattr(found, "text", found)))


def _legacy(path: str, found: Any) -> Eslint:
    parts, unknown = list[Mapping[str, Any]](), list[str]()
    overrides = found.get("overrides", [])
    for part in [found, *(overrides if isinstance(overrides, list) else [None])]:
        if (
            not isinstance(part, dict)
            or not getattr(part, "whole", True)
            or isinstance(part.get("rules"), Unknown)
            or not getattr(part.get("rules"), "whole", True)
        ):
            unknown.append("a computed part")
        if isinstance(part, dict):
            parts.append(part)
            extends = part.get("extends", [])
            unknown += [str(getattr(e, "text", e)) for e in (extends if isinstance(extends, list) else [extends])]
    return Eslint(path, False, tuple(parts), tuple(unknown))
