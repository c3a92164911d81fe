"""A command chooses tests by a name or a tag, and succeeds when none fits."""

import itertools
from collections.abc import Iterator, Sequence

from gate.report import Finding, Level
from gate.repository.dotnet_projects import settings_texts
from gate.repository.opening import Repository
from gate.repository.shell_files import place

ID = "empty-selection-passes"
SUMMARY = (
    "`dotnet test --filter`, `rspec --tag` and `ctest -R` exit 0 when nothing fits, as after a rename. `dotnet test` without a filter "
    "does so where an assembly holds no test at all: a note.\n"
    "Next: `TreatNoTestsAsError` in .runsettings, `fail_if_no_examples = true` for RSpec, `ctest --no-tests=error`."
)
_MENDS = {
    "dotnet": "dotnet test … -- RunConfiguration.TreatNoTestsAsError=true",
    "rspec": "config.fail_if_no_examples = true in spec_helper.rb",
    "ctest": "ctest --no-tests=error",
}


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each such command; one note for all runs of `dotnet test` that choose nothing."""
    told, noted = set[tuple[str, int | None]](), False
    for at in repo.gate:
        for command in at.commands:
            word = chooses(command.argv)
            plain = command.argv[:2] == ("dotnet", "test") and not word
            name = "rspec" if "rspec" in command.argv[0] else command.argv[0]
            if (not word and (not plain or noted)) or not _passes(repo, name, command.argv):
                continue
            where = place(repo.tree, at, command, word or "test")
            if where not in told:
                told.add(where)
                noted = noted or plain
                what = (
                    f"`{name} {word}` succeeds when no test fits"
                    if word
                    else "`dotnet test` succeeds where an assembly holds no test"
                )
                yield Finding(
                    ID, Level.WARNING if word else Level.NOTE, f"{at.name}: {what}", *where, fix=_MENDS[name],
                    reproduce=f"{' '.join(command.argv)[:100]}; echo $?",
                )  # fmt: skip


def chooses(argv: Sequence[str]) -> str:
    """Return the option by which a command line chooses tests, empty where it does not."""
    if argv[:2] == ("dotnet", "test"):
        return "--filter" if any(w.split("=")[0] == "--filter" for w in argv[2:]) else ""
    if argv[0] in ("rspec", "parallel_rspec"):
        pairs = itertools.pairwise([*argv[1:], ""])
        return next((a for a, b in pairs if a in ("--tag", "-t", "-e", "--example") and not b.startswith("~")), "")
    if argv[0] == "ctest":
        return next((w for w in argv[1:] if w in ("-R", "--tests-regex", "-L", "--label-regex")), "")
    return ""


def _passes(repo: Repository, name: str, argv: Sequence[str]) -> bool:
    """Return whether nothing says that a run without tests is an error."""
    if name == "ctest":
        return "--no-tests=error" not in argv
    if name == "rspec":
        return not any(
            "fail_if_no_examples" in (repo.tree.text(p) or "") for p in repo.tree.named("**/*.rb", "**/.rspec")
        )
    if "TreatNoTestsAsError=true" in " ".join(argv):
        return False
    text = "\n".join(settings_texts(repo.tree))
    signs = ("TreatNoTestsAsError", "TestingPlatform", "Testing.Platform", "xunit.v3", "TUnit", "MSTest.Sdk")
    return bool(text) and not any(sign in text for sign in signs)
