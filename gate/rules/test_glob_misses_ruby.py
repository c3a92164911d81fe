"""A file of Ruby holds tests, and its name does not fit what the runner loads."""

import re
from collections.abc import Iterator, Sequence

from gate.commands.part import option_values
from gate.globs import matches
from gate.report import Finding, Level
from gate.repository.checks import Check
from gate.repository.opening import Repository
from gate.repository.places import folder_of
from gate.repository.shell_files import place

ID = "test-glob-misses"
SUMMARY = (
    "RSpec loads `spec/**/*_spec.rb` unless told otherwise, `rails test` loads `test/**/*_test.rb`: a file with examples or tests "
    "under another name never runs.\nNext: rename the file, or widen the pattern."
)
_EXAMPLES = re.compile(r"^(?:RSpec\.)?describe\b[^\n]*\bdo\s*$", re.M)
_EXAMPLE = re.compile(r"^[ \t]+(?:it|specify|example|scenario)\b[ (][^\n]*(?:\bdo\b|\{)", re.M)
_CLASS = re.compile(r"^[ \t]*class\s+[\w:]+\s*<\s*(?:::)?(?:Minitest::Test|MiniTest::Test|Test::Unit::TestCase|ActiveSupport::TestCase|ActionDispatch::IntegrationTest|[\w:]{0,200}TestCase)\b", re.M)  # fmt: skip
_CASE = re.compile(r"^[ \t]+(?:def test_|test [\"'])", re.M)
_ASIDE = {
    "support",
    "fixtures",
    "templates",
    "dummy",
    "shared",
    "shared_examples",
    "lib",
    "resources",
    "factories",
    "bench",
    "internal",
}
_PATTERN = frozenset({"-P", "--pattern"})


def check(repo: Repository) -> Iterator[Finding]:
    """Yield one finding for RSpec and one for Rails, each where it runs whole."""
    for at in repo.gate:
        for command in at.commands:
            argv = command.argv
            folder = folder_of(repo, command.cwd)
            if folder is None or "$" in " ".join(argv):
                continue
            words = [w for w in argv[1:] if not w.startswith("-")]
            if argv[0] in ("rspec", "parallel_rspec", "turbo_tests"):
                patterns = _rspec_patterns(repo, folder, argv)
                if not [w for w in words if w.startswith("spec/")] and patterns:
                    yield from _missed(repo, at, folder, patterns, rspec=True)
            elif argv[0] == "rails" and words[:1] == ["test"] and len(words) == 1:
                yield from _missed(repo, at, folder, ["test/**/*_test.rb"], rspec=False)
            else:
                continue
            return


def _rspec_patterns(repo: Repository, folder: str, argv: Sequence[str]) -> list[str]:
    """Return the patterns that RSpec loads, none where it is told by something else."""
    path = f"{folder}/.rspec" if folder else ".rspec"
    words = [*(repo.tree.text(path) or "").split(), *argv[1:]]
    if any(
        w.split("=")[0] in ("--exclude-pattern", "--default-path", "-I", "-r") and "spec" not in w for w in argv[1:]
    ):
        return []
    given = option_values(words, _PATTERN)
    return [p.strip("\"'") for p in given[-1].split(",")] if given else ["spec/**/*_spec.rb"]


def _missed(repo: Repository, at: Check, folder: str, patterns: Sequence[str], *, rspec: bool) -> Iterator[Finding]:
    start = f"{folder}/" if folder else ""
    home = f"{start}{'spec' if rspec else 'test'}/"
    files = list[str]()
    loaded: set[str] | None = None
    for path in repo.tree.sources(".rb"):
        inside = path.removeprefix(start)
        if (
            not path.startswith(home)
            or _ASIDE.intersection(inside.split("/")[1:-1])
            or any(_fits(inside, p) for p in patterns)
        ):
            continue
        text = repo.tree.text(path) or ""
        first, second = (_EXAMPLES, _EXAMPLE) if rspec else (_CLASS, _CASE)
        if first.search(text) and second.search(text):
            loaded = _loaded(repo) if loaded is None else loaded
            if path.rpartition("/")[2].removesuffix(".rb") not in loaded:
                files.append(path)
    if files:
        runner = "rspec" if rspec else "rails test"
        command = next(
            c for c in at.commands if c.argv[0] in (("rspec", "parallel_rspec", "turbo_tests") if rspec else ("rails",))
        )
        yield Finding(
            ID, Level.ERROR, f"{at.name}: tests that never run, in files whose names do not fit {' '.join(patterns)}", *place(repo.tree, at, command),
            files=tuple(sorted(files)), count=len(files), fix=f"rename them to …{'_spec.rb' if rspec else '_test.rb'}, or widen the pattern",
            reproduce=f"{runner} {files[0]}",
        )  # fmt: skip


def _fits(path: str, pattern: str) -> bool:
    return any(matches(path, p) for p in _alternatives(pattern.removeprefix("./")))


def _alternatives(pattern: str) -> list[str]:
    """Return a pattern with its `{a,b}` written out; one that is too rich is said to fit everything."""
    if pattern.count("{") > 2 or pattern.count("*") > 7 or len(pattern) > 200:
        return ["**"]
    found = re.search(r"\{([^{}]*)\}", pattern)
    if not found:
        return [pattern]
    parts = (pattern[: found.start()] + part + pattern[found.end() :] for part in found[1].split(","))
    return [a for part in parts for a in _alternatives(part)]


def _loaded(repo: Repository) -> set[str]:
    """Return the names of files that others load: the last part of what they require."""
    names = re.compile(r"\b(?:require|require_relative|load|autoload)\b[^\n]*[\"']([^\"'\n]+)[\"']")
    return {
        n.rpartition("/")[2].removesuffix(".rb")
        for p in repo.tree.sources(".rb")
        for n in names.findall(repo.tree.text(p) or "")
    }
