"""The simulation: the real admission rules on tickets that only exist on paper."""

import pytest

from bot.errors import ConfigError
from bot.measure.schedule import Planned, lower_bound_s, read_trace, simulate


def trace(*paths: str, seconds: float = 60) -> list[Planned]:
    return [Planned(n, "a/b", 0.0, seconds, (path,)) for n, path in enumerate(paths, 1)]


def test_disjoint_tickets_run_beside_each_other_and_the_serial_rule_makes_a_queue() -> None:
    planned = trace(*(f"src/{n}" for n in range(50)))
    disjoint, serial = (simulate(planned, slots=8, policy=p) for p in ("disjoint", "serial"))
    assert (disjoint.makespan_s, serial.makespan_s, lower_bound_s(planned, slots=8)) == (420.0, 3000.0, 375.0)


@pytest.mark.parametrize(("policy", "makespan"), [("disjoint", 120.0), ("per-repo", 180.0), ("serial", 180.0)])
def test_each_rule_has_its_makespan(policy: str, makespan: float) -> None:
    assert simulate(trace("a", "b", "a"), slots=4, policy=policy).makespan_s == makespan


def test_a_dependency_is_waited_for() -> None:
    planned = [Planned(1, "a/b", 0.0, 10.0, ("a",), (2,)), Planned(2, "a/b", 5.0, 10.0, ("b",))]
    outcome = simulate(planned, slots=4, policy="disjoint")
    assert (outcome.starts, lower_bound_s(planned, slots=4)) == ({2: 5.0, 1: 15.0}, 25.0)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({}, "t: expected a JSON list of tickets that is not empty, got dict"),
        ([{"id": 1}], "t: [0]: repository: expected text such as 'owner/name', got None"),
        ([{"id": "x", "repository": "a", "seconds": 1}], "t: [0]: id: expected a whole number that is not negative, got 'x'"),
        ([{"id": 1, "repository": "a", "seconds": -1}], "t: [0]: seconds: expected a number of seconds that is not negative, got -1"),
        ([{"id": 1, "repository": "a", "seconds": 1, "path": []}], "t: [0]: path: expected one of id, repository, at_s, paths, depends_on, seconds, got an unknown key"),
        ([{"id": 1, "repository": "a", "seconds": 1}] * 2, "t: id: expected each once, got 1 twice"),
        ([{"id": 1, "repository": "a", "seconds": 1, "depends_on": [9]}], "t: ticket 1: depends_on: expected ids of the trace, got 9"),
        ([{"id": n, "repository": "a", "seconds": 1, "depends_on": [3 - n]} for n in (1, 2)], "t: depends_on: expected no circle, got 1 -> 2 -> 1"),
    ],
)  # fmt: skip
def test_a_trace_that_cannot_be_used_says_why(found: object, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_trace(found, "t")
    assert str(error.value) == said
