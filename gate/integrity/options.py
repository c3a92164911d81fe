"""Which words on a command line make a check look at less, forgive more, or ask for less than before. Pure."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from gate.globs import matches
from gate.patterns import later

# by which a tool looks at less
NARROWING = frozenset({
    "--deselect", "--ignore", "--ignore-glob", "--lf", "--last-failed", "--ff", "--testNamePattern", "--sw", "--stepwise",
    "--testPathPattern", "--testPathPatterns", "--testPathIgnorePatterns", "--onlyChanged", "--changed", "--changedSince",
    "--findRelatedTests", "--grep", "--fgrep", "--invert", "--grep-invert", "--test-name-pattern", "--test-skip-pattern",
    "--test-only", "--skip", "--exclude", "--extend-exclude", "--filter", "--group", "--exclude-group", "--shard", "--only",
    "--only-changed", "--no-verify", "--ignore-pattern", "--exclude-task", "--tests", "--testsuite", "--example", "--tag",
    "--lib", "--bins", "--bin", "--test", "--doc", "--related", "--since", "--affected", "--select", "--per-file-ignores",
    "--extend-ignore", "--disable", "--disable-error-code", "--testmon", "--pyargs", "--rootdir", "--confcutdir",
})  # fmt: skip
SHORT = {  # the same with one dash, where a letter means other things to other tools
    "pytest": {"-k", "-m"}, "jest": {"-t", "-o"}, "vitest": {"-t"}, "mocha": {"-g", "-f", "-i"}, "go test": {"-run", "-skip", "-short"},
    "rspec": {"-e", "-t"}, "ctest": {"-R", "-E", "-L", "-LE"}, "cargo test": {"-p"}, "cargo clippy": {"-p"}, "playwright": {"-g"},
    "maven surefire": {"-Dtest", "-pl"}, "gradle": {"-x"}, "unittest": {"-k"}, "pre-commit": {"--files"}, "minitest": {"-n"},
}  # fmt: skip
# by which a failure is forgiven, or nothing is checked at all
LOOSE = frozenset({
    "--exit-zero", "--no-error-on-unmatched-pattern", "--pass-with-no-tests", "--passWithNoTests", "--collect-only", "--co",
    "--list", "--list-tests", "--listTests", "--dry-run", "--version", "--help", "--setup-only", "--setup-plan", "--fix",
    "--write", "--update", "--updateSnapshot", "--update-snapshots", "--snapshot-update", "--force-exit", "--forceExit",
    "--dangerouslyIgnoreUnhandledErrors", "--no-eslintrc", "--no-config-lookup", "--isolated", "--rule", "--quiet",
    "--ignore-missing-imports", "--allow-untyped-defs", "--no-strict-optional", "--follow-imports", "--cap-lints",
    "--no-fail", "--allow-failure", "--continue-on-collection-errors", "--noconftest", "--suppress-no-test-exit-code",
    "--issues-exit-code", "--retries", "--retry", "--reruns", "--allowOnly", "--skipLibCheck", "--noCheck", "--no-bail",
    "--silent-failures", "--no-strict", "--skip-tests", "--no-tests", "--no-run", "--if-present", "--ignore-errors",
})  # fmt: skip
LOOSE_SHORT = {
    "jest": {"-u"}, "vitest": {"-u"}, "go test": {"-list", "-c", "-exec", "-n", "-vet"}, "ruff": {"-e"}, "cargo clippy": {"-A"},
    "maven surefire": {"-DskipTests", "-Dmaven.test.skip", "-Dmaven.test.failure.ignore", "-fn"}, "pytest": {"-p", "-O"},
    "gradle": {"-m"}, "ctest": {"-N"}, "eslint": set[str](),
}  # fmt: skip
# by which a tool asks for more; missing afterwards is a loss
STRICT = later(
    r"--(?:strict\S*|error-on-\S+|fail-(?:on|if|zero)\S*|forbid-only|forbidOnly|all-targets|all-features|workspace|all-files"
    r"|warn-\S+|disallow-\S+|no-implicit-\S+|check-untyped-defs|check|coverage|cov|deny-warnings|max-warnings|report-unused-\S+"
    r"|recursive|noEmit)$|-(?:race|Werror|Dwarnings|D|W)$"
)
FLOOR = later(r"--(?:\S*fail-under|(?>\S*?threshold)\S*|min\S*coverage|minimum\S*)$", re.IGNORECASE)
CEILING = later(r"--(?:max-warnings|max-problems|allow-missing|budget)$")
# options whose next word is their value, of whatever tool
VALUES = frozenset({
    "-k", "-m", "-t", "-g", "-n", "-o", "-c", "-p", "-w", "-r", "-R", "-E", "-L", "-LE", "-e", "-f", "-j", "-W", "-D", "-A",
    "-run", "-skip", "-tags", "-timeout", "-count", "-coverprofile", "-covermode", "-parallel", "-pl", "-x", "-s",
    "--deselect", "--ignore", "--ignore-glob", "--grep", "--filter", "--exclude", "--select", "--config", "--project",
    "--reporter", "--workspace", "--jobs", "--maxfail", "--tb", "--color", "--timeout", "--basetemp", "--durations", "--dist",
    "--numprocesses", "--outputFile", "--output", "--output-file", "--format", "--ext", "--parser", "--cache-location",
    "--rulesdir", "--resolve-plugins-relative-to", "--fail-under", "--cov-fail-under", "--max-warnings", "--rule",
    "--testNamePattern", "--ignore-pattern", "--tests", "--test", "--bin", "--package", "--features", "--target", "--profile",
    "--junitxml", "--cov-report", "--rootdir", "--confcutdir", "--environment", "--pool", "--shard", "--maxWorkers", "--dir",
    "--root", "--coverage.provider", "--require", "--allow-missing", "--retries", "--reruns", "--cap-lints", "--test-dir",
    "--group", "--exclude-group", "--testsuite", "--example", "--tag", "--python-version", "--disable-error-code", "--tsconfig",
})  # fmt: skip
SWITCHES = {"pytest": {"-s": False, "-x": False, "-r": False}}  # flags of that tool, whatever the table says
CONFIG = frozenset({"-c", "--config", "-p", "--project", "--config-file", "--tsconfig", "-f", "--file"})
COMMANDS = frozenset(
    {"run", "test", "check", "ci", "lint", "format", "build", "vet", "nextest", "clippy", "watch", "report"}
)
# variables by which a tool does less
ENVIRONMENT = frozenset({
    "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONOPTIMIZE", "PYTHONPATH", "NODE_OPTIONS", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS",
    "GOFLAGS", "MAVEN_OPTS", "MAVEN_ARGS", "JAVA_TOOL_OPTIONS", "MAKEFLAGS", "SHELL", "BASH_ENV", "ESLINT_USE_FLAT_CONFIG",
    "NPM_CONFIG_SCRIPT_SHELL", "npm_config_script_shell", "SKIP", "CI", "PRE_COMMIT_ALLOW_NO_CONFIG", "COVERAGE_RCFILE",
})  # fmt: skip


class Words(NamedTuple):
    """A command line taken apart: options with their values, and what stands alone."""

    options: tuple[tuple[str, str], ...]
    paths: tuple[str, ...]

    def value(self, name: str) -> str | None:
        """Return an option's last value, None where it is not there."""
        return next((v for n, v in reversed(self.options) if n == name), None)


