"""Reading policies: what is understood, and what is said of what is not."""

import re
from datetime import date

import pytest

from gate.errors import PolicyError
from gate.policy import Policy, Step, Waiver, choose, digest, parse_operator, parse_repository

WHOLE = b"""
[steps.lint]
run = "npm run lint"
[steps.test]
run = "npm test"
kind = "test"
needs = ["lint"]
limit = "10m"
evidence = 3
cwd = "packages/app"
env = { CI = "1" }
shell = "sh -c"
paths = ["src/**"]
[protect]
paths = ["tests/**"]
allow = "label:gate-change"
[[waivers]]
step = "lint"
reason = "moving to another linter"
expires = 2027-01-31
"""


def test_a_whole_policy_is_read() -> None:
    assert parse_repository(WHOLE, "gate.toml") == Policy(
        steps=(
            Step("lint", "npm run lint"),
            Step("test", "npm test", "test", ("lint",), 600.0, 3, "packages/app", {"CI": "1"}, "sh -c", ("src/**",)),
        ),
        protected=("tests/**",),
        allow="label:gate-change",
        waivers=(Waiver("lint", "moving to another linter", date(2027, 1, 31)),),
        source="gate.toml",
        hash=digest(WHOLE),
    )


def test_a_plain_list_of_commands_is_a_policy() -> None:
    assert parse_repository(b'gates = ["npm run lint", "npm test"]', "g").steps == (
        Step("lint", "npm run lint"),
        Step("test", "npm test", needs=("lint",)),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[steps.test]\nrun = ''", "g: steps.test.run: expected text that is not empty, got ''"),
        ("[steps.test]\n", "g: steps.test.run: expected a command, got nothing"),
        (
            "[steps.test]\nrun = 'x'\nlimit = 'soon'",
            "g: steps.test.limit: expected a duration such as '10m', got 'soon'",
        ),
        (
            "[steps.test]\nrun = 'x'\nlimt = '1m'",
            "g: steps.test.limt: expected one of run, kind, needs, limit, evidence, cwd, env, shell, paths, "
            "got an unknown key; did you mean 'limit'?",
        ),
        (
            "[steps.test]\nrun = 'x'\nkind = 'tests'",
            "g: steps.test.kind: expected one of lint, typecheck, build, test, check, got 'tests'; "
            "did you mean 'test'?",
        ),
        ("[steps.a]\nrun = 'x'\nneeds = ['b']", "g: steps.a.needs: expected names of steps, got 'b'"),
        (
            "[steps.a]\nrun = 'x'\nneeds = ['b']\n[steps.b]\nrun = 'x'\nneeds = ['a']",
            "g: steps.a.needs: expected no circle, got a -> b -> a",
        ),
        ("[steps.a]\nrun = 'x'\nevidence = 0", 'g: steps.a.evidence: expected a count of at least 1, or "exit", got 0'),
        ("[steps.a]\nrun = 'x'\ncwd = '../b'", "g: steps.a.cwd: expected a folder inside the repository, got '../b'"),
        ("[steps.a]\nrun='x'\n[steps.a]\nrun='y'", "g: steps.a: expected each name once, got it again in line 3"),
        ("[steps]\na = 'x'\na = 'y'", "g: a: expected each name once, got it again in line 3"),
        ("[a]\n[a]\n", "g: a: expected each name once, got it again in line 2"),
        ("[steps]\na = 3", "g: steps.a: expected a command or a table, got a number"),
        ("[steps.a]\nrun = 'x'\nlimit = inf", "g: steps.a.limit: expected at most 120h, got inf"),
        ("[steps.a]\nrun = 'x'\nlimit = nan", "g: steps.a.limit: expected a duration such as '10m', got nan"),
        ("[steps.a]\nrun = 'x'\nlimit = '121h'", "g: steps.a.limit: expected at most 120h, got '121h'"),
        ("[steps.a]\nrun = 'x'\nenv = {'A=B' = '1'}", "g: steps.a.env: expected names of variables, got 'A=B'"),
        ("[steps.a]\nrun = 'x'\nenv = {A = 1}", "g: steps.a.env.A: expected text, got a number"),
        (
            "[steps.a]\nrun = 'x'\nevidence = 'Exit'",
            "g: steps.a.evidence: expected a count of at least 1, or \"exit\", got 'Exit'; did you mean 'exit'?",
        ),
        ("[protect]\nallow = 'labl:x'", "g: protect.allow: expected 'label:NAME' or 'review', got 'labl:x'"),
        ("#" * 1_000_001, "g: expected at most 1,000,000 bytes, got more"),
        ("a = " + "[" * 100_000, "g: expected TOML: it is nested too deeply"),
        ("steps = 1", "g: steps: expected a table, got a number"),
        ("[steps.a]\nrun = ['x']", "g: steps.a.run: expected text, got a list"),
        ("[[waivers]]\nstep='a'", "g: waivers[0].step: expected the name of a step, got 'a'"),
    ],
)
def test_what_cannot_be_used_is_named_with_file_key_expected_and_got(text: str, said: str) -> None:
    with pytest.raises(PolicyError) as error:
        parse_repository(text.encode(), "g")
    assert str(error.value) == said


