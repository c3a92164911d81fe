"""Whatever the checks say, each file ends where it belongs, and in few runs."""

import random
from collections.abc import Sequence
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.search import Colour, Fate, Found, Ran, search

RED, GREEN, UNCLEAR = Colour.RED, Colour.GREEN, Colour.UNCLEAR
SEEN, UNSEEN, UNSETTLED = Fate.SEEN, Fate.UNSEEN, Fate.UNSETTLED


class Checks:
    """Simulated checks: who is seen, who of those is named and when, who makes them hang."""

    def __init__(
        self, seen: Sequence[str], named: Sequence[str], hangs: Sequence[str] = (), *, first: int = 10**9
    ) -> None:
        self.seen, self.named, self.hangs, self.first, self.runs = set(seen), set(named), set(hangs), first, 0

    def __call__(self, broken: Sequence[str]) -> Ran:
        self.runs += 1
        if self.hangs & set(broken):
            return Ran(UNCLEAR, {}, reason="out of time")
        failing = sorted(self.seen & set(broken))
        named = [path for path in failing if path in self.named][: self.first]
        return Ran(RED if failing else GREEN, dict.fromkeys(named, ("lint",)), ("lint",) if failing else ())


def test_named_files_are_seen_and_one_green_run_shows_the_others_unseen() -> None:
    checks = Checks("ab", "ab")
    found = search("abcd", checks, spent="budget")
    assert (found, checks.runs) == (
        {"a": Found(SEEN, ("lint",)), "b": Found(SEEN, ("lint",)), "c": Found(UNSEEN), "d": Found(UNSEEN)}, 2,
    )  # fmt: skip


def test_a_file_that_is_seen_and_never_named_is_found_by_halves_and_looked_at_twice() -> None:
    checks = Checks("c", "")
    found = search("abcd", checks, spent="budget")
    assert ({path: f.fate for path, f in found.items()}, checks.runs) == (
        {"a": UNSEEN, "b": UNSEEN, "c": SEEN, "d": UNSEEN}, 6,
    )  # fmt: skip


def test_a_failure_that_does_not_come_again_settles_nothing() -> None:
    answers = iter([Ran(RED, {}, ("test",)), Ran(GREEN, {})])
    found = search(["a"], lambda _: next(answers), spent="budget")
    assert found == {"a": Found(UNSETTLED, reason="test failed once with it broken, and not a second time")}


def test_what_hangs_is_unsettled_and_keeps_nobody_from_being_settled() -> None:
    found = search("abcd", Checks("a", "a", "b"), spent="budget")
    assert {path: f.fate for path, f in found.items()} == {"a": SEEN, "b": UNSETTLED, "c": UNSEEN, "d": UNSEEN}


def test_without_time_the_rest_is_unsettled_and_says_what_is_known_of_its_group() -> None:
    answers = iter([Ran(RED, {}, ("test",)), Ran(GREEN, {}), None])
    found = search("abc", lambda _: next(answers), spent="the budget ended")
    why = "test failed with it broken among 3 files, and named none of them; the budget ended"
    assert found == {"a": Found(UNSEEN), "b": Found(UNSEEN), "c": Found(UNSETTLED, reason=why)}


def test_no_file_needs_no_run() -> None:
    checks = Checks("", "")
    assert (search([], checks, spent=""), checks.runs) == ({}, 0)


files = st.sets(st.integers(0, 40).map(str), max_size=30)


@settings(max_examples=100, deadline=None)
@given(files, files, files, files, st.integers(1, 30))
def test_each_file_ends_where_it_belongs(
    tried: set[str], seen: set[str], named: set[str], hangs: set[str], first: int
) -> None:
    checks = Checks(sorted(seen), sorted(named), sorted(hangs), first=first)
    found = {path: f.fate for path, f in search(sorted(tried), checks, spent="").items()}
    wanted = {path: UNSETTLED if path in hangs else SEEN if path in seen else UNSEEN for path in tried}
    assert found == wanted


@settings(max_examples=100, deadline=None)
@given(files, files, st.integers(0, 10))
def test_a_budget_never_makes_a_file_seen_or_unseen_that_is_not(tried: set[str], seen: set[str], runs: int) -> None:
    checks = Checks(sorted(seen), [])
    found = search(sorted(tried), lambda group: checks(group) if checks.runs < runs else None, spent="")
    wrong = {p for p, f in found.items() if (f.fate is SEEN and p not in seen) or (f.fate is UNSEEN and p in seen)}
    assert (set(found), wrong, checks.runs <= runs) == (tried, set(), True)


@pytest.mark.parametrize(("count", "runs"), [(100, 4), (1000, 5)])
def test_with_95_of_100_named_the_runs_are_few_with_the_two_over_whole_files(count: int, runs: int) -> None:
    chance = random.Random(1)
    tried = [str(number) for number in range(count)]

    def needed() -> int:
        made = 2

        def run(group: Sequence[str]) -> Ran:
            nonlocal made
            made += 1
            return Ran(RED, {path: ("lint",) for path in group if chance.random() < 0.95}, ("lint",))

        search(tried, run, spent="")
        return made

    assert median(needed() for _ in range(21)) == runs
