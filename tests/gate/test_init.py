"""What is proposed for a repository, and that it can be used as it is."""

import json
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
        ({"pyproject.toml": "[tool.ruff]\n[tool.mypy]\n[tool.pytest.ini_options]\n", "app/__init__.py": ""}, ["ruff check .", "mypy app", "pytest -q"]),
        ({"tests/test_a.py": "import unittest\n", "tests/__init__.py": ""}, ["python3 -m unittest discover -s tests -t ."]),
        ({"tests/test_a.py": "def test_a():\n    pass\n"}, ["pytest -q"]),
        ({"go.mod": "module a\n"}, ["go vet ./...", "go test ./..."]),
        ({"Cargo.toml": "[workspace]\n"}, ["cargo clippy --workspace --all-targets -- -D warnings", "cargo test --workspace"]),
        ({"pom.xml": "<project/>", "mvnw": ""}, ["./mvnw -B verify"]),
        ({"build.gradle.kts": ""}, ["gradle check"]),
        ({"app.sln": ""}, ["dotnet test"]),
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
