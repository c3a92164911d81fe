"""Commands, followed to the programs that they really run."""

from pathlib import Path

import pytest

from gate.commands.resolve import resolve
from tests.evidence import write_tree

TREE = {
    "package.json": '{"name": "top", "workspaces": ["pkgs/*"], "scripts": {'
    '"test": "jest --ci", "pretest": "eslint .", "lint:a": "eslint a", "lint:b": "eslint b",'
    '"all": "run-s \'lint:*\'",'
    '"both": "concurrently \\"npm:lint:*\\" \\"vitest run\\"",'
    '"loop": "npm run loop", "wrapped": "cross-env A=1 jest"}}',
    "pkgs/a/package.json": '{"name": "@x/a", "scripts": {"test": "vitest run", "build": "tsc -b"}}',
    "pkgs/b/package.json": '{"name": "@x/b", "scripts": {"test": "mocha"}}',
    "Makefile": "PY := python3\nTARGETS = a \\\n  b\nifdef X\nendif\n"
    ".PHONY: test\nlint:\n\truff check $(TARGETS)\ntest: lint ## all\n\t@$(PY) -m pytest $(ARGS)\n"
    "sub:\n\t$(MAKE) -C inner\nself: self\n\tmake self\n",
    "inner/GNUmakefile": "include rules.mk\n",
    "inner/rules.mk": "all: ; go test ./...\n",
    "tox.ini": "[tox]\nenv_list = py{311,312}, lint\n[testenv]\ncommands =\n    pytest {posargs:-q} \\\n      tests\n"
    "[testenv:lint]\ncommands = - ruff check\n",
    "noxfile.py": "import nox\n"
    "@nox.session\ndef tests(session):\n    session.install('x')\n    session.run('pytest', '-q')\n"
    "@nox.session\ndef lint(session):\n    session.run('ruff', 'check')\n",
    "pyproject.toml": "[tool.pdm.scripts]\ntest = 'pytest -x'\n[tool.poe.tasks]\nlint = {shell = 'ruff check; mypy'}\n"
    "[tool.hatch.envs.default.scripts]\ncov = ['pytest --cov', 'coverage report']\n",
    "scripts/ci": "#!/usr/bin/env bash\nset -e\ncheck() {\n  cargo test\n}\ncheck\n",
    "scripts/main.py": "import pytest, sys\nsys.exit(pytest.main(['-q']))\n",
    "tool.rb": "#!/usr/bin/env ruby\ncargo test\n",
    "justfile": "set shell := ['bash', '-c']\nname := 'x'\ntest *args: lint\n    @pytest {{args}}\nlint:\n    ruff check\n",
    "Taskfile.yml": "tasks:\n  test: {deps: [lint], cmds: [pytest, {task: types}]}\n  lint: ruff check\n"
    "  types: {cmd: mypy}\n",
    "mise.toml": "[tasks]\nlint = 'ruff check'\n[tasks.test]\ndepends = ['lint']\nrun = ['pytest', 'mypy']\n",
    "deno.json": '{"tasks": {"test": "deno test -A", "ci": {"command": "deno lint", "dependencies": ["test"]}}}',
    "composer.json": '{"scripts": {"test": ["@lint", "phpunit"], "lint": "phpcs"}}',
}

