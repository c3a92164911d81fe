"""Bazel leaves out tests by their tags, and no command of the gate runs them."""

from collections.abc import Iterator, Sequence

from gate.report import Finding, Level
from gate.repository.bazel_files import RcOption, rc_options, tagged_tests
from gate.repository.checks import Check
from gate.repository.opening import Repository
from gate.repository.shell_files import place

ID = "tag-filter-excludes"
SUMMARY = (
    "`--test_tag_filters` counts once: a later one, of `.bazelrc` or of the command line, takes the place of those before it. "
    "Tests with a tag that the last one leaves out never run, and neither do those whose filter was lost.\n"
    "Next: write one filter, and a step for the tests that it leaves out."
)
_OPTION = "--test_tag_filters="
# tags that Bazel itself, or people by agreement, use for tests that no plain run should take
_ASIDE = {
    "manual",
    "flaky",
    "broken",
    "disabled",
    "skip",
    "nobuild",
    "notap",
    "no-ci",
    "no_ci",
    "external",
    "fix_later",
    "benchmark",
}


def check(repo: Repository) -> Iterator[Finding]:
    """Yield filters that others replace, and one finding for each tag whose tests no run takes."""
    runs = [
        (at, c)
        for at in repo.gate
        for c in at.commands
        if c.argv[0] in ("bazel", "bazelisk") and {"test", "coverage"} & set(c.argv)
    ]
    if not runs:
        return
    options = [o for o in rc_options(repo.tree) if o.word.startswith(_OPTION)]
    yield from _replaced(runs[0][0], options)
    filters = [(_filter(c.argv, options), c.argv) for _, c in runs]
    if any("$" in w for _, argv in filters for w in argv):
        return
    missed: dict[str, list[str]] = {}
    paths: dict[str, set[str]] = {}
    for test in tagged_tests(repo.tree):
        if not test.tags & _ASIDE and not any(_takes(f, test.tags) or test.label in argv for f, argv in filters):
            tag = next(
                (t for t in sorted(test.tags) if f"-{t}" in (filters[0][0] or ())), ", ".join(sorted(test.tags)[:3])
            )
            missed.setdefault(tag, []).append(test.label)
            paths.setdefault(tag, set()).add(test.path)
    at, command = runs[0]
    for tag, labels in missed.items():
        path, line = next(
            ((o.path, o.line) for o in reversed(options) if not o.config),
            place(repo.tree, at, command, "test_tag_filters"),
        )
        yield Finding(
            ID, Level.WARNING, f"{at.name}: no run of Bazel takes the {len(labels)} test{'s' if len(labels) > 1 else ''} with the tag {tag!r}", path, line,
            files=tuple(sorted(paths[tag])), count=len(labels), fix=f"add a step: bazel test //... --test_tag_filters={tag}",
            reproduce=f"bazel query 'attr(tags, {tag}, tests(//...))'",
        )  # fmt: skip


def _replaced(at: Check, options: Sequence[RcOption]) -> Iterator[Finding]:
    """Yield filters that count under the same configuration as a later one with other words."""
    last = {o.config: o for o in options}
    for option in options:
        lost = set(_words(option.word)) - set(_words(last[option.config].word))
        if option is not last[option.config] and lost:
            other = last[option.config]
            yield Finding(
                ID, Level.WARNING, f"{at.name}: `{option.word}` is replaced by that of {other.path}:{other.line}: {', '.join(sorted(lost))} is lost",
                option.path, option.line, fix="write one filter with all tags", reproduce="bazel test --announce_rc //... 2>&1 | grep test_tag_filters",
            )  # fmt: skip


def _filter(argv: Sequence[str], options: Sequence[RcOption]) -> tuple[str, ...] | None:
    """Return the filter that counts for a command line, None where there is none."""
    configs = {w.removeprefix("--config=") for w in argv if w.startswith("--config=")}
    words = [o.word for o in options if not o.config] + [o.word for o in options if o.config in configs and o.config]
    words += [w for w in argv if w.startswith(_OPTION)]
    return _words(words[-1]) if words else None


def _words(option: str) -> tuple[str, ...]:
    return tuple(w for w in option.removeprefix(_OPTION).strip("\"'").split(",") if w)


def _takes(wanted: Sequence[str] | None, tags: frozenset[str]) -> bool:
    """Return whether a test with these tags runs under a filter: none of its `-tag`s, and one of the others if it has some."""
    if not wanted:
        return True
    needed = [w.removeprefix("+") for w in wanted if not w.startswith("-")]
    return not any(w[1:] in tags for w in wanted if w.startswith("-")) and (
        not needed or bool(tags.intersection(needed))
    )
