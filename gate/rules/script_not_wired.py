"""A package has a script that tests or checks types, and the gate never runs it."""

import re
from collections.abc import Iterator

from gate.commands.idle import does_nothing
from gate.commands.resolve import Command
from gate.commands.shell import split
from gate.report import Finding, Level
from gate.repository.javascript.packages import Member, packages, script_line
from gate.repository.javascript.scripts import (
    checks_of,
    gated,
    is_run,
    is_told_elsewhere,
    leaves_to_others,
    named,
    resolved,
)
from gate.repository.opening import Repository
from gate.tools import node_test

ID = "script-not-wired"
SUMMARY = (
    "package.json has a script that tests or checks types, and no step of the gate runs it, nor what it runs.\n"
    "Next: add a step for it, or delete it. A warning for end-to-end tests and their kin, which may need more than a\n"
    "checkout; a note where a workflow runs it beside the policy."
)
_TEST = re.compile(
    r"^(?:tests?|unit|spec)$|^(?:tests?|unit)[:-]|^(?!lint|style|format|prettier|eslint).*[:-](?:tests?|unit)$"
)
_TYPES = re.compile(
    r"^(?:type-?checks?|check[:-]types|types[:-]check|tsc|types|check[:-]ts|lint[:-]types|ts[:-]check|test[:-]types)$"
)
_BY_HAND = re.compile(
    r"watch|debug|inspect|update|dev\b|(?:^|[:-])ui\b|open|headed|cover|cov\b|report|only|fix|prepare|setup|install|local|record|snapshot|bench|perf|manual|example|serve|start|deploy|version|release|publish|clean|generate|docker|profile|ci$",
    re.I,
)
_HEAVY = re.compile(
    r"e2e|integration|acceptance|smoke|visual|browser|system|live|stress|load|screenshot|a11y|ios|android|storybook|chromatic|compat|deno|bun\b|esm|cjs|node\d",
    re.I,
)
_BROWSERS = re.compile(r"\b(?:karma|playwright|cypress|wdio|testcafe|puppeteer|detox|--browser)\b")
_RUNNERS = {"jest", "vitest", "mocha", "playwright", "ava", "karma", "cypress", "tap"}  # for other scripts to start
_RUNS = {"npm", "pnpm", "yarn", "run-s", "run-p", "npm-run-all", "npm-run-all2", "concurrently", "echo"}
_WATCHES = re.compile(r"--watch|--ui\b|--inspect|\bnodemon\b|-w\b")


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding for each name of a script, with all packages in which nothing runs it."""
    if not repo.gate or leaves_to_others(repo):
        return
    found: dict[tuple[str, str, Level], list[Member]] = {}
    for member in packages(repo.tree).values():
        if not _is_reached(repo, member):
            continue
        for name in member.scripts:
            kind = _kind(repo, member, name)
            if kind and _is_told_by_parts(repo, member, name):
                continue
            if kind and not is_run(repo, member, name, "test", "typecheck") and not _is_part(repo, member, name):
                level = Level.WARNING if _HEAVY.search(name) or _BROWSERS.search(member.scripts[name]) else Level.ERROR
                if level is Level.ERROR and (_is_only_named(repo, member, name) or _computes(repo)):
                    level = Level.WARNING
                if is_told_elsewhere(repo, name) or is_run(repo, member, name, "test", all_checks=True):
                    level = Level.NOTE
                found.setdefault((name, kind, level), []).append(member)
    for (name, kind, level), members in found.items():
        yield _finding(repo, (name, kind, level), members)


def _finding(repo: Repository, what: tuple[str, str, Level], members: list[Member]) -> Finding:
    name, kind, level = what
    first = members[0]
    files = tuple(sorted(m.path for m in members)) if len(members) > 1 else ()
    where = f" in {len(members)} packages" if files else ""
    message = f"the script {name!r} {kind}{where}, and nothing in the gate runs it: {' '.join(first.scripts[name].split())[:80]}"
    return Finding(
        ID, level, message, first.path, script_line(repo.tree, first, name), files, len(members),
        fix=f"add a step that runs `npm run {name}`, or delete the script", reproduce=f"npm run {name}{'' if first.folder == '.' else f' --prefix {first.folder}'}",
    )  # fmt: skip


def _kind(repo: Repository, member: Member, name: str) -> str:
    """Return what a script verifies: it tests, or checks types; empty for one that is for people, or does neither."""
    text = member.scripts[name]
    if (
        name.startswith("_")
        or _BY_HAND.search(name)
        or name in _RUNNERS
        or _WATCHES.search(text)
        or does_nothing(text)
        or "no test specified" in text
    ):
        return ""
    if name.startswith(("pre", "post")) and name.removeprefix("pre").removeprefix("post") in member.scripts:
        return ""
    commands = resolved(repo.tree, member, name)
    for kind, what, pattern in (("test", "tests", _TEST), ("typecheck", "checks types", _TYPES)):
        runs = [c for c in checks_of(commands, kind) if pattern.search(name) or not _is_guess(c)]
        if kind == "typecheck":
            runs = [c for c in runs if pattern.search(name) or "--noEmit" in c.argv or "test" in name]
        if runs or (pattern.search(name) and not any(checks_of(commands, "lint", "build", "typecheck"))):
            return what
    return ""


def _computes(repo: Repository) -> bool:
    """Return whether a step runs what stands in a variable, so that it may be any script."""
    return any(c.argv[0].startswith("$") for at in repo.gate for c in at.commands)


def _is_only_named(repo: Repository, member: Member, name: str) -> bool:
    """Return whether nothing but the name says that a script tests: no runner is known in it; not so `test` itself."""
    known = checks_of(resolved(repo.tree, member, name), "test", "typecheck")
    return name != "test" and all(_is_guess(c) for c in known)


def _is_guess(command: Command) -> bool:
    """Return whether only a file's name speaks for a test: `node test/rules.js`."""
    return command.argv[0] in ("node", "nodejs", "tsx") and node_test.is_guess(command.argv)


def _is_part(repo: Repository, member: Member, name: str) -> bool:
    """Return whether another script of the package that the gate does not run either runs this one: that is named."""
    return any(
        other != name
        and _kind(repo, member, other)
        and not _is_told_by_parts(repo, member, other)
        and any(c.argv[1:3] == ("run", name) for c in resolved(repo.tree, member, other))
        for other in member.scripts
    )


def _is_told_by_parts(repo: Repository, member: Member, name: str) -> bool:
    """Return whether a script only runs others, and the gate runs one of them: those that it does not run are told."""
    own = [n for c in resolved(repo.tree, member, name) if (n := named(c)) is not None and n.name in member.scripts]
    lines = gated(repo).lines
    others = [s.words for s in split(member.scripts[name]) if s.words[0] not in _RUNS]
    if not own or any((member.folder, words) not in lines for words in others):
        return False
    return any(is_run(repo, member, part.name, "test", "typecheck", "lint", "build") for part in own)


def _is_reached(repo: Repository, member: Member) -> bool:
    """Return whether the gate does something in a package, or in the workspace that it is a member of."""
    if member.folder in gated(repo).folders:
        return True
    from gate.commands.packages import workspace_packages  # noqa: PLC0415 only where packages are met

    root = repo.tree.root
    members = repo.tree.once("members", lambda: {repo.tree.relative(p.path) for p in workspace_packages(root, root)})
    return member.folder == "." or member.folder in members
