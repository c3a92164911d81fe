"""What a verdict may never do: get better because a step is gone, or because less was executed."""

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.integrity import policies
from gate.integrity.change import Change, File
from gate.judge import judge
from gate.policy import FILE, Policy, parse_repository
from gate.report import Evidence, StepOutcome, StepReport, Verdict

TODAY = date(2026, 6, 1)
GOOD = (StepOutcome.PASSED,)
COMMANDS = ("pytest -q", "ruff check .", "npm test", "./check.sh")
EVIDENCE = st.builds(
    Evidence, tool=st.sampled_from([None, "pytest", "ruff"]), tests=st.none() | st.integers(0, 3),
    files=st.none() | st.integers(0, 3),
)  # fmt: skip
STEP = st.tuples(
    st.sampled_from(COMMANDS), st.none() | st.just("exit") | st.integers(1, 3), st.sampled_from([".", "app"]),
    st.sampled_from(list(StepOutcome)), EVIDENCE,
)  # fmt: skip
Drawn = tuple[str, str | int | None, str, StepOutcome, Evidence]


def text(steps: dict[str, Drawn]) -> str:
    """Return the steps as a gate.toml."""
    tables = [
        f"[steps.{name}]\nrun = {json.dumps(run)}\ncwd = {json.dumps(cwd)}\n"
        + (f"evidence = {json.dumps(evidence)}\n" if evidence is not None else "")
        for name, (run, evidence, cwd, _, _) in steps.items()
    ]
    return "".join(tables)


def ended(steps: dict[str, Drawn]) -> list[StepReport]:
    """Return the steps as they ended."""
    return [StepReport(name, "check", s[0], s[3], 0, evidence=s[4]) for name, s in steps.items()]


def policy_of(steps: dict[str, Drawn]) -> Policy:
    return parse_repository(text(steps).encode(), FILE)


SOME = st.lists(STEP, min_size=1, max_size=4).map(lambda drawn: {f"s{n}": step for n, step in enumerate(drawn)})


@settings(max_examples=150, deadline=None)
@given(SOME, st.data())
def test_removing_any_steps_never_improves_a_verdict(steps: dict[str, Drawn], data: st.DataObject) -> None:
    """The policy is the base's, so what the head removed still runs, and its removal is a finding."""
    gone = data.draw(st.sets(st.sampled_from(sorted(steps)), min_size=1))
    left = {name: step for name, step in steps.items() if name not in gone}
    policy = policy_of(steps)
    change = Change(Path("/nonexistent"), (File(FILE, text(steps), text(left)),))
    findings = tuple(policies.look(change, policy))
    whole, _, _ = judge(policy, ended(steps), (), today=TODAY)
    less, _, _ = judge(policy, ended(steps), findings, today=TODAY)
    doubled = all(any(does_the_same(left[name], steps[other]) for name in left) for other in gone)
    assert less is Verdict.TAMPERED or (less is whole and doubled)


def does_the_same(step: Drawn, other: Drawn) -> bool:
    """Return whether a step runs what another runs, and asks for no less."""
    weight = {"exit": 0, None: 1}
    return (
        step[0] == other[0] and step[2] == other[2] and weight.get(step[1], step[1]) >= weight.get(other[1], other[1])
    )


@settings(max_examples=150, deadline=None)
@given(SOME, st.data())
def test_without_a_base_a_step_that_passed_is_never_missed_for_the_better(
    steps: dict[str, Drawn], data: st.DataObject
) -> None:
    passed = sorted(name for name, step in steps.items() if step[3] in GOOD)
    gone = data.draw(st.sets(st.sampled_from(passed))) if passed else set()
    left = {name: step for name, step in steps.items() if name not in gone}
    whole, _, _ = judge(policy_of(steps), ended(steps), (), today=TODAY)
    less, _, _ = judge(policy_of(left), ended(left), (), today=TODAY)
    assert whole is Verdict.GREEN or less is not Verdict.GREEN


@settings(max_examples=100, deadline=None)
@given(SOME, st.data())
def test_a_step_that_ends_worse_never_improves_a_verdict(steps: dict[str, Drawn], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(steps)))
    reports = ended(steps)
    worse = [
        s._replace(outcome=StepOutcome.FAILED, evidence=Evidence()) if s.name == name else s for s in reports
    ]  # fmt: skip
    assert judge(policy_of(steps), worse, (), today=TODAY)[0] is Verdict.RED
    assert judge(policy_of(steps), reports, (), today=TODAY)[0] is not Verdict.UNGATED


def test_nothing_that_ran_is_ungated_whatever_else_was_found() -> None:
    assert judge(Policy(), (), (), today=TODAY)[0] is Verdict.UNGATED


WAIVED = """
[steps.test]
run = "pytest -q"
[steps.e2e]
run = "npx playwright test"
[[waivers]]
step = "e2e"
reason = "the staging server moves"
expires = 2026-06-01
"""


@pytest.mark.parametrize(("day", "verdict"), [(1, Verdict.GREEN), (2, Verdict.HOLLOW)])
def test_a_waiver_counts_to_the_end_of_its_day(day: int, verdict: Verdict) -> None:
    policy = parse_repository(WAIVED.encode(), FILE)
    steps = [
        StepReport("test", "test", "pytest -q", StepOutcome.PASSED, 0, evidence=Evidence("pytest", 3)),
        StepReport("e2e", "test", "npx playwright test", StepOutcome.HOLLOW, 0, reason="no test was executed"),
    ]
    found, _, (note,) = judge(policy, steps, (), today=date(2026, 6, day))
    assert (found, note.rule) == (verdict, "waiver" if day == 1 else "waiver-expired")


def test_a_step_of_which_nothing_is_seen_is_named_beside_one_that_proves() -> None:
    policy = parse_repository(
        b'[steps.lint]\nrun = "./lint.sh"\n[steps.test]\nrun = "pytest -q"\n', f"{FILE}@{'a' * 40}"
    )
    passed = [
        StepReport("lint", "check", "./lint.sh", StepOutcome.PASSED, 0),
        StepReport("test", "test", "pytest -q", StepOutcome.PASSED, 0, evidence=Evidence("pytest", 3)),
    ]
    verdict, reason, noted = judge(policy, passed, (), today=TODAY)
    assert (verdict, reason, [(f.rule, f.level, f.path) for f in noted]) == (
        Verdict.GREEN, "2 steps, 2 ran, 3 tests executed, 0 skipped; nothing to be seen of lint",
        [("nothing-seen", "note", FILE)],
    )  # fmt: skip