CASES = {
    "npm test": ["npm test", "eslint .", "jest --ci"],
    "npm t -- --bail": ["npm t -- --bail", "eslint .", "jest --ci --bail"],
    "npm run test -w @x/a": ["npm run test -w @x/a", "vitest run"],
    "npm test --workspaces": ["npm test --workspaces", "vitest run", "mocha"],
    "npm --prefix pkgs/b test": ["npm --prefix pkgs/b test", "mocha"],
    "pnpm -r run test": ["pnpm -r run test", "vitest run", "mocha"],
    "pnpm --filter '@x/*' build": ["pnpm --filter '@x/*' build", "tsc -b"],
    "yarn workspace @x/b test": ["yarn workspace @x/b test", "mocha"],
    "yarn jest -i": ["yarn jest -i", "jest -i"],
    "npx --yes jest@29 --ci": ["npx --yes jest@29 --ci", "jest --ci"],
    "npm run all": ["npm run all", "run-s 'lint:*'", "npm run lint:a", "eslint a", "npm run lint:b", "eslint b"],
    "npm run wrapped": ["npm run wrapped", "cross-env A=1 jest", "jest"],
    "npm run loop": ["npm run loop", "npm run loop"],
    "turbo run test --filter=@x/a": ["turbo run test --filter=@x/a", "vitest run"],
    "make test ARGS=-x": ["make test ARGS=-x", "ruff check a b", "python -m pytest -x", "pytest -x"],
    "make sub": ["make sub", "make -C inner", "go test ./..."],
    "make self": ["make self", "make self"],
    "cd inner && make": ["make", "go test ./..."],
    "uv run --frozen --with x pytest -q": ["uv run --frozen --with x pytest -q", "pytest -q"],
    "uv run -m pytest": ["uv run -m pytest", "python -m pytest", "pytest"],
    "poetry run python -Im pytest": ["poetry run python -Im pytest", "python -Im pytest", "pytest"],
    "coverage run --source a -m pytest x": [
        "coverage run --source a -m pytest x",
        "python -m pytest x",
        "pytest x",
    ],
    "timeout -k 5 10m env A=1 nice -n 5 pytest": [
        "timeout -k 5 10m env A=1 nice -n 5 pytest",
        "env A=1 nice -n 5 pytest",
        "nice -n 5 pytest",
        "pytest",
    ],
    "tox": ["tox", "pytest -q tests", "pytest -q tests", "ruff check"],
    "tox -e py311 -- -x": ["tox -e py311 -- -x", "pytest -x tests"],
    "nox -s tests": ["nox -s tests", "pytest -q"],
    "pdm run test -k a": ["pdm run test -k a", "pytest -x -k a"],
    "poe lint": ["poe lint", "ruff check", "mypy"],
    "hatch run cov": ["hatch run cov", "pytest --cov", "coverage report"],
    "bash -euxo pipefail -c 'cd inner; make'": ["bash -euxo pipefail -c 'cd inner; make'", "make", "go test ./..."],
    "./scripts/ci": ["ci", "set -e", "cargo test", "check"],
    "python scripts/main.py": ["python scripts/main.py", "pytest"],
    "./tool.rb": ["tool.rb"],
    "../outside.sh": ["outside.sh"],
    "just test": ["just test", "ruff check", "pytest {{args}}"],
    "task test": ["task test", "ruff check", "pytest", "task types", "mypy"],
    "mise run test": ["mise run test", "ruff check", "pytest", "mypy"],
    "deno task ci": ["deno task ci", "deno test -A", "deno lint"],
    "docker compose -f c.yml run --rm -e A=1 app pytest -q": [
        "docker compose -f c.yml run --rm -e A=1 app pytest -q",
        "pytest -q",
    ],
    "docker run --rm -v .:/w python:3 pytest": ["docker run --rm -v .:/w python:3 pytest", "pytest"],
    "node --x node_modules/jest/bin/jest.js -i": ["node --x node_modules/jest/bin/jest.js -i", "jest -i"],
    "find . | xargs -n 1 pytest": ["find .", "xargs -n 1 pytest", "pytest"],
    "go run gotest.tools/gotestsum@latest -- ./...": [
        "go run gotest.tools/gotestsum@latest -- ./...",
        "gotestsum ./...",
    ],
    "hatch test -- -x": ["hatch test -- -x", "pytest -x"],
    "composer test": ["composer test", "composer lint", "phpcs", "phpunit"],
    '"$PYTHON" -m unittest': ["python -m unittest", "unittest"],
}


@pytest.mark.parametrize(("command", "expected"), CASES.items(), ids=CASES)
def test_a_command_is_followed(tmp_path: Path, command: str, expected: list[str]) -> None:
    root = write_tree(tmp_path / "repo", TREE)
    (root / "scripts/ci").chmod(0o755)
    (root.parent / "outside.sh").write_text("pytest\n")
    found = [" ".join(c.argv).replace("run-s lint:*", "run-s 'lint:*'") for c in resolve(command, root, root=root)]
    shown = [text.replace("'", "").replace('"', "") for text in found]
    assert shown == [text.replace("'", "").replace('"', "") for text in expected]


