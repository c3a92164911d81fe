"""A gate for vaults of Markdown notes: broken links, ambiguous names, bad frontmatter, merge markers."""

import functools
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import yaml

from gate.report import Finding, Level

SKIPPED = frozenset({".git", ".obsidian", ".trash", ".foam", "node_modules", ".venv"})
MOST_BYTES = 5_000_000
_FENCE = re.compile(r"^(\s{0,3})(`{3,}|~{3,})")
_CODE = re.compile(r"(`+)(?:(?!\1).)+?\1(?!`)")
_WIKI = re.compile(r"!?\[\[([^\[\]\n]+?)\]\]")
_LINK = re.compile(
    r"!?\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\]\(\s*(<[^<>\n]+>|[^()\s]+(?:\([^()\s]*\)[^()\s]*)*)(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)"
)
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_BLOCK = re.compile(r"(?:^|\s)\^([A-Za-z0-9-]+)\s*$")
_SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:")
_MARKER = re.compile(r"^(?:<{7}|>{7})(?: |$)")
_LINKED = re.compile(r"\[\[(?:[^\]|]*\|)?([^\]]*)\]\]|\[([^\]]*)\]\([^)]*\)")
_GAPS = re.compile(r"[\s-]+")
_PLAIN = re.compile(r"[^\w\s-]")
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Wants:
    """What a policy may ask for in `[notes]`."""

    frontmatter: tuple[str, ...] = ()  # keys that every note needs
    allow_missing: int = 0  # links to notes that are still to be written


@dataclass(slots=True)
class Note:
    """One Markdown file, read once."""

    path: str
    headings: set[str] = field(default_factory=set)
    blocks: set[str] = field(default_factory=set)
    links: list[tuple[int, str, bool]] = field(default_factory=list)  # line, target, whether it is a wikilink
    aliases: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def check(root: Path, wants: Wants | None = None) -> tuple[int, list[Finding]]:
    """Return how many notes there are, and what is wrong with them, in the order of their paths."""
    wish = wants or Wants()
    files = sorted(_files(root))
    notes = [read(root, path, wish) for path in files if path.lower().endswith((".md", ".markdown"))]
    index = _Index(files, notes)
    findings: list[Finding] = []
    missing = 0
    for note in notes:
        findings += note.findings
        for line, target, wiki in note.links:
            finding = index.wiki(note, line, target) if wiki else index.relative(note, line, target)
            if finding is not None and finding.rule == "broken-wikilink" and missing < wish.allow_missing:
                missing += 1
            elif finding is not None:
                findings.append(finding)
    return len(notes), findings


def read(root: Path, path: str, wants: Wants) -> Note:
    """Read one note: its links, headings, blocks and frontmatter; code is left out."""
    note = Note(path)
    text = _text(root / path)
    if text is None:
        note.findings.append(_error("unreadable-note", "expected text in UTF-8 of at most 5 MB", path, 1))
        return note
    lines = text.split("\n")
    start = _frontmatter(note, lines, wants)
    fence = ""
    for number, line in enumerate(lines[start:], start + 1):
        match = _FENCE.match(line)
        if fence:
            if match and match[2].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if match:
            fence = match[2]
            continue
        _line(note, number, line)
    return note


def _line(note: Note, number: int, line: str) -> None:
    if line[:1] in "<>" and _MARKER.match(line):
        note.findings.append(_error("merge-marker", "a merge was left unfinished here", note.path, number))
    if "#" in line and (heading := _HEADING.match(line)):
        note.headings.add(slug(heading[1]))
    if "^" in line and (block := _BLOCK.search(line)):
        note.blocks.add(block[1].lower())
    if "[" not in line:
        return
    plain = _CODE.sub("", line) if "`" in line else line
    if "[[" in plain:
        note.links += [(number, m[1].replace("\\|", "|"), True) for m in _WIKI.finditer(plain)]
    if "](" in plain:
        note.links += [(number, m[1].strip("<>"), False) for m in _LINK.finditer(plain)]


def _frontmatter(note: Note, lines: list[str], wants: Wants) -> int:
    """Read the YAML between two `---` lines at the top; return the line behind it."""
    if not lines or lines[0].rstrip() != "---":
        if wants.frontmatter:
            missing = ", ".join(wants.frontmatter)
            note.findings.append(_error("frontmatter-missing", f"expected frontmatter with {missing}", note.path, 1))
        return 0
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        note.findings.append(_error("bad-frontmatter", "the frontmatter is not closed by `---`", note.path, 1))
        return 1
    found, problem, line = _yaml("\n".join(lines[1:end]))
    if problem:
        note.findings.append(_error("bad-frontmatter", problem, note.path, 1 + line))
        return end + 1
    lacking = [key for key in wants.frontmatter if found.get(key) in (None, "", [])]
    if lacking:
        note.findings.append(_error("frontmatter-missing", f"expected the keys {', '.join(lacking)}", note.path, 1))
    aliases = found.get("aliases") or found.get("alias") or []
    note.aliases = [str(a) for a in (aliases if isinstance(aliases, list) else [aliases])]
    return end + 1


