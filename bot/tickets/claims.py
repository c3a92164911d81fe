"""Which paths a ticket may write, and whether two such claims can meet. No I/O; in doubt they meet.

A wrong "disjoint" costs an hour of untangling, a wrong "overlap" costs minutes of waiting.
"""

import functools
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence

EVERYTHING = "**"
WHOLE: tuple[str, ...] = (EVERYTHING,)
NOT_UNDERSTOOD = ":"  # stands for what is no path
MOST_SEGMENTS, MOST_CHARACTERS = 64, 1000  # of a path; a longer one is not understood
MOST_PATTERNS, PATTERN_CHARACTERS = 30, 60  # in a claim, and in a segment: comparing them costs most
MOST_PATHS = 200  # of one claim; more is everything
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s*(?:paths|files|affected files|scope)\s*:?\s*#*\s*$", re.IGNORECASE)
_LINE = re.compile(
    r"^\s*(?:[-*]\s*)?(?:\*\*|__)?(?:paths?|files?)(?:\*\*|__)?\s*:(?:\*\*|__)?\s*(\S.*)$", re.IGNORECASE
)
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(.+?)\s*$")
_LIKE_A_PATH = re.compile(r"[/.*]")
_PUNCTUATION = re.compile(r"[;()<>|!\"']")
_NAMED = re.compile(r"`([^`]+)`")
_MANIFESTS = {
    "package.json": (
        "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb",
    ),
    "pyproject.toml": ("uv.lock", "poetry.lock", "pdm.lock", "requirements.txt"),
    "Pipfile": ("Pipfile.lock",), "Cargo.toml": ("Cargo.lock",), "go.mod": ("go.sum",), "Gemfile": ("Gemfile.lock",),
    "composer.json": ("composer.lock",),
}  # fmt: skip


def read_claim(text: str) -> tuple[str, ...]:
    """Return the paths that an issue's text names on `Paths:` lines or in a list under such a heading; else all."""
    named: list[str] = []
    fenced = under = False
    block = ""  # what stands under the heading: a list, or an issue form's plain value
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif fenced:
            continue
        elif _HEADING.match(line):
            under, block = True, ""
        elif match := _LINE.match(line):
            named += _split(match[1])
            under = False
        elif under and not line.strip():
            under = block != "plain"
        elif under:
            item = _ITEM.match(line)
            kind = "list" if item else "plain"
            under = not line.startswith("#") and block in ("", kind)
            block = kind
            named += _split(item[1] if item else line) if under else []
    return claim(named)


def claim(paths: Iterable[str]) -> tuple[str, ...]:
    """Return a normal claim: known forms, sorted; everything where nothing is named or anything is not understood."""
    clean: set[str] = set()
    for path in paths:
        normal = normalise(path)
        if normal is None:
            return WHOLE
        clean.add(normal)
    patterns = sum(is_glob(path) for path in clean)
    if not clean or len(clean) > MOST_PATHS or patterns > MOST_PATTERNS or EVERYTHING in clean:
        return WHOLE
    return tuple(sorted(clean))


def normalise(path: str) -> str | None:
    """Return a path relative to the root in one form; None where it leads outside or cannot be understood."""
    text = path.strip().strip("`'\"").replace("\\", "/")
    if (
        not text
        or len(text) > MOST_CHARACTERS
        or text.count("/") > MOST_SEGMENTS
        or text.startswith(("/", "~"))
        or ":" in text
        or any(ord(c) < 32 for c in text)
        or "[" in text
        or "{" in text
    ):
        return None
    parts: list[str] = []
    for part in text.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if not parts or is_glob(parts[-1]):
                return None
            parts.pop()
            continue
        parts.append(part)
    odd = next((n for n, part in enumerate(parts) if EVERYTHING in part and part != EVERYTHING), None)
    if odd is not None:  # `src/**.py`: some read it as any depth, some as one; so all of `src`
        parts = [*parts[:odd], EVERYTHING]
    if any(is_glob(part) and len(part) > PATTERN_CHARACTERS for part in parts):
        return None
    if not parts or set(parts) == {EVERYTHING}:
        return EVERYTHING
    return "/".join(parts) + ("/" if text.endswith("/") and not is_glob(parts[-1]) else "")


def widen(
    paths: Sequence[str], *, shared: Collection[str] = (), links: Collection[tuple[str, str]] = ()
) -> tuple[str, ...]:
    """Return a claim with what touching it is likely to touch: lockfiles beside manifests, the targets of links.

    `shared` are the repository's own shared paths; a claim that is near one takes it in. `links` are (link, target).
    """
    if tuple(paths) == WHOLE:
        return WHOLE
    more = set(paths)
    for path in paths:
        *folders, name = path.rstrip("/").split("/")
        for depth in range(len(folders) + 1):  # a workspace has its lockfile in a folder above
            more |= {"/".join((*folders[:depth], lock)) for lock in _MANIFESTS.get(name, ())}
        if "migrations" in path.split("/"):  # numbered in a row: two new ones always meet
            more.add(path[: path.index("migrations") + len("migrations")] + "/")
    for link, target in links:
        if any(meet(path, link) for path in paths):
            more.add(target)
        if any(meet(path, target) for path in paths):
            more.add(link)
    return claim([*more, *(s for s in shared if s)])


