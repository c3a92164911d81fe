"""unittest, and Django's `manage.py test`: `Ran 3 tests in 0.1s`, then `OK (skipped=1)`."""

import re
from collections.abc import Sequence

from gate.tools.tool import Counts, Ran, per_line

NAME = "unittest"
KIND = "test"

_CLOSING = per_line(
    r"^(?:[^\n]*[>|:\]] )?Ran (?P<ran>\d+) tests? in [\d.]+s[^\n]*\n+"
    r"(?:[^\n]*[>|:\]] )?(?P<word>OK|FAILED|NO TESTS RAN)(?: \((?P<rest>[^)\n]*)\))?"
)
_NOTHING = 5  # exit code since Python 3.12: no tests ran


def matches(argv: Sequence[str]) -> bool:
    """Return whether this is unittest or a Django test run."""
    if argv[0] in {"unittest", "unittest2", "django-admin", "manage.py"}:
        return argv[0].startswith("unittest") or "test" in argv[1:2]
    return False


def read(ran: Ran) -> Counts:
    """Return what ran without what was skipped or expected to fail; an unexpected success is a failure to unittest."""
    lines = ran.closing(_CLOSING)
    if not lines:
        return Counts(tests=0, hollow="unittest found no tests") if ran.exit_code == _NOTHING else Counts()
    tests = skipped = failed = 0
    for line in lines:
        n = {name: int(count) for name, count in re.findall(r"([a-z ]+)=(\d+)", line["rest"] or "")}
        n = {name.strip(): count for name, count in n.items()}
        left_out = n.get("skipped", 0) + n.get("expected failures", 0)
        skipped += left_out
        failed += n.get("failures", 0) + n.get("errors", 0) + n.get("unexpected successes", 0)
        tests += max(0, int(line["ran"]) - left_out)
    if tests:
        return Counts(tests=tests, skipped=skipped, failed=failed)
    reason = (
        f"unittest executed no test: {skipped} skipped or expected to fail" if skipped else "unittest found no tests"
    )
    return Counts(tests=0, skipped=skipped, failed=failed, hollow=reason)
