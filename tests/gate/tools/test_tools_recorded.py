"""Tools that pip, npm and apt do not bring: what they wrote elsewhere, with version and source, and how it is read."""

import os
from pathlib import Path

import pytest

from gate import tools
from gate.report import Evidence
from tests.evidence import write_tree

# .NET 6: learn.microsoft.com, "Test a .NET class library using Visual Studio Code"; the skipped one by hand
DOTNET = """  Starting test execution, please wait...
A total of 1 test files matched the specified pattern.

Passed!  - Failed:     0, Passed:     3, Skipped:     1, Total:     4, Duration: 3 ms - StringLibraryTest.dll (net6.0)
Passed!  - Failed:     0, Passed:     2, Skipped:     0, Total:     2, Duration: 3 ms - OtherTest.dll (net6.0)
"""
# the VSTest adapter's own words, microsoft/vstest: Resources.resx, NoTestsAvailableInSources
DOTNET_NONE = (
    "No test is available in /src/bin/Debug/net8.0/A.dll. Make sure that test discoverer & executors are registered "
    "and platform & framework version settings are appropriate and try again.\n"
)
# .NET 9, the terminal logger
DOTNET_9 = "Test summary: total: 6, failed: 0, succeeded: 5, skipped: 1, duration: 1.2s\nBuild succeeded in 3.1s\n"
# Swift 6 on macOS: XCTest counts 6, Swift Testing none
SWIFT = """Test Suite 'TraceRunnerTests' passed at 2026-10-09 13:13:36.673.
\t Executed 4 tests, with 0 failures (0 unexpected) in 0.001 (0.001) seconds
Test Suite 'All tests' passed at 2026-10-09 13:13:36.673.
\t Executed 6 tests, with 1 test skipped and 0 failures (0 unexpected) in 0.003 (0.005) seconds
◇ Test run started.
✔ Test run with 0 tests in 0 suites passed after 0.001 seconds.
"""
SWIFT_NONE = """Test Suite 'All tests' passed at 2025-09-27 09:24:45.856.
\t Executed 0 tests, with 0 failures (0 unexpected) in 0.000 (0.001) seconds
✔ Test run with 0 tests in 0 suites passed after 0.001 seconds.
"""
SWIFT_TESTING = SWIFT_NONE.replace("with 0 tests in 0 suites", "with 7 tests in 2 suites")
# Gradle 8, plain console
GRADLE_NONE = """> Task :compileTestJava NO-SOURCE
> Task :processTestResources NO-SOURCE
> Task :testClasses UP-TO-DATE
> Task :test NO-SOURCE
> Task :check UP-TO-DATE
> Task :build

BUILD SUCCESSFUL in 11s
"""
GRADLE = GRADLE_NONE.replace("Task :test NO-SOURCE", "Task :test")
GRADLE_REPORT = '<testsuite name="A" tests="4" skipped="1" failures="0" errors="0"><testcase name="a"/></testsuite>'
# Nx 23: `nx run-many -t lint` where no project has the target
NX_NONE = "\n NX   No tasks were run\n\n"
# bun 1.3
BUN = "bun test v1.3.13\n\n 34 pass\n 2 skip\n 0 fail\n 134 expect() calls\nRan 36 tests across 4 files. [107.00ms]\n"
BUN_NONE = BUN.replace("34 pass", "0 pass")
# cargo-nextest 0.9
NEXTEST = "────────────\n     Summary [   0.028s] 3 tests run: 3 passed (1 slow), 2 skipped\n"
# gotestsum 1.12, minitest 5 through rails, Pest 3, paratest as PHPUnit
GOTESTSUM = "∅  a\n✓  b (3ms)\n\nDONE 41 tests, 3 skipped in 0.412s\n"
# go 1.19
GO_CACHED = (
    "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \tx\t0.003s\n"
    "=== RUN   TestB\n--- PASS: TestB (0.00s)\nPASS\nok  \tx/y\t(cached)\n"
)
RAILS = "Finished in 0.1s, 30 runs/s.\n3 runs, 5 assertions, 0 failures, 0 errors, 1 skips\n"
PEST = "  Tests:    1 skipped, 3 passed (5 assertions)\n  Duration: 0.12s\n"
# jest under react-scripts, and vitest under turbo, with colours and a label
LABELLED = "web:test: \x1b[2m      Tests \x1b[22m \x1b[1m\x1b[32m9 passed\x1b[39m\x1b[22m\x1b[90m (9)\x1b[39m\n"

DENO = "running 4 tests from ./a_test.ts\na ... ok (1ms)\n\nok | 3 passed (2 steps) | 0 failed | 1 ignored (12ms)\n"
CYPRESS = "    ✔  All specs passed!                        00:05        4        3        -        1        -  \n"
BLACK = "All done! ✨ 🍰 ✨\n3 files would be left unchanged.\n"
BLACK_NONE = "No Python files are present to be formatted. Nothing to do 😴\n"
RUBOCOP = "Inspecting 12 files\n............\n\n12 files inspected, no offenses detected\n"