def test_where_and_how_a_program_starts_is_kept(tmp_path: Path) -> None:
    found = resolve("cd a && (cd b && .venv/bin/python -m mypy .) || ruff check", tmp_path, root=tmp_path)
    assert [(c.argv[0], c.cwd, c.launcher, c.sure) for c in found] == [
        ("python", tmp_path / "a/b", (), True),
        ("mypy", tmp_path / "a/b", (".venv/bin/python", "-m"), True),
        ("ruff", tmp_path / "a", (), False),
    ]


def test_many_levels_end(tmp_path: Path) -> None:
    scripts = ", ".join(f'"s{i}": "npm run s{i + 1} && npm run s{i + 1}"' for i in range(40))
    write_tree(tmp_path, {"package.json": f'{{"scripts": {{{scripts}}}}}'})
    assert len(resolve("npm run s0", tmp_path, root=tmp_path)) == 400


BROKEN = {
    "package.json": (
        "npm test",
        ["", "{", "[]", '{"scripts": 3}', '{"scripts": {"test": 3}}', '{"workspaces": [3]}', "\0"],
    ),
    "pnpm-workspace.yaml": (
        "pnpm -r test",
        ["", "[", "packages: 3", "packages: ['../../**', '/**', '**']", "a: !!x 1"],
    ),
    "Makefile": (
        "make all",
        ["", "all: all\n\t$(X)", "X = $(X)\nall:\n\t$(X)", "\tx", "all:\n\t'", "include /etc/passwd"],
    ),
    "tox.ini": (
        "tox",
        ["", "[", "[tox]\nenvlist = {a", "[testenv]\ncommands", "[testenv]\ncommands = {posargs", "x = %("],
    ),
    "tox.toml": ("tox", ["x", "env_list = 3", "env = 3", "env_run_base = 3", "[env_run_base]\ncommands = [3]"]),
    "pyproject.toml": (
        "poe a",
        ["x", "tool = 3", "[tool]\npoe = 3", "[tool.poe]\ntasks = 3", "[tool.hatch]\nenvs = 3"],
    ),
    "noxfile.py": ("nox", ["", "def", "@nox.session\ndef a(s): s.run(*x)", "\0"]),
    "justfile": ("just a", ["", "a: a", "a:\n  just a", ":"]),
    "Taskfile.yml": ("task a", ["", "[", "tasks: 3", "tasks: {a: 3}", "tasks: {a: {cmds: [{task: a}], deps: 3}}"]),
    "mise.toml": ("mise run a", ["x", "tasks = 3", "[tasks]\na = 3"]),
    "deno.json": ("deno task a", ["", "[]", '{"tasks": 3}', '{"tasks": {"a": 3}}']),
    "composer.json": ("composer a", ["", "[]", '{"scripts": 3}', '{"scripts": {"a": 3, "b": [3]}}']),
    "project.json": ("nx test", ["", "[]", '{"targets": 3}', '{"targets": {"test": {"options": 3}}}']),
    "a.sh": ("bash a.sh", ["", "\0", "bash a.sh", "'", "$(", "<<EOF\nx"]),
}


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, (_, texts) in BROKEN.items() for text in texts], ids=repr
)
def test_a_file_that_is_broken_stops_nobody(tmp_path: Path, name: str, text: str) -> None:
    root = write_tree(tmp_path / "repo", {name: text})
    command = BROKEN[name][0]
    assert resolve(command, root, root=root)[0].argv == tuple(command.split())


def test_a_workspace_stays_inside_and_out_of_dependencies(tmp_path: Path) -> None:
    package = '{"name": "x", "scripts": {"test": "jest"}}'
    tree = {"package.json": '{"workspaces": ["**", "../*"]}', "a/b/package.json": package}
    root = write_tree(tmp_path / "repo", tree | {"node_modules/c/package.json": package})
    write_tree(tmp_path / "other", {"package.json": package})
    found = resolve("npm test --workspaces", root, root=root)
    assert [c.cwd for c in found if c.argv[0] == "jest"] == [root / "a/b"]
