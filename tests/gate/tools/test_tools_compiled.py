"""Go, Rust, C, Ruby and PHP tools, run for real: once with work done, once and more with nothing done."""

from pathlib import Path

import pytest

from gate.report import Evidence
from tests.evidence import run_step, write_tree
from tests.needs import needs

GO = {
    "go.mod": "module x\n\ngo 1.19\n",
    "a.go": "package x\n",
    "a_test.go": 'package x\n\nimport "testing"\n\n'
    "func Example() {}\nfunc TestA(t *testing.T) {}\nfunc TestB(t *testing.T) {}\nfunc TestC(t *testing.T) { t.Skip() }\n",
    "idle/idle.go": "package idle\n",
    "tagged/a.go": "package tagged\n",
    "tagged/a_test.go": '//go:build integration\n\npackage tagged\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n',
    "skips/a_test.go": 'package skips\n\nimport "testing"\n\nfunc TestA(t *testing.T) {\n\tt.Skip("later")\n}\n',
}
RUST = {
    "Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n[lib]\ndoctest = false\n',
    "src/lib.rs": "#[test]\nfn a() {\n"
    'println!("\\ntest result: ok. 41 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");\n}\n'
    "#[test]\n#[ignore]\nfn b() {}\n",
    "tests/c.rs": "#[test]\nfn c() {}\n",
}
RUBY = {"spec/a_spec.rb": "describe('x') { it('a') { puts '41 examples, 0 failures' }; it('b') }\n"}
PHP = {
    "tests/ATest.php": "<?php\nuse PHPUnit\\Framework\\TestCase;\nclass ATest extends TestCase {\n"
    "function testA() { $this->assertTrue(true); }\nfunction testB() { $this->markTestSkipped(); } }\n",
    "gone/AT.php": "<?php\n",
    "composer.json": '{"scripts": {"test": "phpunit tests", "check": ["@test"]}}',
}
PERL = {"t/a.t": "use Test::More tests => 2;\nok(1);\nok(1);\n", "t/none/keep": ""}
CMAKE = {
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(x NONE)\nenable_testing()\n"
    "add_test(NAME a COMMAND true)\nadd_test(NAME b COMMAND true)\n"
    "set_tests_properties(b PROPERTIES DISABLED 1)\n"
    "add_test(NAME c COMMAND false)\nset_tests_properties(c PROPERTIES WILL_FAIL 1)\n",
}
CMAKE_IDLE = {"CMakeLists.txt": CMAKE["CMakeLists.txt"].replace("enable_testing()", "")}
POM = (
    "<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version>"
    "<properties><maven.compiler.source>17</maven.compiler.source>"
    "<maven.compiler.target>17</maven.compiler.target></properties><dependencies><dependency>"
    "<groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version></dependency></dependencies>"
    "</project>"
)
JAVA = {
    "pom.xml": POM,
    "src/test/java/ATest.java": "import org.junit.*;\n"
    "public class ATest { @Test public void a() {} @Ignore @Test public void b() {} }\n",
}
# Debian's own repository of artifacts, so that nothing is fetched; no fork, which would look up the host's name
MVN = "mvn -o -B -Dmaven.repo.local=/usr/share/maven-repo -DforkCount=0 "

