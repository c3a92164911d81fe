"""tsc: silent, so after a passing step it is asked for its configuration as it stands (`--showConfig`, 0.3 s each).

A root configuration with `"files": []` and references checks nothing unless it is built (`-b`); tsc fails by itself
where its patterns match no file.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gate.tools.tool import Counts, Invocation, Ran, asked, per_line

NAME = "tsc"
KIND = "typecheck"

_ERROR = per_line(r"^(?:\S[^\n]*(?:\(\d+,\d+\):|:\d+:\d+ -) )?error TS\d+: ")
_MOST_PROJECTS = 12
_ASKED = {"--version", "-v", "--init", "--showConfig", "--help", "-h", "--all", "--listFilesOnly", "--clean"}


def matches(argv: Sequence[str]) -> bool:
    """Return whether the TypeScript compiler checks something."""
    return argv[0] in {"tsc", "vue-tsc", "tsgo"} and not _ASKED & set(argv)


def read(ran: Ran) -> Counts:
    """Return how many files the compiler was given, through references when it builds."""
    if ran.exit_code != 0:
        return Counts()
    files = asked([_given(invocation, ran) for invocation in ran.invocations])
    if files == 0:
        return Counts(files=0, hollow="tsc checked no file: its list is empty, and only tsc -b follows references")
    return Counts(files=files, failed=len(_ERROR.findall(ran.output)) or None)


def _given(invocation: Invocation, ran: Ran) -> int | None:
    builds = bool({"-b", "--build"} & set(invocation.argv))
    if not builds:
        found = _show(invocation, invocation.cwd, [w for w in invocation.words if w not in {"--watch", "-w"}], ran)
        return None if found is None else len(found.get("files") or [])
    named = [w for w in invocation.words if not w.startswith("-")]
    open_ = [invocation.cwd / name for name in named] or [invocation.cwd]
    seen, counts = set[Path](), list[int | None]()
    while open_ and len(seen) < _MOST_PROJECTS:
        project = open_.pop(0)
        project = project / "tsconfig.json" if project.suffix != ".json" else project
        if project in seen:
            continue
        seen.add(project)
        found = _show(invocation, invocation.cwd, ["-p", str(project)], ran)
        if found is not None:
            counts.append(len(found.get("files") or []))
            open_ += [project.parent / str(r.get("path")) for r in found.get("references") or [] if isinstance(r, dict)]
    return asked(counts)


def _show(invocation: Invocation, cwd: Path, words: Sequence[str], ran: Ran) -> dict[str, Any] | None:
    answer = ran.asker.ask(invocation.starting(*words, "--showConfig"), cwd=cwd, limit_s=10)
    import json  # noqa: PLC0415 only where the tool ran

    try:
        found = json.loads(answer or "")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
