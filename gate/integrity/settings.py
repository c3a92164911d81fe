"""What the configuration of runners of JavaScript selects, as lists of words by key. Text in, data out; nothing of it runs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gate.patterns import closable, later, opened, sub_closed
from gate.strangers import json_of, yaml_of

JAVASCRIPT = later(
    r"^(?:(?:vite|vitest|jest|playwright)\.(?:config|workspace)(?:\.\w+)*|\.mocharc(?:\.\w+)?|package\.json)$"
)
_KEYS = (
    "testNamePattern", "grep", "fgrep", "grepInvert", "shard", "related", "changed", "onlyChanged", "include", "testMatch",
    "spec", "testRegex", "dir", "testDir", "roots", "rootDir", "exclude", "ignore", "testIgnore", "testPathIgnorePatterns",
    "modulePathIgnorePatterns",
)  # fmt: skip
_OWNERS = ("jest", "mocha", "vitest", "ava")  # in package.json
_COMMENTS = r"""("(?:\\.|[^"\\\n])*+"|'(?:\\.|[^'\\\n])*+'|`[^`]*`|\\[\\"'])|//[^\n]*|/\*(?!\*?/)[\s\S]*?\*/"""
_SET = later(
    rf"""(?<![\w.])['"]?(?P<key>{"|".join(_KEYS)})['"]?\s*[:=]\s*"""
    r"""(?P<value>\[[^\]]*\]|/(?:\\.|[^/\\\n])++/\w*|"[^"\n]*"|'[^'\n]*'|`[^`]*`|new RegExp\([^)]*\)|true|false|\d+|[\w.]+\([^)]*\))"""
)
_LITERAL = later(r""""([^"\n]*)"|'([^'\n]*)'|`([^`]*)`|((?<!\\)/(?:\\.|[^/\\\n])++/\w*)""")


def read_javascript(path: str, text: str) -> Mapping[str, Sequence[str]] | None:
    """Return the settings of a runner that select tests, None where they cannot be read."""
    name = path.rpartition("/")[2]
    if not text.strip():
        return {}
    if name.endswith((".json", ".mocharc", ".yml", ".yaml")):
        found = _tree(text)
        if name == "package.json":
            found = {owner: found.get(owner) for owner in _OWNERS} if isinstance(found, dict) else None
        return None if found is None else dict(_collected(found))
    settings = dict[str, list[str]]()
    # globs hold `/**/`, so what is in quotes is no comment
    for match in _SET.finditer(closable(sub_closed(_COMMENTS, lambda m: m[1] or " ", text))):
        value = opened(match["value"])
        literals = [next(g for g in m.groups() if g is not None) for m in _LITERAL.finditer(value)]
        settings.setdefault(match["key"], []).extend(literals or [value])
    return settings


def _tree(text: str) -> Any:
    """Return JSON with comments, or YAML."""
    found = json_of(text)
    if found is not None:
        return found
    return yaml_of(sub_closed(_COMMENTS, lambda m: m[1] or " ", text) if text.lstrip()[:1] in "{/" else text)


def _collected(tree: Any) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield every selecting key, however deep, with its values as words."""
    if isinstance(tree, list):
        for item in tree:
            yield from _collected(item)
    elif isinstance(tree, dict):
        for key, value in tree.items():
            if key in _KEYS and not isinstance(value, dict):
                yield key, [str(item) for item in (value if isinstance(value, list) else [value])]
            else:
                yield from _collected(value)
