"""What is proposed for a repository, and that it can be used as it is."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gate.init import propose
from gate.policy import parse_repository

ROOT = Path(__file__).parents[2]
GATE = [sys.executable, "-I", str(ROOT / "gate" / "__main__.py")]


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


PACKAGE = json.dumps({"scripts": {"lint": "eslint .", "build": "vite build", "test": "vitest run", "dev": "vite"}})


@pytest.mark.parametrize(
    ("files", "steps"),
    [
        ({"package.json": PACKAGE, "tsconfig.json": "{}"}, ["npm run lint", "npx tsc --noEmit", "npm run build", "npm run test"]),
        ({"package.json": PACKAGE, "pnpm-lock.yaml": ""}, ["pnpm run lint", "pnpm run build", "pnpm run test"]),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, []),
        ({"package.json": '{"scripts": {"lint": "echo no linter", "build": "true", "test": "node --test"}}'}, ["npm run test"]),
        ({"pyproject.toml": "[tool.ruff]\n[tool.mypy]\n[tool.pytest.ini_options]\n", "app/__init__.py": ""}, ["ruff check .", "mypy app", "pytest -q"]),
        ({"tests/test_a.py": "import unittest\n", "tests/__init__.py": ""}, ["python3 -m unittest discover -s tests -t ."]),
        ({"tests/test_a.py": "def test_a():\n    pass\n"}, ["pytest -q"]),
        ({"go.mod": "module a\n"}, ["go vet ./...", "go test ./..."]),
        ({"Cargo.toml": "[workspace]\n"}, ["cargo clippy --workspace --all-targets -- -D warnings", "cargo test --workspace"]),
        ({"pom.xml": "<project/>", "mvnw": ""}, ["./mvnw -B verify"]),
        ({"build.gradle.kts": ""}, ["gradle check"]),
        ({"app.sln": ""}, ["dotnet test"]),
        ({"package.json": json.dumps({"scripts": {"test": "vitest", "lint": "eslint . --fix"}, "packageManager": "pnpm@10.0.0"})}, ["pnpm exec eslint .", "pnpm run test --run"]),
        ({"package.json": json.dumps({"devDependencies": {"jest": "1"}}), "tsconfig.json": '{"files": [], "references": []}'}, ["npx tsc -b", "npx jest"]),
        ({"pyproject.toml": "[dependency-groups]\ndev = ['pytest>=8', 'ruff', 'mypy']\n", "uv.lock": "", "src/x/__init__.py": ""}, ["uv run ruff check .", "uv run mypy src", "uv run pytest -q"]),
        ({"tox.ini": "[testenv]\ncommands = pytest\n"}, ["tox"]),
        ({"noxfile.py": ""}, ["nox"]),
        ({"manage.py": "", "requirements.txt": "django\nblack\n"}, ["black --check .", "python3 manage.py test"]),
        ({"pom.xml": "<project><modules><module>a</module></modules></project>", "a/pom.xml": "<project/>"}, ["mvn -B verify"]),
        ({"settings.gradle.kts": "", "gradlew": ""}, ["./gradlew check"]),
        ({"App.slnx": "", "src/App.csproj": ""}, ["dotnet test"]),
        ({"CMakeLists.txt": "project(x)\nenable_testing()\n"}, ["cmake -S . -B build && cmake --build build && ctest --test-dir build --no-tests=error"]),
        ({"Gemfile": "", "bin/rails": "", ".rubocop.yml": ""}, ["bundle exec rubocop", "bin/rails test"]),
        ({"composer.json": '{"name": "a/b"}', "phpunit.xml.dist": "", "phpstan.neon": ""}, ["vendor/bin/phpstan analyse", "vendor/bin/phpunit"]),
        ({"justfile": "test:\n  cargo test\n"}, ["just test"]),
        ({".pre-commit-config.yaml": ""}, ["pre-commit run --all-files"]),
        ({f"n/{x}.md": "[[a]]" for x in "abc"}, ["gate notes n"]),
        ({".github/workflows/ci.yml": "on: [push]\njobs: {t: {steps: [{run: npm ci}, {run: bats tests, working-directory: sub}, {run: ./check.sh}, {run: 'pytest ${{ x }}'}]}}\n"}, ["./check.sh", "bats tests"]),
        ({".github/workflows/ci.yml": "on: [push]\njobs:\n  t:\n    steps:\n      - run: |\n          # test all\n          if true; then\n            ./check.sh \\\n              --all\n          fi\n          check() {\n"}, ["./check.sh --all"]),
        ({".github/workflows/ci.yml": "on: [push]\njobs: {t: {steps: [{run: shellcheck a.sh || true}, {run: bats spec | cat}, {run: bats spec}]}}\n"}, ["bats spec"]),
        ({".github/workflows/nightly.yml": "on: schedule\njobs: {t: {steps: [{run: ./check.sh}]}}\n"}, []),
        ({"Makefile": "test:\n\ttrue\nlint:\n\ttrue\n"}, ["make lint", "make test"]),
        ({".pre-commit-config.yaml": "repos: []\n"}, ["pre-commit run --all-files"]),
        ({".obsidian/app.json": "{}", "a.md": ""}, ["gate notes ."]),
        ({"README.md": "hello"}, []),
        ({"package.json": "not json", "pyproject.toml": "= broken"}, []),
    ],
)  # fmt: skip
def test_the_steps_follow_from_what_is_there(tmp_path: Path, files: dict[str, str], steps: list[str]) -> None:
    proposal = propose(tree(tmp_path, files))
    assert [line.run for line in proposal.lines] == steps
    assert [s.run for s in parse_repository(proposal.render().encode(), "proposal").steps] == steps


def test_each_project_of_a_monorepo_has_its_own_steps(tmp_path: Path) -> None:
    tree(
        tmp_path, {"web/package.json": PACKAGE, "api/go.mod": "module a\n", "web/node_modules/x/package.json": PACKAGE}
    )
    assert [(line.name, line.cwd) for line in propose(tmp_path).lines] == [
        ("vet-api", "api"), ("test-api", "api"), ("lint-web", "web"), ("build-web", "web"), ("test-web", "web"),
    ]  # fmt: skip


def test_the_proposal_gives_the_reason_for_each_line(tmp_path: Path) -> None:
    assert propose(tree(tmp_path, {"go.mod": "module a\n"})).render() == (
        '# go.mod is here\n[steps.vet]\nrun = "go vet ./..."\nkind = "lint"\n\n'
        '# go.mod is here\n[steps.test]\nrun = "go test ./..."\nkind = "test"\n'
    )


def test_a_policy_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    tree(tmp_path, {"gate.toml": "mine", "go.mod": "module a\n"})
    done = subprocess.run(
        [*GATE, "init", "--repo", str(tmp_path), "--write"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, (tmp_path / "gate.toml").read_text()) == (2, "mine")


def test_the_folder_of_git_itself_is_no_place_for_a_policy(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path)], check=True)
    done = subprocess.run([*GATE, "init", "--repo", str(tmp_path)], capture_output=True, text=True, check=False)
    said = f"gate: {tmp_path}: expected a folder of sources, found git's own; go to a worktree of it\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_a_check_says_what_fails_today(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "tests/test_a.py": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.fail()\n",
            "tests/__init__.py": "",
        },
    )
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    done = subprocess.run(
        [*GATE, "init", "--repo", str(tmp_path), "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, "RED" in done.stdout) == (1, True)


NODE = {
    "package.json": json.dumps({"scripts": {"test": "node --test"}}),
    "a.test.mjs": "import test from 'node:test'; test('a', () => {})\n",
}
RUNNING = {
    "make": ({"Makefile": "test:\n\tpython3 -m unittest\n", "test_a.py": "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): pass\n"}, 0),
    "an unknown check": ({"Makefile": "lint:\n\tgrep -q x Makefile\n"}, 0),
    "npm": (NODE, 0),
    "npm workspaces": (NODE | {"package.json": '{"workspaces": ["p/*"]}', "p/a/package.json": NODE["package.json"], "p/a/a.test.mjs": NODE["a.test.mjs"]}, 0),
    "a workflow": ({".github/workflows/ci.yml": "on: push\njobs: {t: {steps: [{run: ./check.sh}]}}\n", "check.sh": "exit 3\n"}, 1),
    "a vault": ({".obsidian/app.json": "{}", "a.md": "[[b]]", "b.md": ""}, 0),
    "a broken vault": ({".obsidian/app.json": "{}", "a.md": "[[gone]]"}, 1),
    "nothing to test": (NODE | {"a.test.mjs": ""}, 4),
}  # fmt: skip


@pytest.mark.parametrize(("files", "code"), RUNNING.values(), ids=RUNNING)
def test_a_proposal_runs_to_an_honest_verdict(tmp_path: Path, files: dict[str, str], code: int) -> None:
    subprocess.run(["git", "init", "-q", str(tree(tmp_path / "repo", files))], check=True)
    command = [*GATE, "init", "--repo", str(tmp_path / "repo"), "--check"]
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env, timeout=60)
    assert done.returncode == code, done.stdout + done.stderr