@functools.lru_cache(maxsize=32768)
def through(paths: tuple[str, ...], links: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """Return a claim with what it reaches through the repository's symlinks, (link, target) each, and what reaches it.

    Without links it is the same claim.
    """
    return widen(paths or WHOLE, links=links) if links else paths


def overlap(one: Sequence[str], other: Sequence[str]) -> tuple[str, str] | None:
    """Return the first pair of paths by which two claims meet; None where they are disjoint."""
    return next(((a, b) for a in one for b in other if meet(a, b)), None)


@functools.lru_cache(maxsize=65536)
def meet(a: str, b: str) -> bool:
    """Return whether two claimed paths can be one file, or one lie below the other. Case and form do not matter."""
    return _meet(key(a), key(b))


@functools.lru_cache(maxsize=65536)
def key(path: str) -> tuple[str, ...]:
    """Return the segments of a path in the form in which they are compared: some file systems fold case and form."""
    if path.isascii():
        return tuple(part for part in path.lower().split("/") if part)
    return tuple(
        unicodedata.normalize("NFC", unicodedata.normalize("NFKC", part).casefold()) for part in path.split("/") if part
    )


@functools.lru_cache(maxsize=65536)  # without it a few `**` take exponential time
def _meet(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Compare segment by segment; where one ends, the other lies below it."""
    if not a or not b:
        return True
    if a[0] == EVERYTHING or b[0] == EVERYTHING:
        star, other = (a, b) if a[0] == EVERYTHING else (b, a)
        return _meet(star[1:], other) or _meet(star, other[1:])
    return _segments_meet(a[0], b[0]) and _meet(a[1:], b[1:])


@functools.lru_cache(maxsize=65536)
def _segments_meet(a: str, b: str) -> bool:
    """Return whether two patterns of `*` and `?` within a segment can match one name."""
    if not is_glob(a) and not is_glob(b):
        return a == b
    reach = {(0, 0)}
    seen: set[tuple[int, int]] = set()
    while reach:
        at = reach.pop()
        if at in seen:
            continue
        seen.add(at)
        i, j = at
        if i == len(a) and j == len(b):
            return True
        reach |= _steps(a, b, i, j)
    return False


def _steps(a: str, b: str, i: int, j: int) -> set[tuple[int, int]]:
    """Return where one more character, or an end of a star, leads."""
    steps: set[tuple[int, int]] = set()
    if i < len(a) and a[i] == "*":
        steps |= {(i + 1, j), (i, j + 1)} if j < len(b) else {(i + 1, j)}
    if j < len(b) and b[j] == "*":
        steps |= {(i, j + 1), (i + 1, j)} if i < len(a) else {(i, j + 1)}
    if i < len(a) and j < len(b) and (a[i] == b[j] or "?" in (a[i], b[j])):
        steps.add((i + 1, j + 1))
    return steps


def covers(paths: Sequence[str], touched: str) -> bool:
    """Return whether a touched file lies within a claim."""
    file = key(touched)
    if len(file) > MOST_SEGMENTS:
        return WHOLE[0] in paths
    return any(path == EVERYTHING or _within(key(path), file) for path in paths)


@functools.lru_cache(maxsize=65536)
def _within(path: tuple[str, ...], file: tuple[str, ...]) -> bool:
    if not path:
        return True
    if not file:
        return False
    if path[0] == EVERYTHING:
        return any(_within(path[1:], file[n:]) for n in range(len(file) + 1))
    return _segments_meet(path[0], file[0]) and _within(path[1:], file[1:])


def _split(text: str) -> list[str]:
    """Return the paths in a line: those in backquotes, else what commas or blanks part."""
    named = _NAMED.findall(text)
    if named:
        return [str(n) for n in named]
    found: list[str] = []
    for item in re.split(r",|\band\b|&", text.strip().rstrip(".")):
        words = item.split()
        # "Files: the usual ones" is prose; a wrong path would let two tickets run that meet
        plain = len(words) == 1 or all(_LIKE_A_PATH.search(word) for word in words)
        found += words if plain and not _PUNCTUATION.search(item) else [NOT_UNDERSTOOD]
    return found


def is_glob(part: str) -> bool:
    """Return whether a segment is a pattern."""
    return "*" in part or "?" in part