RUNS = {
    "go": ("go test ./...", GO, Evidence("go test", 2, None, 2, 0)),
    "go, verbose": ("go test -v . ./skips", GO, Evidence("go test", 2, None, 2, 0)),
    "go, json": ("go test -json .", GO, Evidence("go test", 2, None, 1, 0)),
    "go, by name": ("go test -run 'TestA$' .", GO, Evidence("go test", 1, None, 0, 0)),
    "go, no match": (
        "go test -run Gone ./...",
        GO,
        Evidence("go test", 0, hollow="go test executed no test in 4 packages"),
    ),
    "go, no test files": (
        "go test ./idle ./tagged",
        GO,
        Evidence("go test", 0, hollow="go test executed no test in 2 packages"),
    ),
    "go, behind a tag": ("go test -tags integration ./tagged", GO, Evidence("go test", 1, None, 0, 0)),
    "go, all skipped": (
        "go test ./skips",
        GO,
        Evidence("go test", 0, None, 1, 0, "go test executed no test: 1 skipped"),
    ),
    "go vet": ("go vet ./...", GO, Evidence("go vet", None, 5)),
    "go build": ("go build ./idle", GO, Evidence("go build", None, 1)),
    "cargo build": ("cargo build --offline", RUST, Evidence("cargo build", None, 1)),
    "cargo": ("cargo test --offline", RUST, Evidence("cargo test", 2, None, 1, 0)),
    "cargo, by name": ("cargo test -q --offline c", RUST, Evidence("cargo test", 1, None, 0, 0)),
    "cargo, no match": (
        "cargo test --offline gone",
        RUST,
        Evidence("cargo test", 0, None, 0, 0, "cargo test executed no test"),
    ),
    "cargo, all ignored": (
        "cargo test --offline --lib b",
        RUST,
        Evidence("cargo test", 0, None, 1, 0, "cargo test executed no test: 1 skipped"),
    ),
    "clippy": ("cargo clippy --offline", RUST, Evidence("cargo clippy", None, 1)),
    "rspec": ("rspec", RUBY, Evidence("rspec", 1, None, 1, 0)),
    "rspec, no match": ("rspec -e gone", RUBY, Evidence("rspec", 0, None, 0, 0, "rspec executed no test")),
    "phpunit": ("phpunit tests", PHP, Evidence("phpunit", 1, None, 1, 0)),
    "phpunit, no match": (
        "phpunit --filter gone tests",
        PHP,
        Evidence("phpunit", 0, hollow="phpunit executed no test"),
    ),
    "phpunit, other names": ("phpunit gone", PHP, Evidence("phpunit", 0, hollow="phpunit executed no test")),
    "phpunit, all skipped": (
        "phpunit --filter testB tests",
        PHP,
        Evidence("phpunit", 0, None, 1, 0, "phpunit executed no test: 1 skipped"),
    ),
    "prove": ("prove -r t", PERL, Evidence("prove", 2, None, 0, 0)),
    "prove, none": ("prove t/none", PERL, Evidence("prove", 0, None, 0, 0, "prove executed no test")),
    "ctest": ("cmake -S . -B b >/dev/null && ctest --test-dir b", CMAKE, Evidence("ctest", 2, None, 1, 0)),
    "ctest, none": (
        "cmake -S . -B b >/dev/null && cd b && ctest",
        CMAKE_IDLE,
        Evidence("ctest", 0, hollow="ctest found no tests"),
    ),
}
RUNS |= {
    "maven": (MVN + "test", JAVA, Evidence("maven surefire", 1, None, 1, 0)),
    "maven, quiet": (MVN + "-q test", JAVA, Evidence("maven surefire", 1, None, 1, 0)),
    "maven, none": (MVN + "test", {"pom.xml": POM}, Evidence("maven surefire", 0, hollow="maven ran no tests")),
}
PACKAGES = {
    "mvn": "maven libsurefire-java libmaven-resources-plugin-java libmaven-compiler-plugin-java junit4",
    "go": "golang-go",
    "prove": "perl",
    "rspec": "ruby-rspec",
    "phpunit": "phpunit",
    "cmake": "cmake",
    "cargo": "cargo rust-clippy",
}


PARAMS = [
    pytest.param(*run, id=name, marks=needs(run[0].split()[0], package=PACKAGES[run[0].split()[0]]))
    for name, run in RUNS.items()
]


@pytest.mark.parametrize(("step", "files", "expected"), PARAMS)
def test_a_tool_tells_what_it_did(tmp_path: Path, step: str, files: dict[str, str], expected: Evidence) -> None:
    folder = write_tree(tmp_path / "project", files)
    environment = {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "CARGO_TERM_COLOR": "always"}
    assert run_step(step, folder, **environment) == (0, expected)
