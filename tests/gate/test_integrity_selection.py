"""Tests that are still there and no longer run, by the configuration of their runner."""

import subprocess

import pytest

from gate.integrity import compare
from gate.policy import Policy

BASE = {
    "pyproject.toml": '[project]\nname = "x"\n[tool.pytest.ini_options]\naddopts = "-ra --strict-markers"\n',
    "setup.cfg": "[metadata]\nname = x\n",
    "tests/test_a.py": "def test_add():\n    assert f() == 1\n\n\ndef test_sub():\n    assert f() == 2\n",
    "tests/slow/test_b.py": "class TestB:\n    def test_b(self):\n        assert f() == 3\n",
    "web/a.test.ts": "it('adds', () => { expect(f()).toBe(1) })\n",
    "web/deep/b.spec.ts": "it('subs', () => { expect(f()).toBe(2) })\n",
    "package.json": '{"name": "x", "jest": {"testMatch": ["**/*.test.ts", "**/*.spec.ts"]}}\n',
    "vitest.config.ts": "export default {\n  test: {\n    include: ['web/**/*.{test,spec}.ts'],\n    exclude: ['dist'],\n  },\n}\n",
    "playwright.config.ts": "export default {\n  testDir: 'web',\n}\n",
}
PROJECT = BASE["pyproject.toml"]
VITEST, JEST, PLAYWRIGHT = BASE["vitest.config.ts"], BASE["package.json"], BASE["playwright.config.ts"]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory):
    tmp_path = tmp_path_factory.mktemp("repo")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for name, text in BASE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "base"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)

    def look(path: str, text: str) -> list[str]:
        (tmp_path / path).write_text(text)
        try:
            return [f"{f.rule} {f.path}:{f.line} {f.message}" for f in compare(tmp_path, "HEAD", Policy())]
        finally:
            subprocess.run(["git", "clean", "-fdq"], cwd=tmp_path, check=True)
            subprocess.run(["git", "checkout", "-q", "."], cwd=tmp_path, check=True)

    return look


LEFT_OUT = {
    "testpaths": ("pyproject.toml", PROJECT + 'testpaths = ["tests/slow"]\n', "5 testpaths was not set, now it is tests/slow: nothing of tests/test_a.py runs"),
    "a first pytest.ini": ("tests/pytest.ini", "[pytest]\naddopts = -m fast\n", "2 addopts was not set, now it is '-m fast'; -m fast is new, so it looks at less"),
    "a first .pytest.toml": (".pytest.toml", '[pytest]\naddopts = "-m fast"\n', "2 addopts was '-ra --strict-markers', now it is '-m fast'; -m fast is new, so it looks at less"),
    "a first pytest.ini of names": ("tests/pytest.ini", "[pytest]\npython_functions = test_a*\n", "2 python_functions was not set, now it is 'test_a*'; gone: ['test']"),
    "vitest's excluded files": ("web/vitest.config.ts", "export default { test: { exclude: ['deep/**'] } }\n", "1 exclude was not set, now it is 'deep/**': nothing of deep/b.spec.ts runs"),
    "vitest's names": ("web/vitest.config.ts", "export default { test: { testNamePattern: /adds/ } }\n", "1 testNamePattern was not set, now it is /adds/: not all of a.test.ts, deep/b.spec.ts runs"),
    "jest's ignored paths": ("jest.config.js", "module.exports = { testPathIgnorePatterns: ['/deep/'] }\n", "1 testPathIgnorePatterns was not set, now it is /deep/: nothing of web/deep/b.spec.ts runs"),
    "jest's roots": ("package.json", JEST.replace('"jest": {', '"jest": {"roots": ["<rootDir>/web/deep"], '), "1 roots was not set, now it is '<rootDir>/web/deep': nothing of web/a.test.ts runs"),
    "jest's files": ("jest.config.js", "module.exports = { testRegex: 'a.test' }\n", "1 testRegex was not set, now it is a.test: nothing of web/deep/b.spec.ts runs"),
    "mocha's names": (".mocharc.yml", "grep: adds\n", "1 grep was not set, now it is adds: not all of web/a.test.ts, web/deep/b.spec.ts runs"),
    "mocha's files": (".mocharc.yml", "spec: [web/a.test.ts]\n", "1 spec was not set, now it is web/a.test.ts: nothing of web/deep/b.spec.ts runs"),
}  # fmt: skip


@pytest.mark.parametrize(("path", "text", "said"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_a_setting_that_leaves_tests_out_is_found_with_its_place(found, path: str, text: str, said: str) -> None:
    assert [f.partition(" ")[2] for f in found(path, text)] == [f"{path}:{said}"]


HONEST = {
    "more words": ("pyproject.toml", PROJECT.replace("-ra", "-ra -q --strict-config")),
    "the folder where all tests are": ("pyproject.toml", PROJECT + 'testpaths = ["tests"]\n'),
    "more files": ("pyproject.toml", PROJECT + 'python_files = ["test_*.py", "*_test.py", "check_*.py"]\n'),
    "wider names": ("pyproject.toml", PROJECT + 'python_functions = ["test", "check"]\n'),
    "the same in another file": ("pytest.ini", "[pytest]\naddopts = -ra --strict-markers\n"),
    "more of vitest": ("vitest.config.ts", VITEST.replace("'web/**", "'**")),
    "a first file that selects all": (".mocharc.yml", "spec: 'web/**/*.ts'\n"),
    "a first exclusion of nothing": (
        "web/vitest.config.ts",
        "export default { test: { exclude: ['node_modules', 'dist'] } }\n",
    ),
    "another package": ("package.json", JEST.replace('"x"', '"y"')),
    "a folder around": ("playwright.config.ts", PLAYWRIGHT.replace("'web'", "'.'")),
}


@pytest.mark.parametrize(("path", "text"), HONEST.values(), ids=HONEST)
def test_a_setting_that_leaves_nothing_out_is_fine(found, path: str, text: str) -> None:
    assert found(path, text) == []