@pytest.mark.parametrize("text", ["a = ", "\xff"])
def test_what_is_not_toml_says_so(text: str) -> None:
    with pytest.raises(PolicyError, match=r"^g: expected (TOML|UTF-8)"):
        parse_repository(text.encode("latin-1"), "g")


OPERATOR = b'{"gates": {"acme/App": ["a"], "app": ["b"], "empty": [], "default": ["d"]}}'
OWN = Policy(steps=(Step("own", "own"),), source="gate.toml")


@pytest.mark.parametrize(
    ("name", "own", "commands"),
    [
        pytest.param("Acme/app", OWN, ["a"], id="the full name comes first, whatever its case"),
        pytest.param("other/app", OWN, ["b"], id="then the bare name"),
        pytest.param("acme/else", OWN, ["own"], id="then the repository's own"),
        pytest.param("acme/else", None, ["d"], id="then the default"),
        pytest.param("acme/empty", OWN, [], id="an empty list is ungated, wherever it stands"),
        pytest.param(None, None, ["d"], id="without a name the default is left"),
    ],
)
def test_the_lookup_goes_from_the_nearest_to_the_default(
    name: str | None, own: Policy | None, commands: list[str]
) -> None:
    policy = choose(name, own, parse_operator(OPERATOR, "p.json"), source="p.json")
    assert [s.run for s in policy.steps] == commands


def test_a_repository_named_twice_is_an_error() -> None:
    with pytest.raises(PolicyError, match=r"gates\.ACME/app: expected each repository once"):
        parse_operator(b'[gates]\n"acme/app" = []\n"ACME/app" = ["x"]\n', "p.toml")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"[" * 100_000, "p.json: expected JSON: it is nested too deeply"),
        (b" " * 1_000_001, "p.json: expected at most 1,000,000 bytes, got more"),
        (b"\xff", "p.json: expected UTF-8, got byte 0xff at 0"),
        (b"[]", "p.json: the file: expected a table, got a list"),
        (b'{"defualt": []}', "p.json: defualt: expected one of gates, default, got an unknown key; did you mean 'default'?"),
        (b'{"gates": {"a": [{}]}}', "p.json: gates.a[0]: expected text, got a table"),
        (b'{"gates": {"a": [], "a": []}}', "p.json: a: expected each key once, got it twice"),
    ],
)  # fmt: skip
def test_an_operators_file_that_cannot_be_used_says_why(data: bytes, said: str) -> None:
    with pytest.raises(PolicyError) as error:
        parse_operator(data, "p.json")
    assert str(error.value) == said


def test_an_error_is_one_line_that_no_runner_obeys_whatever_it_quotes() -> None:
    with pytest.raises(PolicyError) as error:
        parse_repository(b'"a\\n::error::\\u001b##[error]b" = 1', "g")
    assert str(error.value) == (
        "g: a\\n::error::\\x1b#\u200b#[error]b: expected one of steps, protect, waivers, notes, gates, got an unknown key"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "waivers[0]: expected either `step` or `rule`, got neither"),
        ('step = "a"\nrule = "b"', "waivers[0]: expected either `step` or `rule`, got both"),
        ('step = "a"\npath = "x"', "waivers[0].path: expected it beside `rule` only"),
    ],
)
def test_a_waiver_excuses_either_a_step_or_a_rule(given: str, said: str) -> None:
    text = f'[steps]\na = "true"\n[[waivers]]\n{given}\nreason = "r"\nexpires = 2026-01-01\n'
    with pytest.raises(PolicyError, match=re.escape(f"gate.toml: {said}")):
        parse_repository(text.encode(), "gate.toml")
