"""Rules about CMake, Bazel, .NET and Swift: each with its near miss."""

from pathlib import Path

import pytest

from tests.gate.rules.samples import policy, seen

NONE = "error gate.toml:2 test: ctest finds no test and exits 0: "


@pytest.mark.parametrize(
    ("command", "files", "expected"),
    [
        ("cmake -B build && ctest --test-dir build", {"CMakeLists.txt": "project(x)\nadd_test(NAME a COMMAND a)\n"}, [f"{NONE}no enable_testing() in CMakeLists.txt: nothing calls it"]),
        ("cmake -B build && (cd build; ctest)", {"CMakeLists.txt": "project(x)\nadd_subdirectory(t)\n", "t/CMakeLists.txt": "enable_testing()\nadd_test(a a)\n"},
         [f"{NONE}no enable_testing() in CMakeLists.txt: only t/CMakeLists.txt calls it"]),
        ("ctest", {"CMakeLists.txt": "enable_testing()\n# add_test(a a)\n"}, [f"{NONE}no add_test in any file of CMake"]),
        ("ctest", {"CMakeLists.txt": "ENABLE_TESTING ()\nADD_TEST(a a)\n"}, []),
        ("ctest", {"CMakeLists.txt": "include(CTest)\nadd_subdirectory(t)\n", "t/CMakeLists.txt": "gtest_discover_tests(a)\n"}, []),
        ("ctest", {"CMakeLists.txt": "include(cmake/all.cmake)\nmy_tests()\n", "cmake/all.cmake": "enable_testing()\n"}, []),
        ("ctest --no-tests=error", {"CMakeLists.txt": "add_test(a a)\n"}, []),
        ("ctest --test-dir build/t", {"CMakeLists.txt": "add_test(a a)\n"}, []),
        ("cmake --build build", {"CMakeLists.txt": "add_test(a a)\n"}, []),
        ("ctest", {"a.txt": ""}, []),
    ],
    ids=["not enabled", "enabled below", "no test", "both", "by CTest", "by an own file", "no tests are an error", "below", "no ctest", "no CMake"],
)  # fmt: skip
def test_runs_of_ctest_that_find_nothing_are_named(
    tmp_path: Path, command: str, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("ctest_without_tests", tmp_path, {**files, "gate.toml": policy(test=command)}) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("a PROPERTIES\n  WILL_FAIL TRUE", ["warning CMakeLists.txt:2 test: a test is turned around with WILL_FAIL: any failure passes, a crash too [CMakeLists.txt]"]),
        ("a PROPERTIES WILL_FAIL FALSE", []),
        ('a PROPERTIES WILL_FAIL TRUE PASS_REGULAR_EXPRESSION "no such file"', []),
    ],
    ids=["on", "off", "compared"],
)  # fmt: skip
def test_tests_that_have_to_fail_are_named(tmp_path: Path, words: str, expected: list[str]) -> None:
    files = {"CMakeLists.txt": f"# WILL_FAIL TRUE\nset_tests_properties({words})\n", "gate.toml": policy(test="ctest")}
    assert seen("will_fail", tmp_path, files) == expected


BUILD = 'sh_test(\n    name = "a",\n    tags = ["system", "large"],\n)\n\nsh_test(\n    name = "b",\n    tags = ["manual"],\n)\n'
LOST = "warning .bazelrc:1 test: `--test_tag_filters=-slow` is replaced by that of .bazelrc:2: -slow is lost"
LEFT_OUT = "warning .bazelrc:1 test: no run of Bazel takes the 1 test with the tag 'system' [t/BUILD]"