def read_words(tool: str, words: Sequence[str]) -> Words:
    """Return options and paths of a command line without its program."""
    options, paths = list[tuple[str, str]](), list[str]()
    flags = SWITCHES.get(tool, {})
    short = SHORT.get(tool, set()) | {"-D", "-W", "-A"}
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if not word.startswith("-") or word == "-":
            paths.append(word)
            continue
        if word == "--":
            continue
        name, equals, value = word.partition("=")
        if not equals and len(word) > 2 and word[:2] in short and word[1] != "-" and word not in short:
            name, value = word[:2], word[2:]  # -knone, -Dwarnings
        elif not equals and name in VALUES and flags.get(name, True) and at < len(words):
            value = words[at]
            at += 1
        options.append((name, value))
    return Words(tuple(options), tuple(paths))


def weakening(tool: str, before: Sequence[str], now: Sequence[str]) -> str:
    """Return by what a command line of a tool checks less than before, nothing where it does not."""
    was, is_ = read_words(tool, before), read_words(tool, now)
    return next(chain(_added(tool, was, is_), _lost(was, is_), _fewer(tool, was, is_)), "")


def _added(tool: str, was: Words, now: Words) -> Iterator[str]:
    narrow = NARROWING | SHORT.get(tool, set())
    loose = LOOSE | LOOSE_SHORT.get(tool, set())
    for name, value in now.options:
        if (name, value) in was.options:
            continue
        shown = f"{name} {value}".strip()
        if name in narrow:
            yield f"{shown} is new, so it looks at less"
        elif name in loose:
            yield f"{shown} is new, so it forgives more"
        elif name in CONFIG and value and (tool != "tsc" or was.value(name)):  # tsc -p may mend a list of references
            yield f"{name} was {was.value(name) or 'not there'}, now it is {value}"


def _lost(was: Words, now: Words) -> Iterator[str]:
    for name, value in was.options:
        after = now.value(name)
        lower = FLOOR.match(name) and _number(after) < _number(value)
        if lower or (CEILING.match(name) and (after is None or _number(after) > _number(value))):
            yield f"{name} was {value}, now it is {after or 'not there'}"
        elif STRICT.match(name) and after is None:
            yield f"{name} {value}".strip() + " was there, now it is not"


def _fewer(tool: str, was: Words, now: Words) -> Iterator[str]:
    if not now.paths or tool == "go build":
        return
    if now.paths[0] in COMMANDS and now.paths[:1] == was.paths[:1]:
        was, now = Words((), was.paths[1:]), Words((), now.paths[1:])
    if now.paths and not was.paths:
        yield f"only {' '.join(now.paths)} is looked at, before it was everything"
        return
    for path in was.paths:
        if now.paths and not any(covers(other, path) for other in now.paths):
            yield f"{path} is no longer looked at, only {' '.join(now.paths)}"
            return


def covers(wide: str, narrow: str) -> bool:
    """Return whether one path or pattern looks at all that another looked at, as far as words tell."""
    wide, narrow = wide.removeprefix("./").rstrip("/"), narrow.removeprefix("./").rstrip("/")
    if wide in ("", ".", "**", "**/*", "...") or wide == narrow:
        return True
    if wide.endswith("/..."):
        return f"{narrow}/".startswith(wide[:-3])
    return all(any(matches(sample, part) for part in _braces(wide)) for sample in map(_sample, _braces(narrow)))


def _sample(pattern: str) -> str:
    return re.sub(r"\*+", "x", pattern.replace("?(c|m)", "").replace("?(x)", ""))


def _braces(pattern: str) -> list[str]:
    match = re.search(r"\{([^{}]*)\}", pattern)
    if not match:
        return [pattern]
    start, end = pattern[: match.start()], pattern[match.end() :]
    return [found for part in match[1].split(",") for found in _braces(start + part + end)]


def _number(text: str | None) -> float:
    try:
        return float((text or "0").rstrip("%"))
    except ValueError:
        return 0.0
