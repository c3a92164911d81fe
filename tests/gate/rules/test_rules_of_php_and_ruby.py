"""Rules about PHPUnit's suites and about what RSpec and Rails load: each with its near miss."""

from pathlib import Path

import pytest

from tests.gate.rules.samples import policy, seen, workflow

TEST = "<?php\nuse PHPUnit\\Framework\\TestCase;\n\nfinal class ATest extends TestCase\n{\n    public function testA(): void {}\n}\n"


def suites(**folders: str) -> str:
    """Return a configuration with these suites, each of what stands in it."""
    return "<phpunit><testsuites>" + "".join(f'<testsuite name="{n}">{f}</testsuite>' for n, f in folders.items()) + "</testsuites></phpunit>"  # fmt: skip


PHP = {"phpunit.xml.dist": suites(unit="<directory>tests</directory>"), "tests/ATest.php": TEST}
NAMES = "test: tests that never run: their names do not end as the suite asks"
NO_SUITE = "test: tests that never run: no suite takes them"
NOT_RUN = "test: tests that never run: no command runs their suite"


@pytest.mark.parametrize(
    ("command", "files", "expected"),
    [
        ("vendor/bin/phpunit", {"tests/AT.php": TEST}, [f"error phpunit.xml.dist:1 {NAMES} [tests/AT.php]"]),
        ("vendor/bin/phpunit", {"phpunit.xml.dist": suites(unit="<directory>tests/unit</directory>")}, [f"error phpunit.xml.dist:1 {NO_SUITE} [tests/ATest.php]"]),
        ("phpunit --testsuite unit", {"phpunit.xml.dist": suites(unit="<directory>tests/unit</directory>", more="<directory>./tests</directory>")}, [f"warning phpunit.xml.dist:1 {NOT_RUN} [tests/ATest.php]"]),
        ("phpunit --testsuite=unit", {"phpunit.xml.dist": suites(unit="<file>tests/u.php</file>", more="<directory>tests</directory>"), ".github/workflows/a.yml": workflow("phpunit")}, [f"note phpunit.xml.dist:1 {NOT_RUN} [tests/ATest.php]"]),
        ("phpunit", {}, []),
        ("phpunit", {"phpunit.xml.dist": suites(unit='<directory suffix=".php">tests</directory>'), "tests/AT.php": TEST}, []),
        ("phpunit", {"phpunit.xml.dist": suites(unit="<file>tests/ATest.php</file>")}, []),
        ("phpunit", {"phpunit.xml.dist": suites(unit="<directory>tests</directory><exclude>tests/old</exclude>"), "tests/old/AT.php": TEST}, []),
        ("phpunit", {"phpunit.xml.dist": suites(unit="<directory>t*</directory>")}, []),
        ("phpunit", {"tests/Base.php": TEST.replace("final", "abstract")}, []),
        ("phpunit", {"tests/fixtures/AT.php": TEST, "tests/AT.php": "<?php\nclass Helper {}\n"}, []),
        ("phpunit", {"pkg/phpunit.xml": suites(all="<directory>x</directory>"), "pkg/tests/AT.php": TEST}, []),
        ("phpunit tests/AT.php", {"tests/AT.php": TEST}, []),
        ("phpunit $ARGS", {"tests/AT.php": TEST}, []),
        ("phpstan", {"tests/AT.php": TEST}, []),
        ("phpunit", {"phpunit.xml.dist": "<php"}, []),
    ],
    ids=[
        "another name", "no suite", "a suite that nothing runs", "a workflow beside the policy", "plain", "a suffix of its own", "a file", "excluded", "a pattern", "a base class",
        "fixtures", "another package", "named by hand", "a variable", "no tests run", "odd",
    ],
)  # fmt: skip
def test_tests_that_no_suite_of_phpunit_takes_are_named(
    tmp_path: Path, command: str, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("test_glob_misses_php", tmp_path, {**PHP, **files, "gate.toml": policy(test=command)}) == expected


SPEC = "RSpec.describe Sum do\n  it 'adds' do\n  end\nend\n"
UNIT = "class SumTest < ActiveSupport::TestCase\n  test 'adds' do\n  end\nend\n"


@pytest.mark.parametrize(
    ("command", "files", "expected"),
    [
        ("bundle exec rspec", {"spec/sum.rb": SPEC}, ["error gate.toml:2 test: tests that never run, in files whose names do not fit spec/**/*_spec.rb [spec/sum.rb]"]),
        ("rspec", {".rspec": "--pattern spec/unit/**/*_spec.rb\n", "spec/sum_spec.rb": SPEC}, ["error gate.toml:2 test: tests that never run, in files whose names do not fit spec/unit/**/*_spec.rb [spec/sum_spec.rb]"]),
        ("bin/rails test", {"test/sum_tests.rb": UNIT}, ["error gate.toml:2 test: tests that never run, in files whose names do not fit test/**/*_test.rb [test/sum_tests.rb]"]),
        ("rspec", {"spec/sum_spec.rb": SPEC, "spec/a/sum_spec.rb": SPEC}, []),
        ("rspec -P 'spec/**/*{_spec,_check}.rb'", {"spec/sum_check.rb": SPEC}, []),
        ("rspec", {"spec/support/sum.rb": SPEC, "spec/spec_helper.rb": "RSpec.configure do |c|\nend\n"}, []),
        ("rspec", {"spec/sum.rb": SPEC, "spec/all_spec.rb": "require_relative 'sum'\n" + SPEC}, []),
        ("rspec spec/unit", {"spec/sum.rb": SPEC}, []),
        ("bin/rails test", {"test/sum_test.rb": UNIT, "test/test_helper.rb": "class ActiveSupport::TestCase\nend\n"}, []),
        ("rubocop", {"spec/sum.rb": SPEC}, []),
    ],
    ids=["another name", "a pattern", "Rails", "plain", "a wider pattern", "support", "loaded by another", "named by hand", "Rails, plain", "no tests run"],
)  # fmt: skip
def test_ruby_files_with_tests_that_are_not_loaded_are_named(
    tmp_path: Path, command: str, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("test_glob_misses_ruby", tmp_path, {**files, "gate.toml": policy(test=command)}) == expected