@pytest.mark.parametrize(
    ("command", "rc", "expected"),
    [
        ("bazel test //...", "test --test_tag_filters=-slow\ntest --test_tag_filters=-flaky\n", [LOST]),
        ("bazel test //...", "test --test_tag_filters=-system\n", [LEFT_OUT]),
        ("bazel test //... --config=ci", "test:ci --test_tag_filters=-system\n", [LEFT_OUT.replace(".bazelrc:1", "gate.toml:2")]),
        ("bazel test //... --test_tag_filters=unit", "", [LEFT_OUT.replace(".bazelrc:1", "gate.toml:2").replace("system", "large, system")]),
        ("bazel test //...", "test --test_tag_filters=-system\ntest --test_tag_filters=-system,-slow\n", [LEFT_OUT.replace(":1", ":2")]),
        ("bazel test //... && bazel test //... --test_tag_filters=system", "test --test_tag_filters=-system\n", []),
        ("bazel test //... && bazel test //t:a --test_tag_filters=", "test --test_tag_filters=-system\n", []),
        ("bazel test //...", "test:ci --test_tag_filters=-system\n# test --test_tag_filters=-system\n", []),
        ("bazel test //...", "", []),
        ("bazel build //...", "test --test_tag_filters=-system\n", []),
        ("bazel test $FLAGS //...", "test --test_tag_filters=-system\n", []),
    ],
    ids=["a filter lost", "left out", "by a configuration", "by what is wanted", "said again", "a step of its own", "by name", "another configuration", "no filter", "no tests run", "a variable"],
)  # fmt: skip
def test_tests_that_filters_of_bazel_leave_out_are_named(
    tmp_path: Path, command: str, rc: str, expected: list[str]
) -> None:
    files = {".bazelrc": rc, "t/BUILD": BUILD, "gate.toml": policy(test=command)}
    assert seen("tag_filter_excludes", tmp_path, files) == expected


TESTED = '<Project Sdk="Microsoft.NET.Sdk"><PackageReference Include="Microsoft.NET.Test.Sdk" /></Project>\n'
DOTNET = {
    "App.sln": 'Project("{F}") = "A", "a\\A.Tests.csproj", "{1}"\nEndProject\n', "a/A.Tests.csproj": TESTED, "b/B.Tests.csproj": TESTED,
    "c/C.csproj": "<Project />\n",
}  # fmt: skip
NOT_HELD = "error gate.toml:2 test: tests of B.Tests never run: App.sln does not hold the project [b/B.Tests.csproj]"


@pytest.mark.parametrize(
    ("command", "files", "expected"),
    [
        ("dotnet test", {}, [NOT_HELD]),
        ("dotnet test -c Release --no-build App.sln", {}, [NOT_HELD]),
        ("dotnet test", {"App.sln": "", "App.slnf": '{"solution": {"path": "App.sln", "projects": ["a\\\\A.Tests.csproj"]}}'}, []),
        ("dotnet test App.slnf", {"App.slnf": '{"solution": {"path": "App.sln", "projects": ["a\\\\A.Tests.csproj"]}}'}, [NOT_HELD.replace(".sln", ".slnf")]),
        ("dotnet test App.slnx", {"App.slnx": '<Solution><Project Path="a/A.Tests.csproj" /></Solution>'}, [NOT_HELD.replace(".sln", ".slnx")]),
        ("dotnet test && dotnet test b", {}, []),
        ("dotnet test && dotnet test b/B.Tests.csproj", {}, []),
        ("dotnet test && dotnet run --project build", {}, []),
        ("dotnet test $TARGET", {}, []),
        ("dotnet build", {}, []),
        ("dotnet test", {"b/B.Tests.csproj": "<Project />"}, []),
    ],
    ids=["not in the solution", "named", "two solutions", "a filter", "an slnx", "its folder", "its project", "a build of its own", "a variable", "no tests run", "no tests"],
)  # fmt: skip
def test_projects_of_tests_that_no_solution_holds_are_named(
    tmp_path: Path, command: str, files: dict[str, str], expected: list[str]
) -> None:
    own = {**DOTNET, **files, "gate.toml": policy(test=command)}
    assert seen("workspace_member_not_gated_dotnet", tmp_path, own) == expected


