"""What people type: options, odd files and folders, each with one clear answer."""

import subprocess
from pathlib import Path

import pytest

from gate.policy import FILE
from tests.gate_runs import GATE, gate, repository

STEP = '[steps.a]\nrun = "{}"\nevidence = "exit"\n'


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*GATE, *words], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (STEP.format("# pytest"), "gate.toml: steps.a.run: expected a command, got nothing but a comment"),
        (STEP.format("tr\\u0000ue"), "gate.toml: steps.a.run: expected text without NUL characters, got 'tr\\x00ue'"),
        (
            STEP.format("test -d .") + '[[waivers]]\nstep = "a"\nreason = "r"\nexpires = "2099-01-01"\n',
            "gate.toml: waivers[0].expires: expected a date such as 2026-12-31, without quotes, got '2099-01-01'",
        ),
    ],
)
def test_a_policy_that_cannot_mean_what_it_says_is_an_error(tmp_path: Path, policy: str, said: str) -> None:
    done = gate(repository(tmp_path, policy))
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_a_byte_order_mark_is_read_over(tmp_path: Path) -> None:
    assert gate(repository(tmp_path, "\ufeff" + STEP.format("test -d ."))).returncode == 0


def test_a_policy_that_is_a_link_to_nowhere_is_an_error(tmp_path: Path) -> None:
    repo = repository(tmp_path, None)
    (repo / FILE).symlink_to("gone.toml")
    done = gate(repo)
    assert (done.returncode, done.stderr) == (2, "gate: gate.toml: expected a file, got a link that leads nowhere\n")


def test_a_policy_without_steps_is_told_from_none(tmp_path: Path) -> None:
    done = gate(repository(tmp_path, "# nothing yet\n"))
    assert (done.returncode, done.stdout) == (
        3, "UNGATED  gate.toml is there and has no step; `gate init` proposes some\npolicy: gate.toml\n",
    )  # fmt: skip


def test_a_plan_shows_the_commands_that_would_run(tmp_path: Path) -> None:
    done = gate(repository(tmp_path, STEP.format("make check")), "--plan")
    assert (done.returncode, done.stdout) == (
        4, "– a  not_run       0.00 s  make check\n\nHOLLOW  1 step would run; nothing ran (--plan)\npolicy: gate.toml\n",
    )  # fmt: skip


def test_a_waiver_on_the_only_step_says_that_it_proves_nothing(tmp_path: Path) -> None:
    waived = '[steps.a]\nrun = "python3 -m unittest"\n\n[[waivers]]\nstep = "a"\nreason = "r"\nexpires = 2099-01-01\n'
    done = gate(repository(tmp_path, waived))
    assert (done.returncode, "no step showed what it verified, and the waiver of a proves nothing in its place" in done.stdout) == (
        4, True,
    ), done.stdout  # fmt: skip


def test_init_in_a_folder_below_works_for_the_whole_worktree(tmp_path: Path) -> None:
    repo = repository(tmp_path, None, {"go.mod": "module x\n", "sub/a.txt": ""})
    done = command("init", "--repo", str(repo / "sub"), "--write")
    assert (done.returncode, (repo / FILE).is_file(), (repo / "sub" / FILE).exists()) == (0, True, False), done.stderr


def test_init_writes_no_proposal_without_a_step(tmp_path: Path) -> None:
    repo = repository(tmp_path, None)
    done = command("init", "--repo", str(repo), "--write")
    said = f"gate: --write: expected something that can be checked in {repo}, found nothing to propose\n"
    assert (done.returncode, done.stderr, (repo / FILE).exists()) == (2, said, False)


def test_a_vault_without_notes_is_not_well(tmp_path: Path) -> None:
    done = command("notes", str(tmp_path))
    said = f"gate: expected notes (*.md) in {tmp_path}, found none: HOLLOW\n"
    assert (done.returncode, done.stderr) == (4, said)


def test_notes_of_a_file_names_what_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "A.md").write_text("# A\n")
    done = command("notes", str(tmp_path / "A.md"))
    assert (done.returncode, done.stderr) == (2, f"gate: the vault: expected a folder, got {tmp_path / 'A.md'}\n")


def test_every_rule_of_the_notes_is_explained() -> None:
    assert [command("explain", rule).returncode for rule in ("broken-wikilink", "merge-marker")] == [0, 0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["audit", "--json"], "gate audit: unrecognized arguments: --json; `gate audit --help` explains\n"),
        (["--json"], "gate: the following arguments are required: COMMAND; `gate --help` explains\n"),
    ],
)
def test_a_word_that_is_not_known_points_to_the_help_of_its_command(words: list[str], said: str) -> None:
    done = command(*words)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
