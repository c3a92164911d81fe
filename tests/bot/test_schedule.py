"""The simulation: the real admission rules on tickets that only exist on paper."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.commands.schedule import schedule
from bot.errors import ConfigError
from bot.measure.schedule import Planned, costs_s, lower_bound_s, read_trace, simulate
from bot.tickets import hosts, tickets
from bot.tickets.store import open_store, sqlite_url
from bot.tickets.tickets import Wish


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


@pytest.mark.parametrize("policy", ["disjoint", "per-repo", "serial"])
def test_a_dependency_on_another_repository_and_on_one_still_to_come_counts(policy: str) -> None:
    planned = [Planned(1, "a/b", 0.0, 10.0, ("a",), (2,)), Planned(2, "c/d", 5.0, 10.0, ("b",))]
    assert simulate(planned, slots=4, policy=policy).starts == {2: 5.0, 1: 15.0}


def test_what_each_limit_costs_is_the_waiting_that_goes_without_it() -> None:
    chain = [Planned(1, "a/b", 0.0, 60.0, ("a",)), Planned(2, "a/b", 0.0, 60.0, ("b",), (1,))]
    assert costs_s(chain, slots=2) == {"slots": 0.0, "claims": 0.0, "dependencies": 60.0}
    assert costs_s(trace("a", "a"), slots=2) == {"slots": 0.0, "claims": 60.0, "dependencies": 0.0}
    assert costs_s(trace("a", "b"), slots=1) == {"slots": 60.0, "claims": 0.0, "dependencies": 0.0}


TRACE = [{"id": n, "repository": "a/b", "at_s": 0, "paths": [f"src/{n % 2}"], "seconds": 60} for n in (1, 2, 3)]


@pytest.mark.parametrize(
    ("policy", "makespan", "waiting"), [("disjoint", 120, 60), ("per-repo", 180, 180), ("serial", 180, 180)]
)
def test_the_command_prints_the_contract(tmp_path: Path, policy: str, makespan: float, waiting: float) -> None:
    (tmp_path / "t.json").write_text(json.dumps(TRACE))
    done = CliRunner().invoke(
        schedule, ["--trace", str(tmp_path / "t.json"), "--slots", "2", "--policy", policy, "--json"]
    )
    found = json.loads(done.output)
    assert {key: found[key] for key in ("makespan_s", "lower_bound_s", "waiting_s")} == {
        "makespan_s": makespan, "lower_bound_s": 90, "waiting_s": waiting,
    }  # fmt: skip
    assert found["starts"]["1"] == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "expected JSON: Expecting property name"),
        ("[" * 100_000, "expected JSON, got lists or objects nested without end"),
        ("\xff", "expected JSON: "),
        ("[]", "expected a JSON list of tickets that is not empty"),
    ],
)
def test_what_is_no_trace_is_told_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "t.json").write_bytes(text.encode("latin-1"))
    done = CliRunner().invoke(schedule, ["--trace", str(tmp_path / "t.json")])
    assert isinstance(done.exception, ConfigError)
    assert said in str(done.exception)


def test_history_is_what_really_happened_with_what_the_limits_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_DATA", str(tmp_path))
    store = open_store(sqlite_url(tmp_path / "sluice.db"))
    with store.write() as c:
        hosts.beat(c, "h", slots=2)
        for issue, start in ((1, 1000.0), (2, 1100.0)):
            wish = Wish(repository="a/b", issue=issue, title="t", body="", requester="ann", label="bot", trigger_key="bot",
                        claim=("src/",))  # fmt: skip
            made = tickets.create_ticket(c, wish, now=1000.0)
            assert made is not None
            tickets.update_attempt(c, made.id, 1, started_at=start, ended_at=start + 60)
    store.close()
    found = json.loads(CliRunner().invoke(schedule, ["--history", "--json"]).output)
    del found["slot_use"]
    assert found == {
        "policy": "disjoint", "slots": 2, "makespan_s": 120, "lower_bound_s": 60, "waiting_s": 60,
        "starts": {"1": 0, "2": 60}, "really": {"makespan_s": 160, "waiting_s": 100},
        "limits_cost_s": {"slots": 0, "claims": 60, "dependencies": 0},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({}, "t: expected a JSON list of tickets that is not empty, got an object"),
        ([{"id": 1}], "t: [0]: repository: expected text such as 'owner/name', got None"),
        ([{"id": "x", "repository": "a", "seconds": 1}], "t: [0]: id: expected a whole number from 0 to below 1e+12, got 'x'"),
        ([{"id": 1, "repository": "a", "seconds": -1}], "t: [0]: seconds: expected a number of seconds from 0 to below 1e+12, got -1"),
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
