"""Reports in every format: readable, within the platforms' limits, and taken by real readers of each."""

import json
from pathlib import Path

import jsonschema_rs
import junitparser
import pytest

from gate.render import FORMATS, render
from gate.render.github import unspoken
from gate.report import Evidence, Finding, Level, PolicyStamp, Report, StepOutcome, StepReport, Verdict, read_report

PUBLISHED = (Path(__file__).parents[1] / "data" / "sarif" / "sarif-2.1.0.json").read_text()
SCHEMA = json.loads(PUBLISHED.replace("{2}]?$", "{2}\\\\]?$"))  # a bracket that only lenient readers take for itself
PASSED = StepReport(
    "test", "test", "pytest", StepOutcome.PASSED, 0, 1.25, Evidence("pytest", 41, None, 2), "41 passed\n"
)
FAILED = StepReport(
    "lint|x", "lint", "ruff <check>", StepOutcome.FAILED, 1, 0.5, Evidence("ruff", None, 3),
    "src/a.py:7:1: E999 bad & <worse> @someone\n::error::planted\n\x1b[31m##[error]planted\x1b[0m\0\udcff\n", "exit code 1",
)  # fmt: skip
UNRUN = StepReport("late", "check", "true", StepOutcome.NOT_RUN, reason="it needs lint|x, which did not pass")
HOLLOW = StepReport("e2e", "test", "playwright test", StepOutcome.HOLLOW, 0, 1.0, reason="no test was executed")
FINDING = Finding(
    "step-removed", Level.ERROR, "step a was there,\nnow it is not", "a b/\udcff.toml", 3, fix="put it back"
)
RED = Report(
    Verdict.RED, "lint|x failed: exit code 1; 3 steps, 2 ran", "acme/app", "b" * 40, "h" * 40,
    PolicyStamp("gate.toml@" + "b" * 40, "sha256:0"), (PASSED, FAILED, UNRUN), (FINDING,), 2.0,
)  # fmt: skip
WAIVED = Report(
    Verdict.GREEN, "2 steps, 2 ran", steps=(PASSED, HOLLOW), findings=(Finding("waiver", Level.NOTE, "e2e"),)
)
BAD = [
    Report(Verdict.UNGATED, "no step is configured"), Report(Verdict.ERROR, "gate.toml: expected TOML"),
    Report(Verdict.HOLLOW, "no step showed what it verified", steps=(PASSED,)),
    Report(Verdict.TAMPERED, "weakened", steps=(PASSED,), findings=(FINDING,)), RED,
]  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").touch()
    return tmp_path


TEXT = """\
✓ test    passed        1.25 s  41 tests, 2 skipped
✗ lint|x  failed        0.50 s  3 files, exit code 1
– late    not_run       0.00 s  it needs lint|x, which did not pass

── lint|x: ruff <check>
"""
END = """
error step-removed: a b/\udcff.toml:3: step a was there,\\nnow it is not
  mend: put it back

RED  lint|x failed: exit code 1; 3 steps, 2 ran
policy: gate.toml@bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
"""


def test_the_text_is_a_table_then_what_went_wrong_then_the_verdict(root: Path) -> None:
    text = render(RED, "text", root=root)
    assert (text[: len(TEXT)], text[-len(END) :]) == (TEXT, END)


def test_annotations_name_files_and_lines_the_worst_first(root: Path) -> None:
    lines = render(RED, "github", root=root).splitlines()
    assert lines[:3] == [
        "::error title=Gate%3A RED::lint|x failed: exit code 1; 3 steps, 2 ran",
        "::error file=a b/\udcff.toml,line=3,title=step-removed::step a was there,\\nnow it is not",
        "::error file=src/a.py,line=7,title=lint|x::E999 bad & <worse> @someone",
    ]
    assert [line for line in lines[3:] if line.lstrip().startswith("::") or "##[" in line] == []


def test_annotations_stay_within_ten_errors_and_ten_warnings_and_every_step_has_its_first(root: Path) -> None:
    many = "".join(f"src/a.py:{n}: {'warning: w' if n % 2 else 'e'}\n" for n in range(1, 60))
    steps = tuple(FAILED._replace(name=f"s{n}", log=many) for n in range(4))
    lines = render(RED._replace(steps=steps, findings=()), "github", root=root).splitlines()
    errors = [line for line in lines if line.startswith("::error ")]
    warnings = [line for line in lines if line.startswith("::warning ")]
    titles = [line.split("title=")[1].split(":")[0] for line in errors]
    assert (len(errors), len(warnings), titles[1:5]) == (10, 10, ["s0", "s1", "s2", "s3"])


