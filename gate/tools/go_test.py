"""go test: one line for each package, without numbers; with -v or -json each test.

Without -v, go is asked where the test files of the packages are that ran (`go list`, 0.1-1 s, compiles nothing), and
their test functions are counted, as far as `-run` and `-skip` leave them. A function that begins with an unconditional
`t.Skip` (or with one under `testing.Short()` when `-short` is given) counts as skipped. A skip further down cannot be
seen without -v.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from gate.commands.part import option_values
from gate.tools.tool import Counts, Invocation, Ran, closing_line, per_line, tally

NAME = "go test"
KIND = "test"

_PACKAGE = closing_line(r"(?:ok|FAIL|\?) *\t(?P<package>\S+)\t(?P<rest>[^\n]*)$")
_RESULT = per_line(r"^(?:[^\n]{0,200}?[>|:│\]] ?)?--- (?P<result>PASS|FAIL|SKIP): (?P<test>\w+) \(")
_EVENT = per_line(r'^\{[^\n]*"Action":"(?P<result>pass|fail|skip)"[^\n]*"Test":"(?P<test>[^"/]+)"[^\n]*\}$')
_SUM = per_line(r"^DONE (?P<tests>\d+) tests?(?:, (?P<skipped>\d+) skipped)?(?:, (?P<failed>\d+) failures?)?")
_FUNCTION = per_line(
    r"^func (?P<name>(?:Test|Fuzz|Example)(?![a-z])\w*)\((?:\w+ \*testing\.[TF])?\) *\{(?=(?P<head>[^\0]{0,160}))"
)
_SKIPS = per_line(r"\s*(?://[^\n]*\s*)*\w+\.Skip(?:Now|f)?\(")
_SKIPS_SHORT = per_line(r"\s*if testing\.Short\(\) *\{\s*\w+\.Skip(?:Now|f)?\(")
_FORMAT = "{{.ImportPath}}\t{{.Dir}}\t{{range .TestGoFiles}}{{.}} {{end}}{{range .XTestGoFiles}}{{.}} {{end}}"


def matches(argv: Sequence[str]) -> bool:
    """Return whether Go tests run, also through gotestsum."""
    if argv[0] == "gotestsum":
        return True
    return argv[0] == "go" and argv[1:2] == ("test",) and not {"-c", "-list", "-n"} & set(argv)


def read(ran: Ran) -> Counts:
    """Return the test functions that passed or failed; subtests belong to their function.

    A result from go's cache counts: it is that of the same code, files and variables. How many there are is told.
    https://pkg.go.dev/cmd/go#hdr-Test_packages
    """
    counts = _read(ran)
    kept = {m["package"]: "(cached)" in m["rest"] for m in _PACKAGE.finditer(ran.output)}
    cached = sum(kept.values())
    return counts._replace(note=f"{cached} of {len(kept)} packages cached") if counts.tests and cached else counts


def _read(ran: Ran) -> Counts:
    summed = ran.closing(_SUM)
    if summed:
        tests, skipped, failed = (sum(int(m[i] or 0) for m in summed) for i in (1, 2, 3))
        return tally(NAME, tests - skipped, skipped=skipped, failed=failed)
    results = [m["result"].lower() for pattern in (_RESULT, _EVENT) for m in pattern.finditer(ran.output)]
    packages = _packages(ran.output)
    if results and (_is_verbose(ran) or not packages):
        skipped = results.count("skip")
        return tally(NAME, len(results) - skipped, skipped=skipped, failed=results.count("fail"))
    if not packages:
        return (
            Counts(tests=0, hollow="go test matched no packages") if "matched no packages" in ran.output else Counts()
        )
    return _count_functions(ran, packages, failed=results.count("fail"))


def _is_verbose(ran: Ran) -> bool:
    return all({"-v", "-json", "--json", "-v=true", "-test.v"} & set(invocation.argv) for invocation in ran.invocations)


def _packages(output: str) -> dict[str, bool]:
    """Return the packages that go reports; False for those in which nothing ran."""
    found = dict[str, bool]()
    for match in _PACKAGE.finditer(output):
        idle = "[no test files]" in match["rest"] or "[no tests to run]" in match["rest"]
        found[match["package"]] = found.get(match["package"], False) or not idle
    return found


def _count_functions(ran: Ran, packages: dict[str, bool], *, failed: int) -> Counts:
    ran_in = {package for package, idle in packages.items() if idle}
    if not ran_in:
        return Counts(tests=0, hollow=f"go test executed no test in {len(packages)} packages")
    tests = skipped = 0
    for invocation in ran.invocations:
        found = _functions(invocation, ran, ran_in)
        if found is None:
            tests += len(ran_in)  # each has at least one test
        else:
            tests, skipped = tests + found[0], skipped + found[1]
    return tally(NAME, tests, skipped=skipped, failed=failed)


def _functions(invocation: Invocation, ran: Ran, packages: set[str]) -> tuple[int, int] | None:
    words = list(invocation.words)
    words = words[words.index("--") + 1 :] if "--" in words and invocation.argv[0] == "gotestsum" else words[1:]
    tags = [f"-tags={value}" for value in option_values(words, frozenset({"-tags", "--tags"}))]
    answer = ran.asker.ask(["go", "list", "-f", _FORMAT, *tags, *sorted(packages)], cwd=invocation.cwd)
    if answer is None:
        return None
    wanted = (option_values(words, frozenset({"-run", "--run"})) or [""])[-1].split("/")[0]
    dropped = (option_values(words, frozenset({"-skip", "--skip"})) or ["$^"])[-1].split("/")[0]
    tests = skipped = 0
    for listed in answer.splitlines():
        _, folder, names = listed.split("\t")
        for name in names.split():
            found = _read_file(Path(folder) / name, wanted, dropped, short="-short" in words)
            tests, skipped = tests + found[0], skipped + found[1]
    return tests, skipped


def _read_file(path: Path, wanted: str, dropped: str, *, short: bool) -> tuple[int, int]:
    try:
        text = path.read_text("utf-8", "replace")
        functions = [
            m for m in _FUNCTION.finditer(text) if re.search(wanted, m["name"]) and not re.search(dropped, m["name"])
        ]
    except (OSError, re.error):
        return 0, 0
    functions = [m for m in functions if not m["name"].startswith("Example") or _is_checked(text, m.end())]
    skipped = sum(1 for m in functions if _SKIPS.match(m["head"]) or (short and _SKIPS_SHORT.match(m["head"])))
    return len(functions) - skipped, skipped


def _is_checked(text: str, start: int) -> bool:
    """Return whether an example has an output to compare with; one without is only compiled."""
    end = text.find("\n}", start)
    return re.search(r"(?i)//\s*(?:unordered )?output:", text[start : end if end >= 0 else None]) is not None
