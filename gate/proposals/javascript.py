"""Projects with a package.json, or of Deno: their scripts, and the tools that they have without a script."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gate.commands.idle import does_nothing
from gate.proposals.line import Line, read, read_json, short

_SCRIPTS = (
    ("lint", ("lint", "lint:check", "eslint")),
    ("format", ("format:check", "check:format", "prettier:check", "fmt:check")),
    ("typecheck", ("typecheck", "type-check", "check-types", "types", "tsc")),
    ("build", ("build",)),
    ("test", ("test", "test:unit", "test:ci", "unit")),
)
_KINDS = {"format": "lint"}
_MENDS = re.compile(r"(?<!\s)\s+--(?:fix|write)\b")
_PLAIN = re.compile(r"^[\w@./ :=*'\"{},-]+$")
_LOCKS = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
)
_NPX = {"npm": "npx", "pnpm": "pnpm exec", "yarn": "yarn", "bun": "bunx"}


def look(folder: Path) -> Iterator[Line]:
    """Yield a step for each kind of check."""
    if (folder / "deno.json").is_file() or (folder / "deno.jsonc").is_file():
        yield Line("lint", "deno lint", "lint", "deno.json is here", evidence='"exit"')
        yield Line("test", "deno test", "test", "deno.json is here")
    package = read_json(folder / "package.json")
    if not package:
        return
    found = package.get("scripts")
    scripts = {k: v for k, v in found.items() if isinstance(v, str)} if isinstance(found, dict) else {}
    manager = _manager(folder)
    for what, names in _SCRIPTS:
        name = next((n for n in names if n in scripts and _is_real(scripts[n])), None)
        if name is not None:
            yield _script(manager, _KINDS.get(what, what), what, name, scripts[name])
        else:
            yield from _without_script(folder, package, _NPX[manager], what, scripts)


def _is_real(script: str) -> bool:
    return "no test specified" not in script and not does_nothing(script)


def _script(manager: str, kind: str, what: str, name: str, text: str) -> Line:
    why = f"package.json has the script {name!r}: {short(text)}"
    if _MENDS.search(text) and _PLAIN.match(text):
        return Line(
            what, f"{_NPX[manager]} {_MENDS.sub('', text)}", kind, f"{why}; as it is, it mends instead of failing"
        )
    dash = "" if manager in ("pnpm", "yarn", "bun") else " --"
    if re.search(r"(?:^|&& )vitest(?:\s+watch|\s+dev)?\s*$", text):
        return Line(what, f"{manager} run {name}{dash} --run", kind, f"{why}; once, without watching")
    if re.search(r"\bjest\b.*--watch(?:All)?\b", text):
        return Line(what, f"{manager} run {name}{dash} --watchAll=false", kind, f"{why}; once, without watching")
    return Line(what, f"{manager} run {name}", kind, why)


def _without_script(
    folder: Path, package: dict[str, Any], npx: str, what: str, scripts: dict[str, str]
) -> Iterator[Line]:
    depends = {**_table(package, "dependencies"), **_table(package, "devDependencies")}
    if what == "lint" and "eslint" in depends and any(folder.glob("eslint.config.*")):
        yield Line("lint", f"{npx} eslint .", "lint", "eslint is configured, and no script lints")
    elif what == "lint" and "@biomejs/biome" in depends:
        yield Line("lint", f"{npx} biome ci .", "lint", "biome is a dependency, and no script lints")
    elif what == "typecheck" and (folder / "tsconfig.json").is_file():
        if not _is_solution(folder):
            yield Line(
                "typecheck", f"{npx} tsc --noEmit", "typecheck", "tsconfig.json is here, and no script checks types"
            )
        elif not any(re.search(r"\btsc (?:-b|--build)\b", text) for text in scripts.values()):
            yield Line(
                "typecheck", f"{npx} tsc -b", "typecheck", "tsconfig.json only refers to others, which -b follows"
            )
    elif what == "test":
        for tool, command in (("vitest", "vitest run"), ("jest", "jest"), ("mocha", "mocha")):
            if tool in depends:
                yield Line("test", f"{npx} {command}", "test", f"{tool} is a dependency, and no script tests")
                return
        if any(folder.glob("*.test.*js")) or any(folder.glob("test/*.test.*js")):
            yield Line("test", "node --test", "test", "there are tests, and no runner is a dependency")


def _manager(folder: Path) -> str:
    """Return what runs scripts here: what the lock file or the package itself names, up to the repository's root."""
    for parent in (folder, *folder.parents):
        for lock, program in _LOCKS:
            if (parent / lock).is_file():
                return program
        named = str(read_json(parent / "package.json").get("packageManager") or "").split("@")[0]
        if named in _NPX:
            return named
        if (parent / ".git").exists():
            break
    return "npm"


def _is_solution(folder: Path) -> bool:
    text = read(folder / "tsconfig.json")
    return '"references"' in text and re.search(r'"files"\s*:\s*\[\s*\]', text) is not None


def _table(package: dict[str, Any], key: str) -> dict[str, Any]:
    found = package.get(key)
    return found if isinstance(found, dict) else {}
