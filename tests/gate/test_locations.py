"""Places in what tools print: recorded from the tools as named, shortened; the file and the line must be the right ones."""

from pathlib import Path

import pytest

from gate.locations import Place, files_below, find
from gate.report import Level

RUFF = """F401 [*] `os` imported but unused
 --> src/a.py:1:8
  |
1 | import os
  |        ^^
help: Remove unused import: `os`
"""
MYPY = """src/a.py:5: error: Incompatible return value type (got "str", expected "int")  [return-value]
src/a.py:7: note: Revealed type is "int"
Found 1 error in 1 file (checked 1 source file)
"""
UNITTEST = """Traceback (most recent call last):
  File "{root}/src/a.py", line 13, in test_err
    helper(1)
  File "/usr/lib/python3.11/json/decoder.py", line 5, in helper
    raise ValueError("bad thing")
ValueError: bad thing
"""
PYTEST = """    def test_err(self):
>       helper(1)

src/a.py:13:\x20
_ _ _ _ _ _ _ _ _ _ _ _ _
>       raise ValueError("bad thing")
E       ValueError: bad thing

src/b.py:5: ValueError
FAILED src/a.py::T::test_err - ValueError: bad thing
"""
PYTEST_SHORT = """src/a.py:13: in test_err
    helper(1)
src/b.py:5: in helper
    raise ValueError("bad thing")
E   ValueError: bad thing
"""
NODE = """not ok 1 - adds
  ---
  location: '{root}/src/a.js:3:1'
  error: '1 == 2'
  stack: |-
    TestContext.<anonymous> (file://{root}/src/a.js:3:29)
    Test.run (node:internal/test_runner/test:796:25)
"""
JEST = """  ● adds

    expect(received).toBe(expected) // Object.is equality

    > 1 | test('adds', () => { expect(1).toBe(2) })

      at Object.toBe (src/a.js:1:32)
      at other (src/b.py:9:1)
"""
VITEST = """\x1b[31m\x1b[1mAssertionError\x1b[22m: expected 1 to be 2 // Object.is equality\x1b[39m

\x1b[36m \x1b[2m❯\x1b[22m src/a.js:\x1b[2m2:32\x1b[22m\x1b[39m
"""
MOCHA = """      AssertionError [ERR_ASSERTION]: 1 == 2
      + expected - actual

      at Context.<anonymous> (src/a.js:2:27)
      at process.processImmediate (node:internal/timers:483:21)
"""
ESLINT = """
{root}/src/a.js
  1:7   warning  'a' is assigned a value but never used  no-unused-vars
  2:14  error    'foo' is not defined                    no-undef

✖ 2 problems (1 error, 1 warning)
"""
BIOME = "src/a.js:1:7 lint/correctness/noUnusedVariables  FIXABLE  ━━━━━━━━━━━━━━\n"
CARGO = "error[E0308]: mismatched types\n --> src/b.py:1:26\n  |\n"
MAVEN = "[ERROR] {root}/src/b.py:[5,9] error: ';' expected\n"
RSPEC = "rspec ./src/a.js:4 # adds numbers\n"
PHPUNIT = "Failed asserting that 2 matches expected 1.\n\n{root}/src/b.py:12\n"
NOTHING = "listening on localhost:8080\nsee https://example.org/a.html:3\n/etc/passwd:1: x\n../outside.py:2: y\nsrc/gone.py:3: z\n"


@pytest.mark.parametrize(
    ("output", "places"),
    [
        pytest.param(RUFF, [Place("src/a.py", 1, "F401 [*] `os` imported but unused")], id="ruff 0.15"),
        pytest.param(
            MYPY, [Place("src/a.py", 5, 'error: Incompatible return value type (got "str", expected "int")  [return-value]')],
            id="mypy 2.2",
        ),
        pytest.param(UNITTEST, [Place("src/a.py", 13, "ValueError: bad thing")], id="unittest of Python 3.11"),
        pytest.param(PYTEST, [Place("src/b.py", 5, "ValueError: bad thing")], id="pytest 9"),
        pytest.param(PYTEST_SHORT, [Place("src/b.py", 5, "ValueError: bad thing")], id="pytest 9 --tb=short"),
        pytest.param(NODE, [Place("src/a.js", 3, "1 == 2")], id="node 20 --test"),
        pytest.param(JEST, [Place("src/a.js", 1, "expect(received).toBe(expected) // Object.is equality")], id="jest 30"),
        pytest.param(
            VITEST, [Place("src/a.js", 2, "AssertionError: expected 1 to be 2 // Object.is equality")], id="vitest 4"
        ),
        pytest.param(MOCHA, [Place("src/a.js", 2, "AssertionError [ERR_ASSERTION]: 1 == 2")], id="mocha 11"),
        pytest.param(
            ESLINT,
            [Place("src/a.js", 2, "error: 'foo' is not defined  no-undef"),
             Place("src/a.js", 1, "warning: 'a' is assigned a value but never used  no-unused-vars", Level.WARNING)],
            id="eslint 9, the worst first",
        ),
        pytest.param(BIOME, [Place("src/a.js", 1, "lint/correctness/noUnusedVariables  FIXABLE")], id="biome 2"),
        pytest.param("src/a.js(1,7): error TS2322: No.\n", [Place("src/a.js", 1, "error TS2322: No.")], id="tsc 5"),
        pytest.param("src/a.js:1:7 - error TS2322: No.\n", [Place("src/a.js", 1, "error TS2322: No.")], id="tsc --pretty"),
        pytest.param(CARGO, [Place("src/b.py", 1, "error[E0308]: mismatched types")], id="cargo 1.63"),
        pytest.param("./src/b.py:6:2: not enough\n", [Place("src/b.py", 6, "not enough")], id="go vet 1.19"),
        pytest.param("    b.py:7: no\n", [Place("src/b.py", 7, "no")], id="go test, in the folder of the step"),
        pytest.param(MAVEN, [Place("src/b.py", 5, "error: ';' expected")], id="maven 3.8"),
        pytest.param(RSPEC, [Place("src/a.js", 4, "# adds numbers")], id="rspec 3"),
        pytest.param(PHPUNIT, [Place("src/b.py", 12, "Failed asserting that 2 matches expected 1.")], id="phpunit 9"),
        pytest.param(NOTHING, [], id="what is no file of the repository"),
        pytest.param("x" * 100_000 + "\n" + " " * 100_000 + "(" * 5000 + "src/a.py:1:1", [], id="endless lines"),
    ],
)  # fmt: skip
def test_places_are_found_in_what_tools_print(tmp_path: Path, output: str, places: list[Place]) -> None:
    (tmp_path / "src").mkdir()
    for name in ("a.py", "b.py", "a.js"):
        (tmp_path / "src" / name).touch()
    found = find(output.replace("{root}", str(tmp_path)), inside=files_below(tmp_path, "src"))
    assert found == places
