"""Rules about Maven, Gradle and sbt: each with its near miss."""

from pathlib import Path

import pytest

from tests.gate.rules.samples import policy, seen, workflow

TEST = "import org.junit.jupiter.api.Test;\nclass ATest {\n    @Test void works() {}\n}\n"
MAVEN = {"pom.xml": "<project>\n</project>\n", "src/test/java/ATest.java": TEST, "src/test/java/BIT.java": TEST}
TESTS = "[src/test/java/ATest.java, src/test/java/BIT.java]"


def pom(*lines: str) -> str:
    """Return a POM that holds these lines, from the second on."""
    return "\n".join(["<project>", *lines, "</project>"])


def plugin(name: str, *lines: str) -> str:
    """Return a build with one plugin; its lines follow in the same line."""
    text = "".join(lines)
    return f"<build><plugins><plugin><artifactId>{name}</artifactId>{text}</plugin></plugins></build>"


SUREFIRE, FAILSAFE = "maven-surefire-plugin", "maven-failsafe-plugin"
SKIP = "<configuration><skipTests>true</skipTests></configuration>"


@pytest.mark.parametrize(
    ("command", "files", "expected"),
    [
        ("mvn -B verify -DskipTests", {}, ["error gate.toml:2 test: `-DskipTests` skips the tests, and no command runs them"]),
        ("./mvnw package -Dmaven.test.skip=true", {}, ["error gate.toml:2 test: `-Dmaven.test.skip=true` skips the tests, and no command runs them"]),
        ("mvn package -DskipTests", {".github/workflows/a.yml": workflow("mvn verify")}, ["note gate.toml:2 test: `-DskipTests` skips the tests, and no command runs them"]),
        ("mvn verify -Dmaven.test.failure.ignore=true", {}, ["error gate.toml:2 test: `-Dmaven.test.failure.ignore=true` succeeds when tests fail"]),
        ("mvn -fn verify", {}, ["error gate.toml:2 test: `-fn` succeeds when tests fail"]),
        ("mvn test -Dtest=GoneTest -DfailIfNoTests=false", {}, ["error gate.toml:2 test: `-DfailIfNoTests=false` succeeds when there is no test for -Dtest=GoneTest"]),
        ("mvn test -DfailIfNoTests=false", {}, ["warning gate.toml:2 test: `-DfailIfNoTests=false` succeeds without any test"]),
        ("mvn verify", {".mvn/maven.config": "-B\n-DskipTests\n"}, ["error .mvn/maven.config:2 test: `-DskipTests` skips the tests in each run of Maven"]),
        ("mvn verify", {"pom.xml": pom("<properties>", "<skipTests>true</skipTests>", "</properties>")}, [f"error pom.xml:3 test: <skipTests>true</skipTests> skips the tests {TESTS}"]),
        ("mvn verify", {"pom.xml": pom(plugin(SUREFIRE, SKIP))}, [f"error pom.xml:2 test: <skipTests>true</skipTests> skips the tests {TESTS}"]),
        ("mvn verify", {"pom.xml": pom(plugin(SUREFIRE, "<configuration><testFailureIgnore>true</testFailureIgnore></configuration>"))}, ["error pom.xml:2 test: <testFailureIgnore>true</testFailureIgnore> succeeds when tests fail"]),
        ("mvn verify", {"pom.xml": pom(plugin(SUREFIRE, "<configuration><failIfNoTests>false</failIfNoTests></configuration>"))}, ["warning pom.xml:2 test: <failIfNoTests>false</failIfNoTests> succeeds without any test"]),
        ("mvn verify -Pquick,ci", {"pom.xml": pom("<profiles><profile><id>quick</id>", "<properties><maven.test.skip>true</maven.test.skip></properties></profile></profiles>")},
         [f"error pom.xml:3 test: <maven.test.skip>true</maven.test.skip> in the profile 'quick' skips the tests {TESTS}"]),
        ("mvn verify", {"pom.xml": pom("<modules><module>m</module></modules>"), "m/pom.xml": pom(plugin(FAILSAFE, SKIP)), "m/src/test/java/CIT.java": TEST},
         ["error m/pom.xml:2 test: <skipTests>true</skipTests> skips the tests [m/src/test/java/CIT.java]"]),
        ("mvn verify", {}, []),
        ("mvn install -DskipTests && mvn test", {}, []),
        ("mvn verify -DskipTests=false", {"pom.xml": pom("<properties><skipTests>true</skipTests></properties>")}, []),
        ("mvn verify", {"pom.xml": pom("<profiles><profile><id>quick</id><properties><skipTests>true</skipTests></properties></profile></profiles>")}, []),
        ("mvn verify", {"pom.xml": pom("<properties><skipTests>${quick}</skipTests></properties>")}, []),
        ("mvn verify", {"pom.xml": pom(plugin(SUREFIRE, SKIP, "<executions><execution><id>unit</id><configuration><skipTests>false</skipTests></configuration></execution></executions>"))}, []),
        ("mvn verify", {"pom.xml": pom("<modules><module>m</module></modules>"), "m/pom.xml": pom("<properties><maven.test.skip>true</maven.test.skip></properties>")}, []),
        ("mvn verify", {"pom.xml": pom("<properties><skipTests>true</skipTests></properties>", "<profiles><profile><properties><skipTests>false</skipTests></properties></profile></profiles>")}, []),
        ("mvn compile -DskipTests", {}, []),
        ("mvn verify", {"pom.xml": pom(plugin("maven-jar-plugin", "<configuration><skip>true</skip></configuration>"))}, []),
        ("mvn verify -DskipTests", {"src/test/java/ATest.java": "class Helper {}", "src/test/java/BIT.java": "class Helper {}"}, []),
    ],
    ids=[
        "skipTests", "maven.test.skip", "a workflow beside the policy", "failures ignored", "never fails", "a test that may be gone", "no tests", "for each run", "a property", "surefire", "failures ignored in the POM",
        "no tests in the POM", "a profile that is asked for", "a module", "plain", "another run tests", "turned off", "a profile that is not", "a variable", "an execution of its own",
        "a module without tests", "a profile turns it off", "only compiled", "another plugin", "no tests at all",
    ],
)  # fmt: skip
def test_runs_of_maven_that_skip_their_tests_are_named(
    tmp_path: Path, command: str, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("skip_tests_flag_maven", tmp_path, {**MAVEN, **files, "gate.toml": policy(test=command)}) == expected


GRADLE = {"build.gradle": "plugins { id 'java' }\n", "src/test/java/ATest.java": TEST}


def built(text: str, file: str = "build.gradle") -> dict[str, str]:
    """Return a build file of this text, from its second line on."""
    return {file: f"plugins {{ }}\n{text}\n"}


@pytest.mark.parametrize(
    ("command", "files", "expected"),
    [
        ("./gradlew build -x test", {}, ["error gate.toml:2 test: `-x test` leaves the tests out, and no command runs them"]),
        ("./gradlew build -x :app:check", {}, ["error gate.toml:2 test: `-x :app:check` leaves the tests out, and no command runs them"]),
        ("./gradlew build -x test", {".github/workflows/a.yml": workflow("./gradlew check")}, ["note gate.toml:2 test: `-x test` leaves the tests out, and no command runs them"]),
        ("./gradlew check", built("test {\n  ignoreFailures = true\n}"), ["error build.gradle:3 test: `ignoreFailures = true` lets the tests succeed when they fail"]),
        ("./gradlew check", built("tasks.withType<Test> { ignoreFailures.set(true) }", "build.gradle.kts"), ["error build.gradle.kts:2 test: `ignoreFailures.set(true)` lets the tests succeed when they fail"]),
        ("./gradlew check", built("checkstyle {\n  ignoreFailures = true\n}"), ["warning build.gradle:3 test: `ignoreFailures = true` lets a checker succeed whatever it finds"]),
        ("./gradlew test", built("tasks.named('test') { failOnNoDiscoveredTests = false }"), ["error build.gradle:2 test: `failOnNoDiscoveredTests = false` lets the tests succeed when there is none"]),
        ("./gradlew test", built("test { filter { setFailOnNoMatchingTests(false) } }"), ["warning build.gradle:2 test: `setFailOnNoMatchingTests(false)` lets the tests succeed when there is none"]),
        ("./gradlew test", built("test.enabled = false"), ["error build.gradle:2 test: `enabled = false` turns the tests off"]),
        ("./gradlew test", built("test {\n  onlyIf { false }\n}"), ["error build.gradle:3 test: `onlyIf { false }` turns the tests off"]),
        ("./gradlew assemble", built("test { ignoreFailures = true }"), []),
        ("./gradlew build -x test && ./gradlew test", {}, []),
        ("./gradlew build -x javadoc", {}, []),
        ("./gradlew check", built("test { ignoreFailures = false }"), []),
        ("./gradlew check", built("// test { ignoreFailures = true }\n/* test {\n ignoreFailures = true } */"), []),
        ("./gradlew check", built("if (project.hasProperty('ci')) {\n test { ignoreFailures = true }\n}"), []),
        ("./gradlew check", built("bootJar { enabled = false }\ntasks.named('jar') { enabled = false }\ntest { reports { html.enabled = false } }"), []),
        ("./gradlew build -x test", {"src/test/java/ATest.java": "class Helper {}"}, []),
    ],
    ids=[
        "tests left out", "checks left out", "a workflow beside the policy", "failures ignored", "in Kotlin", "a checker's", "none discovered", "none matched", "off", "never",
        "no test task", "another run tests", "something else left out", "the default", "comments", "a condition", "other tasks", "no tests at all",
    ],
)  # fmt: skip
def test_builds_of_gradle_that_let_tests_pass_are_named(
    tmp_path: Path, command: str, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("skip_tests_flag_gradle", tmp_path, {**GRADLE, **files, "gate.toml": policy(test=command)}) == expected


NAMES = "gate.toml:2 test: tests that never run: their names fit neither surefire's patterns nor failsafe's [src/test/java/Sums.java]"
NO_PLUGIN = "gate.toml:2 test: tests that never run: no POM configures failsafe [src/test/java/BIT.java]"
NOT_REACHED = "gate.toml:2 test: tests that never run: failsafe runs them, and no command goes as far as `verify` [src/test/java/BIT.java]"
RUNS_ITS = pom(plugin(FAILSAFE))


@pytest.mark.parametrize(
    ("command", "files", "expected"),
    [
        ("mvn verify", {"pom.xml": RUNS_ITS, "src/test/java/Sums.java": TEST}, [f"error {NAMES}"]),
        ("mvn verify", {"pom.xml": pom("<parent><artifactId>p</artifactId></parent>"), "src/test/java/Sums.java": TEST}, [f"warning {NAMES}", f"warning {NO_PLUGIN}"]),
        ("mvn verify", {}, [f"error {NO_PLUGIN}"]),
        ("mvn test", {"pom.xml": RUNS_ITS}, [f"warning {NOT_REACHED}"]),
        ("mvn verify", {"pom.xml": RUNS_ITS}, []),
        ("mvn verify", {"pom.xml": pom(plugin(SUREFIRE, "<configuration><includes><include>**/*.java</include></includes></configuration>")), "src/test/java/Sums.java": TEST}, []),
        ("mvn verify", {"pom.xml": RUNS_ITS, "src/test/java/Sums.java": f"abstract {TEST}".replace("abstract import", "import").replace("class", "abstract class")}, []),
        ("mvn verify", {"pom.xml": RUNS_ITS, "src/test/java/Sums.java": TEST, "src/test/java/CTest.java": f"{TEST}class CTest extends Sums {{}}\n"}, []),
        ("mvn verify -Dtest=Sums", {"pom.xml": RUNS_ITS, "src/test/java/Sums.java": TEST}, []),
        ("mvn compile", {}, []),
    ],
    ids=["another name", "a parent from elsewhere", "no failsafe", "not as far", "plain", "patterns", "abstract", "extended", "named by hand", "no tests run"],
)  # fmt: skip
def test_classes_with_tests_that_maven_does_not_take_are_named(
    tmp_path: Path, command: str, files: dict[str, str], expected: list[str]
) -> None:
    assert seen("test_glob_misses_maven", tmp_path, {**MAVEN, **files, "gate.toml": policy(test=command)}) == expected
