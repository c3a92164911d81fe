"""dotnet test: `Passed!  - Failed: 0, Passed: 3, Skipped: 0, Total: 3` for each assembly, or one `Test summary:`."""

import re
from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, closing_line, per_line, tally

NAME = "dotnet test"
KIND = "test"

_ASSEMBLY = closing_line(
    r"(?:Passed|Failed|Skipped)! +- "
    r"Failed: +(?P<failed>\d+), Passed: +(?P<passed>\d+), Skipped: +(?P<skipped>\d+), Total:"
)
_SUMMARY = closing_line(
    r"Test (?:run )?summary: [^\n]*(?:\n\s+)?(?:total: \d+,? *\s*)"
    r"(?P<rest>(?:(?:failed|succeeded|skipped): \d+,?\s*)+)"
)
_TOTALS = per_line(r"^ *(?P<word>Passed|Failed|Skipped): (?P<count>\d+)$")
_NONE = per_line(r"No test is available in |No test matches the given testcase filter|Zero tests ran")


def matches(argv: Sequence[str]) -> bool:
    """Return whether .NET tests run."""
    return argv[0] == "dotnet" and argv[1:2] in (("test",), ("vstest",)) and not {"--list-tests", "-t"} & set(argv)


def read(ran: Ran) -> Counts:
    """Return the tests that passed or failed in all assemblies."""
    found = [{key: int(m[key]) for key in ("passed", "failed", "skipped")} for m in _ASSEMBLY.finditer(ran.output)]
    if not found:
        for match in ran.closing(_SUMMARY):
            n = {word: int(count) for word, count in re.findall(r"(failed|succeeded|skipped): (\d+)", match["rest"])}
            found.append(
                {"passed": n.get("succeeded", 0), "failed": n.get("failed", 0), "skipped": n.get("skipped", 0)}
            )
    if not found:
        lines = {m["word"].lower(): int(m["count"]) for m in _TOTALS.finditer(ran.output)}
        found = [lines] if lines else []
    if not found:
        return Counts(tests=0, hollow="dotnet test found no tests") if _NONE.search(ran.output) else Counts()
    passed, failed, skipped = (sum(n.get(key, 0) for n in found) for key in ("passed", "failed", "skipped"))
    return tally(NAME, passed + failed, skipped=skipped, failed=failed)
