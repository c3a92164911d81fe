"""What holds for every tool of the family, and for a step as a whole."""

import ast
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate import tools
from gate.report import Evidence
from gate.tools.tool import Counts, Invocation, Ran, Tool, clean, load_output, unweave
from tests.evidence import write_tree

# one command for each member of the family
COMMANDS = {
    "pytest": "python -m pytest -q",
    "unittest": "python -m unittest",
    "vitest": "vitest run",
    "jest": "react-scripts test",
    "mocha": "mocha",
    "node --test": "node --test",
    "playwright": "npx playwright test",
    "bun test": "bun test",
    "go test": "go test ./...",
    "cargo test": "cargo +nightly test",
    "maven surefire": "./mvnw -B verify",
    "gradle": "./gradlew :app:testDebugUnitTest",
    "dotnet test": "dotnet test",
    "swift test": "swift test",
    "ctest": "ctest --test-dir build",
    "rspec": "bundle exec rspec",
    "minitest": "bin/rails test",
    "phpunit": "vendor/bin/phpunit",
    "next build": "next build",
    "vite build": "vite build --mode x",
    "tsc": "tsc --noEmit",
    "mypy": "uv run mypy .",
    "pyright": "pyright",
    "eslint": "npx eslint .",
    "biome": "biome ci .",
    "ruff": "uvx ruff check",
    "go vet": "go vet ./...",
    "cargo clippy": "cargo clippy --all",
    "pre-commit": "pre-commit run -a",
    "prove": "prove -lr t",
    "maven": "mvn package -DskipTests",
    "gradle build": "./gradlew build -x test",
    "echo": "echo 3",
    "deno test": "deno test -A",
    "cypress": "npx cypress run",
    "diff-cover": "diff-cover coverage.xml --compare-branch=main",
    "go build": "go build ./...",
    "cargo build": "cargo build --release",
    "golangci-lint": "golangci-lint run",
    "black": "black --check .",
    "rubocop": "bundle exec rubocop",
    "gate notes": "python3 -m gate notes vault",
    "make": "make",
    "npm": "npm test",
    "turbo": "turbo run test",
}
SHAPES = "(0123456789 )(passed|failed|skipped|tests?|Tests:|ok|FAIL|Ran|total|\n|\t|=|:|in|s|,)"


@pytest.mark.parametrize("tool", tools.all_tools(), ids=lambda tool: tool.NAME)
def test_a_tool_is_recognised_by_its_command(tool: Tool, tmp_path: Path) -> None:
    assert [i.tool for i in tools.recognise(COMMANDS[tool.NAME], tmp_path, root=tmp_path)] == [tool]


@pytest.mark.parametrize("module", tools.TOOLS)
def test_every_program_that_a_tool_knows_stands_in_the_list(module: str) -> None:
    tool = tools.load(module)
    assert tool.__file__ is not None
    source = ast.parse(Path(tool.__file__).read_text())
    words = {node.value for node in ast.walk(source) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    lines = [(word, *more) for word in words for more in ((), ("test",), ("run", "-1"), ("build",), ("check",))]
    known = {line[0] for line in lines if tool.matches(line)}
    assert known <= set(tools.TOOLS[module].split())


@pytest.mark.parametrize("tool", tools.all_tools(), ids=lambda tool: tool.NAME)
def test_a_tool_leaves_other_commands_alone(tool: Tool) -> None:
    others = ["echo", "true", "git", "docker", "curl", tool.NAME + "x"]
    assert [name for name in others if tool.matches((name, "test"))] == []


@pytest.mark.parametrize("tool", tools.all_tools(), ids=lambda tool: tool.NAME)
def test_a_tool_that_wrote_nothing_claims_nothing(tool: Tool, tmp_path: Path) -> None:
    ran = Ran((Invocation(tool, (tool.NAME,), tmp_path),), "", tmp_path, exit_code=1)
    assert tool.read(ran) == Counts()


@pytest.mark.parametrize("tool", tools.all_tools(), ids=lambda tool: tool.NAME)
@given(output=st.lists(st.sampled_from(SHAPES.strip("()").split("|")), max_size=30).map(" ".join))
def test_a_tool_reads_any_output(tool: Tool, output: str) -> None:
    here = Path("/nonexistent")
    counts = tool.read(Ran((Invocation(tool, (tool.NAME,), here),), output, here, exit_code=1))
    assert all(n is None or n >= 0 for n in (counts.tests, counts.files, counts.skipped, counts.failed))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ruff check", "lint"),
        ("ruff check && mypy .", "typecheck"),
        ("tsc && vite build", "build"),
        ("eslint . && tsc && vitest run", "test"),
        ("make", "check"),
        ("echo", "check"),
    ],
)
def test_a_step_is_of_the_strongest_kind_that_it_runs(command: str, expected: str, tmp_path: Path) -> None:
    assert tools.kind(tools.recognise(command, tmp_path, root=tmp_path)) == expected


def read(step: str, output: str, folder: Path, *, exit_code: int = 0) -> Evidence:
    write_tree(folder, {"log": output})
    invocations = tools.recognise(step, folder, root=folder)
    return tools.read_evidence(invocations, folder / "log", folder, exit_code=exit_code)


