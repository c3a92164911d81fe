"""Which commands can do nothing, as they are written and through the scripts of a package."""

import json
from pathlib import Path

import pytest

from gate.commands.idle import is_idle

SCRIPTS = {
    "lint": "echo no linter", "build": "true", "all": "npm run lint && npm run build", "test": "echo no tests && exit 1",
    "types": "echo types && tsc",
}  # fmt: skip


@pytest.mark.parametrize(
    ("command", "idle"),
    [
        ("true", True), (":", True), ("exit 0", True), ("/bin/true", True), ("echo no linter", True),
        ("echo a && true\n# later\n", True), ("printf 'a'; exit", True), ("npm run lint", True),
        ("npm run all", True), ("bun run build", True), ("./check.sh", False), ("exit 1", False),
        ("echo $(make check)", False), ("true && make check", False), ("test -d .", False), ("npm test", False),
        ("npm run types", False), ("npm run gone", False), ("make check", False),
    ],
)  # fmt: skip
def test_a_command_that_only_prints_or_succeeds_is_idle(tmp_path: Path, command: str, idle: bool) -> None:
    (tmp_path / "package.json").write_text(json.dumps({"scripts": SCRIPTS}))
    (tmp_path / "Makefile").write_text("check:\n\t@echo start\n\t$(MAKE) -C sub real\n")
    assert is_idle(command, tmp_path, root=tmp_path) is idle
