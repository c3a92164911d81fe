"""Path patterns as people know them from .gitignore: `*` within a folder, `**` across, a folder means all below it."""

import functools
import re


@functools.cache
def _compiled(glob: str) -> re.Pattern[str]:
    parts: list[str] = []
    at = 0
    if glob.endswith("/"):
        glob += "**"
    while at < len(glob):
        if glob.startswith("**/", at):
            parts.append("(?:[^/]+/)*")
            at += 3
        elif glob.startswith("**", at):
            parts.append(".*")
            at += 2
        elif glob[at] == "*":
            parts.append("[^/]*")
            at += 1
        elif glob[at] == "?":
            parts.append("[^/]")
            at += 1
        else:
            parts.append(re.escape(glob[at]))
            at += 1
    return re.compile("".join(parts) + "(?:/.*)?", re.DOTALL)


@functools.cache
def _joined(globs: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{_compiled(glob.removeprefix('./')).pattern})" for glob in globs), re.DOTALL)


def matches_one(path: str, globs: tuple[str, ...]) -> bool:
    """Return whether a path fits one of several patterns: as `matches`, in one look."""
    return _joined(globs).fullmatch(path) is not None


def matches(path: str, glob: str) -> bool:
    """Return whether a path relative to the root fits a pattern, or lies below a folder that does."""
    glob = glob.removeprefix("./")
    name = glob.removeprefix("**/")
    if not any(sign in name for sign in "*?") and not name.endswith("/"):  # a name or a path: nothing to compile
        return f"/{path}/".startswith(f"/{glob}/") if name == glob else f"/{name}/" in f"/{path}/"
    return _compiled(glob).fullmatch(path) is not None