@pytest.mark.parametrize(
    ("command", "files", "expected"),
    [
        ("dotnet test --filter Category=Fast", {}, ["warning gate.toml:2 test: `dotnet --filter` succeeds when no test fits"]),
        ("dotnet test", {}, ["note gate.toml:2 test: `dotnet test` succeeds where an assembly holds no test"]),
        ("rspec --tag fast", {}, ["warning gate.toml:2 test: `rspec --tag` succeeds when no test fits"]),
        ("ctest -R fast", {}, ["warning gate.toml:2 test: `ctest -R` succeeds when no test fits"]),
        ("dotnet test --filter A", {"a.runsettings": "<TreatNoTestsAsError>true</TreatNoTestsAsError>"}, []),
        ("dotnet test --filter A", {"Directory.Build.props": "<EnableMSTestRunner/><UseMicrosoftTestingPlatformRunner>true"}, []),
        ("dotnet test --filter A -- RunConfiguration.TreatNoTestsAsError=true", {}, []),
        ("rspec --tag ~slow && rspec", {}, []),
        ("rspec --tag fast", {"spec/spec_helper.rb": "RSpec.configure { |c| c.fail_if_no_examples = true }"}, []),
        ("ctest -R fast --no-tests=error", {}, []),
        ("dotnet build", {}, []),
    ],
    ids=["dotnet", "dotnet without one", "rspec", "ctest", "a setting", "another platform", "on the command line", "what is left out", "RSpec's setting", "CTest's option", "no tests run"],
)  # fmt: skip
def test_choices_that_may_fit_nothing_are_named(
    tmp_path: Path, command: str, files: dict[str, str], expected: list[str]
) -> None:
    own = {"a/A.csproj": TESTED, **files, "gate.toml": policy(test=command)}
    assert seen("empty_selection_passes", tmp_path, own) == expected


@pytest.mark.parametrize(
    ("package", "expected"),
    [
        ('.testTarget(name: "ATests")', ["error gate.toml:2 test: tests that never run: no target of Package.swift holds BTests [Tests/BTests/B.swift]"]),
        ('.testTarget(name: "ATests"), .testTarget(name: "BTests")', []),
        ('.testTarget(name: "All", path: "Tests")', []),
        ('targets.map { .testTarget(name: "\\($0)Tests") }', []),
    ],
    ids=["not declared", "declared", "a path above", "computed"],
)  # fmt: skip
def test_folders_of_swift_tests_without_a_target_are_named(tmp_path: Path, package: str, expected: list[str]) -> None:
    test = "final class T: XCTestCase {}\n"
    files = {
        "Package.swift": package,
        "Tests/ATests/A.swift": test,
        "Tests/BTests/B.swift": test,
        "Tests/Help/H.swift": "",
    }
    assert seen("test_glob_misses_swift", tmp_path, {**files, "gate.toml": policy(test="swift test")}) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cargo nextest run --no-tests=pass", ["error gate.toml:2 test: cargo succeeds without any test (--no-tests=pass)"]),
        ("ctest --no-tests=ignore", ["error gate.toml:2 test: ctest succeeds without any test (--no-tests=ignore)"]),
        ("phpunit --do-not-fail-on-empty-test-suite", ["error gate.toml:2 test: phpunit succeeds without any test (--do-not-fail-on-empty-test-suite)",
                                                      "warning phpunit.xml:1 PHPUnit is configured to succeed without any test"]),
        ("bats --allow-empty-suite t", ["error gate.toml:2 test: bats succeeds without any test (--allow-empty-suite)"]),
        ("cargo nextest run --no-tests=fail; ctest --no-tests=error; echo --no-tests=ignore", []),
    ],
)  # fmt: skip
def test_runners_of_other_languages_that_succeed_without_tests_are_named(
    tmp_path: Path, command: str, expected: list[str]
) -> None:
    config = '<phpunit failOnEmptyTestSuite="false"><testsuites><testsuite><directory>t</directory></testsuite></testsuites></phpunit>'
    assert (
        seen("pass_with_no_tests_others", tmp_path, {"phpunit.xml": config, "gate.toml": policy(test=command)})
        == expected
    )