class _Index:
    """Finds notes by path, by name and by alias; names compare without case, as the editors do."""

    def __init__(self, files: Iterable[str], notes: Iterable[Note]) -> None:
        self._notes = {note.path.lower(): note for note in notes}
        self._files = {path.lower() for path in files}
        self._folders = {path[:at] for path in self._files for at, char in enumerate(path) if char == "/"}
        self._names: dict[str, list[str]] = {}
        for path in self._files:
            name = path.rpartition("/")[2]
            self._names.setdefault(name, []).append(path)
            if name.endswith(".md"):
                self._names.setdefault(name[:-3], []).append(path)
        for note in self._notes.values():
            for alias in note.aliases:
                self._names.setdefault(alias.lower(), []).append(note.path.lower())

    def wiki(self, note: Note, line: int, target: str) -> Finding | None:
        """Return what is wrong with a wikilink."""
        name, _, anchor = target.partition("|")[0].partition("#")
        name = name.strip()
        found = self._find(note, name.lower()) if name else [note.path.lower()]
        if not found:
            return _error("broken-wikilink", f"[[{target}]] leads to no note", note.path, line)
        if len(found) > 1 and len(set(found)) > 1:
            where = ", ".join(sorted(set(found))[:3])
            return _error("ambiguous-wikilink", f"[[{target}]] can mean {where}", note.path, line)
        return self._anchor(note, line, target, found[0], anchor)

    def relative(self, note: Note, line: int, target: str) -> Finding | None:
        """Return what is wrong with a Markdown link or image."""
        if _SCHEME.match(target) or target.startswith("//"):
            return None
        bare = target.partition("?")[0]
        path, _, anchor = (unquote(bare) if "%" in bare else bare).partition("#")
        base = "" if path.startswith("/") else note.path.rpartition("/")[0]
        full = _joined(base, path.lstrip("/")).lower() if path else note.path.lower()
        hit = next((p for p in (full, f"{full}.md") if p in self._files), None)
        if hit is not None:
            return self._anchor(note, line, target, hit, anchor)
        if full.rstrip("/") in self._folders or full in (".", ""):
            return None
        return _error("broken-link", f"({target}) leads to no file", note.path, line)

    def _find(self, note: Note, name: str) -> list[str]:
        if "/" in name:
            path = name.lstrip("/")
            here = _joined(note.path.lower().rpartition("/")[0], path).lstrip("/")
            exact = [p for p in (path, f"{path}.md", here, f"{here}.md") if p in self._files]
            ends = (f"/{path}", f"/{path}.md")
            return exact[:1] or [p for p in self._names.get(path.rpartition("/")[2], []) if p.endswith(ends)]
        found = self._names.get(name, [])
        if len(found) < 2:
            return found
        beside = [p for p in found if p.rpartition("/")[0] == note.path.lower().rpartition("/")[0]]
        top = [p for p in found if "/" not in p]
        return beside[:1] or top[:1] or found

    def _anchor(self, note: Note, line: int, target: str, path: str, anchor: str) -> Finding | None:
        other = self._notes.get(path)
        anchor = anchor.strip()
        if not anchor or other is None:
            return None
        if anchor.startswith("^"):
            known = anchor[1:].lower() in other.blocks
        else:
            known = slug(anchor.rpartition("#")[2]) in other.headings
        if known:
            return None
        return _error("broken-anchor", f"{target}: {other.path} has no {anchor}", note.path, line)


@functools.lru_cache(maxsize=1 << 16)
def _joined(folder: str, path: str) -> str:
    """Return a path as seen from the root."""
    return os.path.normpath(f"{folder}/{path}" if folder else path).replace(os.sep, "/")


@functools.lru_cache(maxsize=1 << 16)
def slug(heading: str) -> str:
    """Return a heading in the form in which links to it compare."""
    text = _LINKED.sub(lambda m: m[1] or m[2] or "", heading) if "[" in heading else heading
    return _GAPS.sub("-", _PLAIN.sub("", text.strip().lower())).strip("-")


def _yaml(text: str) -> tuple[Mapping[str, Any], str, int]:
    """Return (values, problem, line of the problem)."""
    if "\t" in text and re.search(r"^\t", text, re.M):
        return {}, "a tab indents the frontmatter; YAML takes blanks only", text[: text.index("\t")].count("\n") + 1
    try:
        node = LOADER(text).get_single_node()
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        return {}, f"the frontmatter is not YAML: {getattr(error, 'problem', error)}", (mark.line if mark else 0) + 1
    if node is None or (isinstance(node, yaml.ScalarNode) and _value(node) is None):
        return {}, "", 0
    if not isinstance(node, yaml.MappingNode):
        return {}, "the frontmatter is no table of keys", 1
    found: dict[str, Any] = {}
    for key, value in node.value:
        if isinstance(key, yaml.ScalarNode):
            if key.value in found:
                return {}, f"the key {key.value!r} is there twice", key.start_mark.line + 1
            found[key.value] = _value(value)
    return found, "", 0


def _value(node: Any) -> Any:
    """Return text, a list, None where nothing stands, or the node; values are not turned into numbers and dates."""
    if isinstance(node, yaml.ScalarNode):
        return None if node.tag == "tag:yaml.org,2002:null" else node.value
    return [_value(item) for item in node.value] if isinstance(node, yaml.SequenceNode) else node


def _files(root: Path) -> Iterator[str]:
    for where, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in SKIPPED]
        base = os.path.relpath(where, root).replace(os.sep, "/")
        for name in names:
            yield name if base == "." else f"{base}/{name}"


def _text(path: Path) -> str | None:
    try:
        if path.stat().st_size > MOST_BYTES:
            return None
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        return None


def _error(rule: str, message: str, path: str, line: int) -> Finding:
    return Finding(rule, Level.ERROR, message, path, line)
