"""Each canary is seen by the real tools of its language, with its mark, and without it they are content."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from gate.canaries import CANARIES, Aviary, all_canaries
from gate.canaries.canary import Level

SYNTAX, NAME, TYPE, RUN, BEHAVIOUR = Level
BIN = Path(sys.executable).parent
AVIARY = Aviary()
MARK = "cnry0000{}z"

PYTHON = '"""Doc."""\n\nimport sys\n\n\ndef double(value: int) -> int:\n    """Doc."""\n    return 2 * value\n\n\nif __name__ == "__main__":\n    sys.exit(double(0))\n'
TYPESCRIPT = "export function double(value: number): number {\n  return 2 * value;\n}\n"
JAVASCRIPT = "'use strict'\n\nconst double = (value) => {\n  return 2 * value\n}\ndouble(1)\n"
GO = "package main\n\nfunc double(value int) int {\n\treturn 2 * value\n}\n\nfunc main() { _ = double(0) }\n"
RUST = "fn double(value: i32) -> i32 {\n    2 * value\n}\n\nfn main() {\n    assert_eq!(double(1), 2);\n}\n"
JAVA = "public class A {\n    public static void main(String[] words) {\n        System.exit(words.length);\n    }\n}\n"
C = "int main(void)\n{\n    return 0;\n}\n"
RUBY = "# frozen_string_literal: true\n\ndef double(value)\n  2 * value\nend\nexit(double(0))\n"
PHP = "<?php\nfunction double(int $value): int {\n    return 2 * $value;\n}\ndouble(1);\n"
SHELL = "#!/bin/bash\n# doubles\nset -e\ndouble() {\n  echo $(($1 * 2))\n}\ndouble 1\nexit 0\n"
PY = sys.executable
NODE = ("node", "a.js")
RUSTC = ("rustc", "--edition=2021", "-o", "a", "a.rs")

# file, text, and for each level the command that must fail over the broken file, and pass over the whole one
SEEN = [
    ("a.py", PYTHON, {SYNTAX: (PY, "-m", "compileall", "-q", "a.py"), NAME: (PY, "a.py"), RUN: (PY, "a.py"), BEHAVIOUR: (PY, "a.py")}),
    ("a.py", PYTHON, {NAME: (str(BIN / "ruff"), "check", "--isolated", "a.py"), TYPE: (str(BIN / "mypy"), "--strict", "--config-file=", "a.py")}),
    ("a.js", JAVASCRIPT, {SYNTAX: NODE, NAME: NODE, RUN: NODE, BEHAVIOUR: NODE}),
    ("a.go", GO, {SYNTAX: ("gofmt", "-l", "a.go"), TYPE: ("go", "vet", "a.go"), RUN: ("go", "run", "a.go")}),
    ("a.rs", RUST, {SYNTAX: RUSTC, NAME: RUSTC, TYPE: RUSTC, BEHAVIOUR: ("sh", "-c", f"{' '.join(RUSTC)} && ./a")}),
    ("A.java", JAVA, {TYPE: ("javac", "A.java"), RUN: ("java", "A.java")}),
    ("a.c", C, {SYNTAX: ("gcc", "-c", "a.c"), NAME: ("gcc", "-c", "a.c"), TYPE: ("g++", "-c", "a.c"), RUN: ("sh", "-c", "gcc -o a a.c && ./a")}),
    ("a.rb", RUBY, {SYNTAX: ("ruby", "-c", "a.rb"), NAME: ("ruby", "a.rb"), RUN: ("ruby", "a.rb"), BEHAVIOUR: ("ruby", "a.rb")}),
    ("a.php", PHP, {SYNTAX: ("php", "-l", "a.php"), NAME: ("php", "a.php"), RUN: ("php", "a.php"), BEHAVIOUR: ("php", "a.php")}),
    ("a.sh", SHELL, {SYNTAX: ("bash", "-n", "a.sh"), RUN: ("bash", "a.sh"), BEHAVIOUR: ("bash", "a.sh")}),
    ("Makefile", "all:\n\t@true\n", {SYNTAX: ("make", "-n"), NAME: ("make",), RUN: ("make",)}),
    ("a.json", '{"a": 1, "text": "long enough to be cut where it is told"}\n', {SYNTAX: ("node", "-e", "JSON.parse(fs.readFileSync('a.json'))")}),
    ("a.yaml", "a: 1\n", {SYNTAX: (PY, "-c", "import yaml; yaml.safe_load(open('a.yaml').read())"), NAME: (PY, "-c", "import yaml; yaml.safe_load(open('a.yaml'))")}),
    ("a.toml", "a = 1\n", {SYNTAX: (PY, "-c", "import tomllib; tomllib.loads(open('a.toml').read())")}),
    ("a.md", "# A\n", {NAME: (PY, "-m", "gate", "notes", ".")}),
]  # fmt: skip
CASES = [(file, text, level, command) for file, text, levels in SEEN for level, command in levels.items()]


def broken(file: str, text: str, level: Level) -> str:
    canary = AVIARY.find(file, "")
    assert canary is not None
    return canary.BREAKS[level](text, MARK.format(level[0])) or ""


def run(command: Sequence[str], folder: Path) -> tuple[bool, str]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("file", "text", "level", "command"), CASES, ids=[f"{f}-{lv}-{Path(c[0]).name}" for f, _, lv, c in CASES]
)
def test_it_is_seen_with_its_mark_and_the_whole_file_passes(
    tmp_path: Path, file: str, text: str, level: Level, command: Sequence[str]
) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"needs {command[0]}")
    (tmp_path / file).write_text(broken(file, text, level))
    failed = run(command, tmp_path)
    (tmp_path / file).write_text(text)
    assert (failed[0], MARK.format(level[0]) in failed[1], run(command, tmp_path)[0]) == (False, True, True), failed


@pytest.mark.parametrize("level", [NAME, TYPE, RUN, BEHAVIOUR])
def test_in_python_a_formatter_has_nothing_to_say_and_a_linter_only_to_an_unknown_name(
    tmp_path: Path, level: Level
) -> None:
    (tmp_path / "a.py").write_text(broken("a.py", PYTHON, level))
    ruff = [str(BIN / "ruff"), "check", "--isolated", "--select=E,F,W,I,B,N,D1,UP,SIM,RET,ANN", "a.py"]
    formatter = [str(BIN / "ruff"), "format", "--isolated", "--check", "a.py"]
    assert (run(formatter, tmp_path), run(ruff, tmp_path)[0]) == (
        (True, "1 file already formatted\n"),
        level is not NAME,
    )


@pytest.mark.parametrize("level", [TYPE, RUN])
def test_in_go_a_formatter_has_nothing_to_say(tmp_path: Path, level: Level) -> None:
    if shutil.which("gofmt") is None:
        pytest.skip("needs gofmt")
    (tmp_path / "a.go").write_text(broken("a.go", GO, level))
    assert run(("gofmt", "-l", "a.go"), tmp_path) == (True, "")


def test_a_file_without_annotations_is_broken_where_a_type_checker_looks_away_from_such(tmp_path: Path) -> None:
    (tmp_path / "bare.py").write_text(broken("bare.py", "def double(value):\n    return 2 * value\n", TYPE))
    (tmp_path / "typed.py").write_text(broken("typed.py", PYTHON, TYPE))
    passed, said = run((str(BIN / "mypy"), "--config-file=", "bare.py", "typed.py"), tmp_path)
    assert (passed, [line.partition(":")[0] for line in said.splitlines() if "error:" in line]) == (False, ["typed.py"])


def test_typescript_is_broken_in_names_and_types(js_project: Path) -> None:
    js_project.mkdir()
    declarations = "declare const version: string;\n"
    files = {
        "name.ts": TYPESCRIPT,
        "type.ts": TYPESCRIPT,
        "run.ts": TYPESCRIPT,
        "name.d.ts": declarations,
        "type.d.ts": declarations,
    }
    for file, text in files.items():
        (js_project / file).write_text(broken(file, text, Level(file.partition(".")[0])))
    passed, said = run(("npx", "tsc", "--noEmit", "--strict", "--target", "es2022", *files), js_project)
    named = {
        line.partition("(")[0] for line in said.splitlines() if MARK.format("n") in line or MARK.format("t") in line
    }
    assert (passed, named) == (False, {"name.ts", "type.ts", "name.d.ts", "type.d.ts"}), said


@pytest.mark.parametrize(
    ("text", "level", "wanted"),
    [
        pytest.param("import os; import sys\nprint(1)\n", NAME, "import os; import sys\n\ncnry0000nz\nprint(1)\n", id="imports in one line"),
        pytest.param("", NAME, "cnry0000nz\n", id="an empty file"),
        pytest.param("print 'old'\n", NAME, "print 'old'\n\ncnry0000nz\n", id="Python that this one cannot read"),
        pytest.param("def f(): return 1\n", BEHAVIOUR, None, id="a function in one line"),
        pytest.param(
            'def f():\n    """Doc."""\n    @g\n    def h():\n        yield\n', BEHAVIOUR,
            'def f():\n    """Doc."""\n    int("cnry0000bz")\n    @g\n    def h():\n        int("cnry0000bz")\n        yield\n',
            id="nested, behind a docstring",
        ),
    ],
)  # fmt: skip
def test_where_a_line_is_put_into_python(text: str, level: Level, wanted: str | None) -> None:
    canary = AVIARY.find("a.py", "")
    assert canary is not None
    assert canary.BREAKS[level](text, MARK.format(level[0])) == wanted


def test_a_script_of_javascript_is_broken_in_its_own_style() -> None:
    assert broken("a.js", JAVASCRIPT, BEHAVIOUR).splitlines()[2:5] == [
        "const double = (value) => {", "  JSON.parse('cnry0000bz')", "  return 2 * value",
    ]  # fmt: skip


def test_a_component_is_broken_in_its_script() -> None:
    assert (
        broken("a.vue", "<script setup>\nlet a\n</script>\n", NAME) == "<script setup>\ncnry0000nz;\nlet a\n</script>\n"
    )


@pytest.mark.parametrize(
    ("path", "first_line", "wanted"),
    [
        ("a/b.d.ts", "", "TypeScript declarations"), ("a.test.ts", "", "TypeScript"), ("Makefile", "", "make"), ("bin/run", "#!/usr/bin/env -S python3.11 -u", "Python"),
        ("hook", "#!/bin/sh", "shell"), ("hook", "#!", None), ("LICENSE", "", None), (".gitignore", "", None),
    ],
)  # fmt: skip
def test_which_canary_is_for_which_file(path: str, first_line: str, wanted: str | None) -> None:
    found = AVIARY.find(path, first_line)
    assert (found.NAME if found else None) == wanted


def test_every_break_carries_the_mark_and_keeps_what_was_there() -> None:
    assert (len(all_canaries()), len(CANARIES)) == (20, 20)
    for canary in all_canaries():
        for level, breaks in canary.BREAKS.items():
            text = breaks("", "cnry0000xz")
            assert text is None or "cnry0000xz" in text, (canary.NAME, level)
