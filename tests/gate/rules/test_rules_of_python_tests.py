"""Rules about tests of Python that cannot fail, and runs of which nobody looks at the result. Each with its near miss."""

from pathlib import Path

import pytest

from tests.gate.rules.samples import policy, seen

RUN = "import unittest\n\nsuite = unittest.TestLoader().discover('.')\n"
DROPPED = "warning run.py:{} test: {} in this script returns what became of the tests, and nothing looks at it"


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (RUN + "unittest.TextTestRunner(verbosity=2).run(suite)\n", [DROPPED.format(4, "the runner's run()")]),
        (RUN + "runner = XMLTestRunner()\nresult = runner.run(suite)\nprint('done')\n", [DROPPED.format(5, "the runner's run()")]),
        ("import pytest\n\npytest.main(['tests'])\n", [DROPPED.format(3, "pytest.main()")]),
        ("import unittest\nunittest.main(exit=False)\n", [DROPPED.format(2, "unittest.main()")]),
        ("import doctest\nif __name__ == '__main__':\n    doctest.testmod()\n", [DROPPED.format(3, "doctest.testmod()")]),
        (RUN + "result = unittest.TextTestRunner().run(suite)\nraise SystemExit(not result.wasSuccessful())\n", []),
        (RUN + "result = unittest.TextTestRunner().run(suite)\nfinish(result)\n", []),
        (RUN + "def main():\n    return unittest.TextTestRunner().run(suite)\n", []),
        ("import pytest, sys\nsys.exit(pytest.main())\n", []),
        ("import unittest\nunittest.main()\n", []),
        ("import app\napp.main()\n", []),
    ],
)  # fmt: skip
def test_scripts_that_drop_what_became_of_their_tests_are_named(
    tmp_path: Path, script: str, expected: list[str]
) -> None:
    files = {"gate.toml": policy(test="python run.py"), "run.py": script}
    assert seen("runner_result_dropped", tmp_path, files) == expected


def test_a_script_is_looked_at_where_a_check_starts_it_or_one_that_imports_it(tmp_path: Path) -> None:
    files = {
        "run.py": RUN + "unittest.TextTestRunner().run(suite)\n",
        "start.py": "import run\n",
        "pkg/__main__.py": "import doctest\ndoctest.testmod()\n",
    }
    assert seen("runner_result_dropped", tmp_path / "a", {**files, "gate.toml": policy(test="pytest")}) == []
    found = seen(
        "runner_result_dropped", tmp_path / "b", {**files, "gate.toml": policy(test="python start.py; python -m pkg")}
    )
    assert found == [
        DROPPED.format(4, "the runner's run()"),
        DROPPED.format(2, "doctest.testmod()").replace("run.py", "pkg/__main__.py"),
    ]


def at(line: int, what: str, name: str = "test_a") -> list[str]:
    return [f"warning tests/test_a.py:{line} {what}: {name} (tests/test_a.py:{line}) [tests/test_a.py]"]


ALWAYS = "an assertion of a text or a function, which always holds"
OTHER = "pytest collects no class of this name (only Test...)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def test_a():\n    assert (value() == 3, 'three')\n", at(2, "`assert (x, message)` is a tuple, which always holds")),
        ("def test_a():\n    assert 'it works'\n", at(2, ALWAYS)),
        ("def test_a():\n    assert value() == 3 or True\n", at(2, "an assertion that always holds (`or True`)")),
        ("def test_a():\n    return value() == 3\n", at(2, "a comparison that is returned, not asserted")),
        ("def test_a():\n    value() == 3\n", at(2, "a comparison that stands by itself")),
        ("def test_a(m):\n    go(m)\n    m.assert_called_once\n", at(3, "an assertion of a mock that is not called")),
        ("def test_a():\n    pytest.raises(ValueError)\n", at(2, "an expected error without code that could raise it")),
        ("def test_a():\n    '''To come.'''\n    pass\n", at(1, "a test without a body")),
        ("def test_a():\n    assert v() == 1\n\n\ndef test_a():\n    assert v() == 2\n", at(1, "a later test of the same name takes its place, so it never runs")),
        ("class CheckA:\n    def test_a(self):\n        assert v()\n", at(1, OTHER, "CheckA")),
        ("class TestA:\n    def __init__(self):\n        self.v = 1\n    def test_a(self):\n        assert v()\n", at(1, "pytest does not collect a class with `__init__`", "TestA")),
        ("@dataclass\nclass TestA:\n    v: int\n    def test_a(self):\n        assert v()\n", at(2, "pytest does not collect a class with an `__init__` by its decorator", "TestA")),
        ("def test_a():\n    assert value() == 3, 'three'\n    assert True\n", []),
        ("def test_a():\n    assert ()\n", []),
        ("def test_a():\n    with pytest.raises(TypeError):\n        a == b\n    with self.assertRaises(E): x()\n    pytest.raises(E, call)\n", []),
        ("def test_a():\n    def inner():\n        return a == b\n    assert inner()\n", []),
        ("def test_a(fixture):\n    pass\n\n\n@pytest.mark.skip\ndef test_b():\n    pass\n", []),
        ("class TestB(Base):\n    def test_a(self):\n        pass\n", []),
        ("def test_a():\n    assert v()\n\n\ntest_b = wrap(test_a)\n\n\ndef test_a():\n    assert v()\n", []),
        ("if A:\n    def test_a():\n        assert v()\nelse:\n    def test_a():\n        assert v()\n", []),
        ("@register.one\ndef test_a():\n    assert v()\n\n\n@test_a.other\ndef test_a():\n    assert v()\n", []),
        ("class Checks:\n    def test_a(self):\n        assert v()\n\n\nclass TestA(Checks):\n    pass\n", []),
        ("class TestA(unittest.TestCase):\n    def __init__(self, name):\n        super().__init__(name)\n    def test_a(self):\n        assert v()\n", []),
        ("class Value:\n    def test_a(self):\n        pass\n", []),
        ("def test_a():\n    with pytest.raises(TypeError):\n        pytest.raises(3)\n", []),
        ("class Fake:\n    def test(self):\n        return 1\n", []),
    ],
)  # fmt: skip
def test_tests_that_cannot_fail_are_named(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert seen("test_cannot_fail", tmp_path, {"gate.toml": policy(test="pytest"), "tests/test_a.py": text}) == expected


def test_classes_are_named_as_the_settings_say_and_by_pytest_only(tmp_path: Path) -> None:
    files = {"tests/test_a.py": "class CheckA:\n    def test_a(self):\n        assert v()\n"}
    wider = {**files, "gate.toml": policy(test="pytest"), "pytest.ini": "[pytest]\npython_classes = Test* Check*\n"}
    assert seen("test_cannot_fail", tmp_path / "wider", wider) == []
    assert seen("test_cannot_fail", tmp_path / "none", {**files, "gate.toml": policy(test="echo pytest")}) == []


def test_a_class_whose_tests_run_as_those_of_another_file_is_not_named(tmp_path: Path) -> None:
    files = {
        "tests/test_a.py": "class BaseA:\n    def test_a(self):\n        assert v()\n",
        "tests/test_b.py": "from tests.test_a import BaseA\n\n\nclass TestB(BaseA):\n    pass\n",
        "gate.toml": policy(test="pytest"),
    }
    assert seen("test_cannot_fail", tmp_path, files) == []
