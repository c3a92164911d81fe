"""Shortcuts by which a check cannot fail any more, new in files that run checks."""

import re
from collections.abc import Iterator

from gate.globs import matches
from gate.integrity.change import Change, File, error
from gate.patterns import later
from gate.policy import Policy
from gate.report import Finding

RUNS_CHECKS = (
    "**/package.json", "**/Makefile", "**/*.mk", "**/justfile", "**/Taskfile.yml", "**/tox.ini", "**/noxfile.py",
    "**/.pre-commit-config.yaml", ".github/workflows/*", ".github/actions/**", "**/*.sh", "**/*.bash", "**/.gitlab-ci.yml",
    "**/jest.config.*", "**/vitest.config.*", "**/vite.config.*", "**/playwright.config.*", "**/.mocharc*",
    "**/pytest.ini", "**/setup.cfg", "**/pyproject.toml", "**/pom.xml", "**/build.gradle*", "**/Cargo.toml",
    "**/.eslintrc*", "**/turbo.json", "**/nx.json", "**/Rakefile", "**/composer.json", "**/phpunit.xml*",
    "**/Dockerfile*", "**/*.csproj", "**/next.config.*",
)  # fmt: skip
# rule, what it is, pattern; each makes a failing check pass
SHORTCUTS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("exit-swallowed", "a failure is swallowed", later(r"\|\|\s*(?:true\b|:(?:\s|$|[\"'])|exit\s+0\b|echo\b|/bin/true)")),
    ("exit-swallowed", "a failure is swallowed", later(r";\s*(?:true|exit\s+0)\s*(?:[\"']\s*)?(?:,\s*)?$")),
    ("exit-swallowed", "errors are ignored from here on", later(r"(?:^|\s|;)set \+e\b|set \+o (?:errexit|pipefail)")),
    ("exit5-swallowed", "pytest's \"no tests\" is made a success", later(r"\$\?\s*(?:-eq|==|-ne)\s*5\b")),
    ("continue-on-error", "a failing step is let through", later(r"continue-on-error:\s*(?!false\b)\S+")),
    ("pass-with-no-tests", "no test at all is made a success",
     later(r"--pass-?[wW]ith-?[nN]o-?[tT]ests|passWithNoTests[\"']?\s*:\s*true|--allow-empty-suites?|failZero[\"']?\s*:\s*false")),
    ("exit-zero", "the tool is told to succeed", later(r"--exit-zero\b|--no-fail\b|--allow-failure\b|--force-exit-code[= ]0")),
    ("skip-tests-flag", "tests are switched off",
     later(r"-DskipTests\b|-Dmaven\.test\.skip|<skipTests>\s*true|testFailureIgnore>\s*true|ignoreFailures\s*=\s*true|failIfNoTests>\s*false|-x\s+test\b")),
    ("check-loosened", "the runner forgives more", later(r"allowOnly[\"']?\s*:\s*true|dangerouslyIgnoreUnhandledErrors[\"']?\s*:\s*true|success_codes\s*=")),
    ("build-ignores-errors", "the build ignores errors",
     later(r"ignoreBuildErrors[\"']?\s*:\s*true|ignoreDuringBuilds[\"']?\s*:\s*true")),
    ("condition-always-false", "a check is switched off", later(r"^\s*(?:-\s+)?if:\s*(?:false|\$\{\{\s*false\s*\}\})\s*$")),
    ("skip-missing", "missing interpreters are skipped", later(r"skip_missing_interpreters\s*=\s*true", re.IGNORECASE)),
)  # fmt: skip
# what may fail beside a check
_HARMLESS = later(
    r"(?:(?:^|[\"';&|(:@-])\s*|\t[^\S\t]*)(?:sudo )?(?:rm|rmdir|mkdir|kill|pkill|killall|docker|podman|git|cp|mv|ln|unlink|test|\[\[?|command|which|"
    r"type|grep|createdb|dropdb|umount|brew|apt-get|apk|curl|wget|echo|cat|ls|stat|read|sleep|export|source|npm (?:ci|i|install)|"
    r"rimraf|shx|adb|xhost|touch|chmod|chown|sed|find|tar|zip|ps|id|date|uname)(?=\s|$)"
)
_COMMENT = later(r"^\s*(?:#(?!!)|//|;|<!--|\*)")


def look(change: Change, policy: Policy) -> Iterator[Finding]:
    """Yield each new line by which a check cannot fail."""
    del policy
    for file in change.files:
        if file.now is not None and any(matches(file.path, glob) for glob in RUNS_CHECKS):
            yield from _in(file)


def _in(file: File) -> Iterator[Finding]:
    before, now = file.before or "", file.now or ""
    kept = dict[str, bool]()  # text that stood there as often before
    for number, line in file.added():
        if _COMMENT.match(line):
            continue
        for rule, what, pattern in SHORTCUTS:
            match = pattern.search(line)
            if match and rule == "exit-swallowed" and _HARMLESS.search(_last_command(line[: match.start()])):
                continue
            if match and match[0] not in kept:
                kept[match[0]] = match[0] in before and before.count(match[0]) >= now.count(match[0])
            if match and not kept[match[0]]:
                shown = line.strip()[:160]
                yield error(rule, f"{what} that was not before: {shown}", file.path, number)
                break


def _last_command(line: str) -> str:
    """Return the end of a line from the last sign on that ends a command."""
    return line[max(0, *(line.rfind(sign) for sign in ";&|")) :]
