"""Know the steps that only look at how text is laid out: they see a break that is not laid out well, and no other."""

from collections.abc import Sequence
from pathlib import Path

from gate.commands.resolve import resolve
from gate.policy import Step

_ALWAYS = frozenset({
    "black", "prettier", "gofmt", "gofumpt", "goimports", "rustfmt", "clang-format", "dprint", "shfmt", "isort", "yapf",
    "autopep8", "ktfmt", "google-java-format", "php-cs-fixer", "taplo", "csharpier", "swiftformat", "stylua",
})  # fmt: skip
_WITH = {"ruff": "format", "cargo": "fmt", "biome": "format", "deno": "fmt", "dotnet": "format", "mix": "format"}
_STARTERS = frozenset({
    "npm", "npx", "pnpm", "yarn", "bun", "bunx", "make", "gmake", "just", "task", "uv", "uvx", "poetry", "hatch", "pdm",
    "bash", "sh", "cd", "echo", "printf", "set", "test", "[", "export", "git", "xargs", "find", "grep", "env", "true",
})  # fmt: skip


def is_formatter(step: Step, root: Path) -> bool:
    """Return whether all that a step runs are formatters, beside what starts them."""
    words = [c.argv for c in resolve(step.run, root / step.cwd, root=root) if c.argv[0] not in _STARTERS]
    return bool(words) and all(map(_formats, words))


def _formats(argv: Sequence[str]) -> bool:
    return argv[0] in _ALWAYS or _WITH.get(argv[0], "") in argv[1:2]


def without(steps: Sequence[Step], names: Sequence[str]) -> tuple[Step, ...]:
    """Return the steps without the named ones; what needed one of those needs what that needed."""
    needs = {step.name: step.needs for step in steps}

    def kept(wanted: Sequence[str]) -> list[str]:
        return [n for name in wanted for n in (kept(needs[name]) if name in names else [name])]

    return tuple(
        step._replace(needs=tuple(dict.fromkeys(kept(step.needs)))) for step in steps if step.name not in names
    )
