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
