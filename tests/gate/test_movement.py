"""How evidence moved against the base, in words and as warnings."""

from gate.movement import moved
from gate.report import Evidence, Finding, Level, Report, StepOutcome, StepReport, Verdict


def report(**tests: int | None) -> Report:
    steps = tuple(
        StepReport(name, "test", "t", StepOutcome.PASSED, evidence=Evidence("pytest", count))
        for name, count in tests.items()
    )
    return Report(Verdict.GREEN, "fine", steps=steps)


def test_fewer_tests_are_said_and_warned_of() -> None:
    found = moved(report(unit=38, e2e=3), report(unit=41, e2e=3))
    assert (found.reason, found.findings) == (
        "fine; tests 41 (-3)",
        (
            Finding(
                "executed-count-dropped", Level.WARNING, "unit executed 41 tests at the base, now 38 (-3)",
                fix="look where they went; `evidence = 41` holds the number from now on",
            ),
        ),
    )  # fmt: skip


def test_more_tests_are_said() -> None:
    found = moved(report(unit=43), report(unit=41))
    assert (found.reason, found.findings) == ("fine; tests 43 (+2)", ())


def test_a_count_that_is_not_known_is_no_drop() -> None:
    found = moved(report(unit=None, new=1), report(unit=41, old=4))
    assert (found.reason, found.findings) == ("fine; tests 1 (-44)", ())