# Maven 3.8 with surefire 2.22, `mvn test` where the pom says skipTests, and `mvn test-compile`
MAVEN_SKIPPED = "[INFO] --- maven-surefire-plugin:2.22.3:test (default-test) @ x ---\n[INFO] Tests are skipped.\n"
MAVEN_BUILD = (
    "[INFO] Changes detected - recompiling the module!\n[INFO] Compiling 2 source files to /x/target/classes\n"
)

RECORDED = {
    "maven, skipped": ("mvn test", MAVEN_SKIPPED, Evidence("maven surefire", 0, hollow="maven ran no tests")),
    "maven, a build": ("mvn package -DskipTests", MAVEN_BUILD, Evidence("maven", None, 2)),
    "deno": ("deno test", DENO, Evidence("deno test", 3, None, 1, 0)),
    "cypress": ("cypress run", CYPRESS, Evidence("cypress", 3, None, 1, 0)),
    "black": ("black --check .", BLACK, Evidence("black", None, 3)),
    "black, none": ("black --check .", BLACK_NONE, Evidence("black", None, 0, hollow="black looked at no file")),
    "rubocop": ("rubocop", RUBOCOP, Evidence("rubocop", None, 12)),
    "dotnet": ("dotnet test", DOTNET, Evidence("dotnet test", 5, None, 1, 0)),
    "dotnet, none": ("dotnet test", DOTNET_NONE, Evidence("dotnet test", 0, hollow="dotnet test found no tests")),
    "dotnet 9": ("dotnet test --nologo", DOTNET_9, Evidence("dotnet test", 5, None, 1, 0)),
    "swift": ("swift test", SWIFT, Evidence("swift test", 5, None, 1, 0)),
    "swift, none": ("swift test", SWIFT_NONE, Evidence("swift test", 0, None, 0, 0, "swift test executed no test")),
    "swift testing": ("swift test", SWIFT_TESTING, Evidence("swift test", 7, None, 0, 0)),
    "gradle, none": (
        "./gradlew build",
        GRADLE_NONE,
        Evidence("gradle", 0, hollow="gradle executed no test: its test tasks have no sources or were skipped"),
    ),
    "gradle": ("gradle test", GRADLE, Evidence("gradle", 3, None, 1, 0)),
    "nx, none": ("nx run-many -t lint", NX_NONE, Evidence(hollow="nx executed no task: No tasks were run")),
    "bun": ("bun test", BUN, Evidence("bun test", 34, None, 2, 0)),
    "bun, none": ("bun test", BUN_NONE, Evidence("bun test", 0, None, 2, 0, "bun test executed no test: 2 skipped")),
    "nextest": ("cargo nextest run", NEXTEST, Evidence("cargo test", 3, None, 2, 0)),
    "gotestsum": ("gotestsum ./...", GOTESTSUM, Evidence("go test", 38, None, 3, 0)),
    "go, cached": ("go test -v ./...", GO_CACHED, Evidence("go test", 2, None, 0, 0, note="1 of 2 packages cached")),
    "rails": ("bin/rails test", RAILS, Evidence("minitest", 2, None, 1, 0)),
    "pest": ("vendor/bin/pest", PEST, Evidence("phpunit", 3, None, 1, 0)),
    "vitest, labelled": ("vitest run", LABELLED, Evidence("vitest", 9, None, 0, 0)),
}


@pytest.mark.parametrize(("step", "output", "expected"), RECORDED.values(), ids=RECORDED)
def test_recorded_output_is_read(tmp_path: Path, step: str, output: str, expected: Evidence) -> None:
    invocations = tools.recognise(step, tmp_path, root=tmp_path)
    tools.environment(invocations, tmp_path)
    files = {"log": output}
    if step == "gradle test":
        files["build/test-results/test/TEST-A.xml"] = GRADLE_REPORT
    write_tree(tmp_path, files)
    assert tools.read_evidence(invocations, tmp_path / "log", tmp_path, exit_code=0) == expected


def test_a_report_of_an_earlier_run_counts_for_nothing(tmp_path: Path) -> None:
    write_tree(tmp_path, {"build/test-results/test/TEST-A.xml": GRADLE_REPORT, "log": GRADLE})
    os.utime(tmp_path / "build/test-results/test/TEST-A.xml", (0, 0))
    invocations = tools.recognise("gradle test", tmp_path, root=tmp_path)
    tools.environment(invocations, tmp_path)
    found = tools.read_evidence(invocations, tmp_path / "log", tmp_path, exit_code=0)
    assert found == Evidence("gradle")