@pytest.mark.parametrize(("form", "limit"), [("markdown", 1024 * 1024), ("comment", 65_536)])
def test_markdown_stays_within_the_platforms_limit_and_says_what_was_cut(root: Path, form: str, limit: int) -> None:
    steps = tuple(FAILED._replace(name=f"s{n}", log="`ü" * 8000) for n in range(100))
    text = render(RED._replace(steps=steps), form, root=root)
    assert (
        len(text.encode()) <= limit,
        text.count("<details>") == text.count("</details>"),
        text.rstrip().endswith("length limit"),
    ) == (True, True, True)


def test_markdown_of_a_table_that_is_too_long_ends_with_a_whole_line(root: Path) -> None:
    findings = tuple(FINDING._replace(message=f"{n} " + "x" * 500) for n in range(400))
    text = render(RED._replace(findings=findings), "comment", root=root)
    assert (len(text.encode()) <= 65_536, text.splitlines()[-3][-5:], text.splitlines()[-1]) == (
        True, "xxxxx", "… cut at the platform's length limit",
    )  # fmt: skip


def test_markdown_keeps_hostile_names_inside_their_cells(root: Path) -> None:
    text = render(RED, "markdown", root=root)
    row = next(line for line in text.splitlines() if line.startswith("| lint"))
    assert (row, "\x1b" in text) == ("| lint\\|x | ✗ failed | 3 files, exit code 1 | 0.5 |", False)


@pytest.mark.parametrize("report", [*BAD, WAIVED], ids=lambda r: r.verdict)
def test_sarif_validates_against_the_published_schema_and_shows_every_bad_verdict(root: Path, report: Report) -> None:
    text = render(report, "sarif", root=root)
    found = json.loads(text)
    jsonschema_rs.validate(SCHEMA, found, validate_formats=True)
    wrong = [r["ruleId"] for r in found["runs"][0]["results"] if r["level"] == "error"]
    assert (wrong[:1], text == unspoken(text, "sarif") or json.loads(unspoken(text, "sarif")) == found) == (
        [] if report is WAIVED else [f"verdict-{report.verdict.lower()}"], True,
    )  # fmt: skip


def test_sarif_names_the_places_that_tools_named(root: Path) -> None:
    results = json.loads(render(RED, "sarif", root=root))["runs"][0]["results"]
    places = [
        (r["ruleId"], p["artifactLocation"]["uri"], p.get("region", {}).get("startLine"))
        for r in results for p in [r["locations"][0]["physicalLocation"]]
    ]  # fmt: skip
    assert places == [
        ("verdict-red", "gate.toml", None), ("step-removed", "a%20b/%FF.toml", 3), ("step-failed", "gate.toml", None),
        ("step-lint|x", "src/a.py", 7),
    ]  # fmt: skip


@pytest.mark.parametrize("report", [*BAD, WAIVED], ids=lambda r: r.verdict)
def test_a_reader_of_junit_sees_every_bad_verdict(root: Path, report: Report) -> None:
    text = unspoken(render(report, "junit", root=root), "junit")
    read = junitparser.JUnitXml.fromstring(text.encode())
    (suite,) = read
    counts = suite.tests, suite.failures, suite.skipped
    suite.update_statistics()
    cases = [case for case in suite if any(isinstance(r, junitparser.Failure) for r in case.result)]
    assert (counts, bool(cases), [line for line in text.splitlines() if line.lstrip().startswith("::")]) == (
        (suite.tests, suite.failures, suite.skipped), report is not WAIVED, [],
    )  # fmt: skip


def test_a_report_in_json_reads_back_as_it_was(root: Path) -> None:
    text = render(RED, "json", root=root)
    written = text.encode("utf-8", "backslashreplace")
    assert (read_report(written), json.loads(unspoken(text, "json"))) == (RED, json.loads(text))


@pytest.mark.parametrize("form", FORMATS)
def test_an_empty_report_can_be_written_in_every_format(root: Path, form: str) -> None:
    assert render(Report(Verdict.ERROR, "why"), form, root=root).endswith("\n")
