"""Checks that are silenced in the sources: for a whole file, or by many comments at once."""

from collections import Counter
from collections.abc import Iterator, Sequence

from gate.integrity.change import Change, error
from gate.integrity.python_cases import comments
from gate.patterns import later
from gate.policy import Policy
from gate.report import Finding, Level

FLOOD = 5  # so many new comments in one change are no exception any more, unless there are 100 new lines for each
ALWAYS = 20  # so many never are
WHOLE_FILE = later(
    r"@ts-nocheck\b|/\*\s*eslint-disable\s*(?:\*/|--)|#\s*ruff:\s*noqa(?!:)|#\s*flake8[:=]\s*noqa|#\s*mypy:\s*ignore-errors|#\s*pylint:\s*skip-file"
    r"|#\s*pyright:\s*(?:ignore|basic\s*$)|#!\[allow\((?:warnings|clippy::all|unused|dead_code)|biome-ignore-all|oxlint-disable\s*\*/|phpcs:ignoreFile"
    r"|rubocop:disable all|swiftlint:disable all"
)
ONE_LINE = later(
    r"#\s*noqa\b|#\s*type:\s*ignore\b|#\s*pyright:\s*ignore\b|#\s*pylint:\s*disable\b|#\s*pragma:\s*no cover|//\s*@ts-(?:ignore|expect-error)\b"
    r"|eslint-disable(?:-next-line|-line)?\b|//\s*nolint\b|#\[allow\(|@SuppressWarnings\b|rubocop:disable\b|istanbul ignore|v8 ignore|c8 ignore"
    r"|biome-ignore\b|@phpstan-ignore|NOSONAR|#\s*nosec\b|swiftlint:disable\b|#pragma warning disable"
)
_SOURCE = later(r"\.(?:py|pyi|[cm]?[jt]sx?|vue|svelte|go|rs|java|kt|scala|cs|rb|php|swift|c|cc|cpp|h|hpp)$")
_SHOWN = 160


def look(change: Change, policy: Policy) -> Iterator[Finding]:
    """Yield files that are silenced as a whole, and floods of comments that silence a line."""
    del policy
    files = [f for f in change.files if _SOURCE.search(f.path)]
    had = Counter(line for f in files for _, line in _silent(f.path, f.before))
    found = list[tuple[str, int, str]]()
    for file in files:
        for number, line in _silent(file.path, file.now):
            if had[line] > 0:
                had[line] -= 1
            elif _whole(line):
                yield error("check-silenced", f"the whole file is silenced: {line[:_SHOWN]}", file.path, number)
            else:
                found.append((file.path, number, line[:_SHOWN]))
    if found:
        gone = sum(count for count in had.values() if count > 0)
        yield _judged(found, gone, sum(1 for file in files for _ in file.added()))


def _judged(found: Sequence[tuple[str, int, str]], gone: int, lines: int) -> Finding:
    """Return an error where the new comments are a flood, a warning where they are few for so many new lines."""
    path, number, text = found[0]
    more = len(found) - gone
    if more >= FLOOD and (more >= ALWAYS or more * 100 >= lines):
        message = f"{len(found)} comments that silence checks are new, {gone} are gone: {text}"
        return error("check-silenced", message, path, number)
    message = f"a check is silenced ({len(found)} in all): {text}"
    return Finding("check-silenced", Level.WARNING, message, path, number, fix="mend what it hides, or say why there")


def _silent(path: str, text: str | None) -> Iterator[tuple[int, str]]:
    """Yield the lines that silence a check; in Python only comments do."""
    if text is None or not (ONE_LINE.search(text) or WHOLE_FILE.search(text) or "# type: ignore" in text):
        return
    whole = text.splitlines()
    for number, line in comments(text).items() if path.endswith(".py") else enumerate(whole, 1):
        if ONE_LINE.search(line) or _whole(line):
            yield number, whole[number - 1].strip()


def _whole(line: str) -> bool:
    return WHOLE_FILE.search(line) is not None or line.rstrip() == "# type: ignore"