STEPS = {
    "two tools": ("mypy . && pytest", "Success: no issues found in 3 source files\n=== 2 passed in 0.1s ===\n"),
    "tests none, types some": ("mypy . && pytest", "Success: no issues found in 3 source files\n"),
    "tests some, types none": ("mypy . && pytest", "Nothing to do?!\n=== 2 passed in 0.1s ===\n"),
    "one of two runners without tests": (
        "vitest run; pytest",
        "No test files found, exiting with code 0\n2 passed in 1s\n",
    ),
    "a failure that is swallowed": ("pytest || true", "==== 1 failed, 2 passed in 0.1s ====\n"),
    "type errors that are swallowed": ("tsc; true", "a.ts(1,14): error TS2322: no\nerror TS2318: no\n"),
    "lint errors that are swallowed": ("biome lint . || true", "Checked 3 files in 5ms.\nFound 2 errors.\n"),
    "more type errors that are swallowed": ("pyright || true", "2 errors, 1 warning, 0 informations\n"),
    "a check that runs twice": ("mypy . || mypy .", "Found 1 error in 1 file (checked 2 source files)\n"),
    "a crate that is broken": ("cargo clippy || true", "error: could not compile `x` (lib) due to 1 previous error\n"),
    "a closing line of the step's own": ("vitest run -t x; echo ' Tests  5 passed (5)'", "      Tests  5 passed (5)\n"),
    "printed beside work": ("echo 1 of 2; pytest", "1 of 2\n==== 2 passed in 0.1s ====\n"),
    "make beside work": ("make x; pytest", "make: 'x' is up to date.\n==== 2 passed in 0.1s ====\n"),
}
READ = {
    "two tools": Evidence("pytest, mypy", 2, 3, 0, 0),
    "tests none, types some": Evidence("pytest, mypy", None, 3),
    "tests some, types none": Evidence("pytest, mypy", 2, 0, 0, 0, "mypy found no file to check"),
    "one of two runners without tests": Evidence("pytest, vitest", 2, None, 0, 0),
    "a failure that is swallowed": Evidence("pytest", 3, None, 0, 1),
    "type errors that are swallowed": Evidence("tsc", failed=2),
    "lint errors that are swallowed": Evidence("biome", None, 3, failed=2),
    "more type errors that are swallowed": Evidence("pyright", failed=2),
    "a check that runs twice": Evidence("mypy", None, 2, failed=1),
    "a crate that is broken": Evidence("cargo clippy", failed=1),
    "a closing line of the step's own": Evidence(
        "vitest", 5, None, 0, 0, "the step itself prints what vitest would say of its work"
    ),
    "printed beside work": Evidence("pytest", 2, None, 0, 0),
    "make beside work": Evidence("pytest", 2, None, 0, 0),
}


@pytest.mark.parametrize("name", STEPS)
def test_what_several_tools_did_is_added_up(name: str, tmp_path: Path) -> None:
    assert read(*STEPS[name], tmp_path) == READ[name]


def test_the_last_closing_lines_count(tmp_path: Path) -> None:
    lies = "==== 41 passed in 0.01s ====\n" * 3
    found = read("pytest a; pytest b", lies + "=== 1 passed in 0.1s ===\n==== 2 passed in 0.1s ====\n", tmp_path)
    assert found.tests == 3


@pytest.mark.parametrize(
    ("line", "tests"),
    [
        (
            "\x1b[32m===== \x1b[32m\x1b[1m5 passed\x1b[0m, \x1b[33m1 skipped\x1b[0m\x1b[32m in 0.01s\x1b[0m =====\x1b[0m",
            5,
        ),
        ("= 5 passed in 0.01s =", 5),
        ("5 passed, 2 warnings in 61.20s (0:01:01)", 5),
        ("Results (0.03s):\n       4 passed\n       1 failed\n", 5),
        ("\r5 passed in 0.01s\r\n", 5),
        ("packages/api test: ===== 5 passed in 0.01s =====", 5),
        ("=== 3 failed, 2 passed, 1 rerun in 3.1s ===", 5),
        ("=== 4 passed, 1 error in 3.1s ===", 5),
        ("we saw 5 passed in 0.01s", None),
        ("5 passed", None),
    ],
)
def test_a_closing_line_is_read_in_many_dresses(line: str, tests: int | None, tmp_path: Path) -> None:
    assert read("pytest", line + "\n", tmp_path).tests == tests


def test_a_huge_log_is_read_at_both_ends(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as file:
        file.write(b"first\n")
        file.truncate(1 << 30)
        file.seek(0, 2)
        file.write(b"\nlast\n")
    text = load_output(log)
    assert (text[:5], text[-5:-1], len(text) < 6 << 20) == ("first", "last", True)


def test_bytes_of_any_kind_become_text() -> None:
    assert clean("a\x1b]0;title\x07b\x1b[1;31mc\x1b[0m\rd\r\n") == "abc\nd\n"


def test_lines_of_packages_side_by_side_are_put_together() -> None:
    assert unweave("x\na test: 1\nb test: 1\na test: 2\n[b] 2") == "x\na test: 1\na test: 2\nb test: 1\n[b] 2"


def test_the_page_on_evidence_names_every_tool() -> None:
    page = (Path(__file__).parents[3] / "docs" / "evidence.md").read_text()
    named = {
        name.strip()
        for row in page.splitlines()
        if row.startswith("| ") and not row.startswith("| tool ")
        for name in row.split("|")[1].split(",")
    }
    assert named == {tool.NAME for tool in tools.all_tools()}


def test_what_lies_where_a_report_should_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pytest.xml")
    os.mkfifo(tmp_path / "o.json")
    assert read("pytest; vitest run --outputFile=o.json", "== 2 passed in 0.1s ==\n", tmp_path).tests == 2


def test_output_inside_a_report_is_not_taken_for_one(tmp_path: Path) -> None:
    report = '<testsuites><testsuite tests="2" skipped="1"><system-out><![CDATA[<testsuite tests="41">]]></system-out>'
    write_tree(tmp_path, {"pytest.xml": report})
    assert read("pytest", "", tmp_path) == Evidence("pytest", 1, None, 1, 0)
