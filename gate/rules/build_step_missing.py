"""A package has a build, its other checks run in the gate, and the build does not."""

import re
from collections.abc import Iterator

from gate.commands.idle import does_nothing
from gate.report import Finding, Level
from gate.repository.javascript.packages import Member, packages, script_line
from gate.repository.javascript.scripts import gated, is_run, is_told_elsewhere, key, leaves_to_others, resolved
from gate.repository.opening import Repository

ID = "build-step-missing"
SUMMARY = (
    "a package has a script `build`, the gate runs its lint or its tests, and never builds it: what cannot be built, or\n"
    "is found by the build alone, is green.\nNext: add a step that runs the build."
)
_BUILDS = re.compile(
    r"\b(?:next|nuxt|nuxi|vite|webpack|rollup|esbuild|tsup|tsc|vue-tsc|parcel|astro|remix|react-router|gatsby|ng|rsbuild|rspack|tsdown|unbuild|svelte-kit|turbo|nx|swc|babel|microbundle|bun|gulp|lerna|node|make|react-scripts|vue-cli-service|docusaurus|ncc|expo|electron-builder)\b"
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one error with all packages that are not built."""
    if not repo.gate or leaves_to_others(repo):
        return
    folders = gated(repo).folders
    found = [m for m in packages(repo.tree).values() if m.folder in folders and _is_missing(repo, m)]
    if found:
        first = found[0]
        told = is_told_elsewhere(repo, "build")
        files = tuple(sorted(m.path for m in found)) if len(found) > 1 else ()
        message = f"the gate checks this package and never builds it: build = {first.scripts['build'][:80]!r}"
        if files:
            message = f"the gate checks {len(files)} packages and never builds them"
        yield Finding(
            ID, Level.NOTE if told else Level.ERROR, message, first.path, script_line(repo.tree, first, "build"), files, len(found),
            fix="add a step that runs `npm run build`", reproduce=f"npm run build{'' if first.folder == '.' else f' --prefix {first.folder}'}",
        )  # fmt: skip


def _is_missing(repo: Repository, member: Member) -> bool:
    text = member.scripts.get("build", "")
    if not _BUILDS.search(text) or does_nothing(text) or not _is_checked(repo, member):
        return False
    if is_run(repo, member, "build", "build", "typecheck") or "build" in gated(repo).tasks:
        return False
    inner = [
        c
        for c in resolved(repo.tree, member, "build")
        if c.argv[0] not in ("npm", "pnpm", "yarn", "bun", "rm", "rimraf", "cp", "mkdir", "echo")
    ]
    return not inner or not all(key(c) in gated(repo).keys for c in inner)


def _is_checked(repo: Repository, member: Member) -> bool:
    """Return whether a script of the package runs, or a tool in its folder."""
    run = gated(repo)
    here = str(repo.tree.root / member.folder) if member.folder != "." else str(repo.tree.root)
    return any(folder == member.folder and name in member.scripts for folder, name in run.texts) or any(
        cwd.rstrip("/.") == here.rstrip("/.")
        and tool in ("eslint", "jest", "vitest", "mocha", "tsc", "biome", "playwright")
        for tool, cwd, _ in run.keys
    )
