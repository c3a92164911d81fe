"""Vaults of notes: what is broken is found, and its near misses stay quiet."""

import subprocess
import sys
from pathlib import Path

import pytest

from gate.notes import Wants, check

ROOT = Path(__file__).parents[2]


def vault(root: Path, **notes: str) -> Path:
    files = {
        "Foo.md": "---\naliases: [Foozle]\n---\n# Head\ntext ^block1\n",
        "img.png": "x",
        "Templates/T.md": "t",
        **notes,
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("[[Missing]]", ["broken-wikilink"]),
        ("![[missing.png]]", ["broken-wikilink"]),
        ("[[Foo#Nowhere]]", ["broken-anchor"]),
        ("[[Foo#^nothing]]", ["broken-anchor"]),
        ("[x](gone.md)", ["broken-link"]),
        ("![x](gone.png)", ["broken-link"]),
        ("[x](Foo.md#nowhere)", ["broken-anchor"]),
        ("---\na: 1\ntext without end", ["bad-frontmatter"]),
        ("---\na: 1\na: 2\n---\n", ["bad-frontmatter"]),
        ("---\n\ta: 1\n---\n", ["bad-frontmatter"]),
        ("---\ntitle: a: b\n---\n", ["bad-frontmatter"]),
        ("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n", ["merge-marker", "merge-marker"]),
        ("[[Foo.md]] [[Foo|alias]] [[Foo#Head]] [[Foo#^block1]] ![[img.png]] [[foo]] [[Foozle]] [[T]]", []),
        ("| a |\n|---|\n| [[Foo\\|a]] |", []),
        ("`[[Missing]]` and\n```\n[[Missing]]\n```\n~~~\n[x](gone.md)\n~~~", []),
        (
            "[a](Foo.md) [b](./Foo.md#head) [c](<Foo.md>) [d](https://x.example/y) [e](mailto:a@b) [f](#here)\n# Here",
            [],
        ),
        ("[x](Templates/T.md) [y](Templates) [z](/Foo.md)", []),
        ("---\ntitle: fine\n---\n# A", []),
        ("===\n=======\n", []),
    ],
)
def test_a_note_is_judged(tmp_path: Path, text: str, rules: list[str]) -> None:
    _, findings = check(vault(tmp_path, **{"note.md": text}))
    assert [f.rule for f in findings] == rules


def test_a_finding_names_its_line(tmp_path: Path) -> None:
    _, [finding] = check(vault(tmp_path, **{"sub/note.md": "a\n\n[[Missing]]"}))
    assert (finding.path, finding.line, finding.message) == ("sub/note.md", 3, "[[Missing]] leads to no note")


def test_a_name_that_two_notes_have_is_ambiguous_unless_one_is_beside(tmp_path: Path) -> None:
    root = vault(tmp_path, **{"a/X.md": "", "b/X.md": "", "c/n.md": "[[X]] [[a/X]]", "a/n.md": "[[X]]"})
    assert [(f.path, f.rule) for f in check(root)[1]] == [("c/n.md", "ambiguous-wikilink")]


def test_keys_can_be_required_and_notes_to_be_allowed(tmp_path: Path) -> None:
    root = vault(tmp_path, **{"n.md": "---\ntags: [a]\n---\n[[Later]] [[Later2]]"})
    found = check(root, Wants(frontmatter=("tags",), allow_missing=1))[1]
    assert sorted((f.path, f.rule) for f in found) == [
        ("Foo.md", "frontmatter-missing"), ("Templates/T.md", "frontmatter-missing"), ("n.md", "broken-wikilink"),
    ]  # fmt: skip


def test_the_command_says_how_many_it_checked(tmp_path: Path) -> None:
    command = [sys.executable, "-I", str(ROOT / "gate" / "__main__.py"), "notes", str(vault(tmp_path))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "2 notes checked, 0 problems\n")


def test_the_policy_asks_for_keys_and_allows_missing_notes(tmp_path: Path) -> None:
    root = vault(tmp_path / "notes", **{"n.md": "---\ntitle: n\n---\n[[Later]]"})
    policy = '[steps.n]\nrun = "gate notes notes"\n[notes]\nrequire = ["aliases"]\nallow_missing = 1\n'
    (tmp_path / "gate.toml").write_text(policy)
    command = [sys.executable, "-I", str(ROOT / "gate" / "__main__.py"), "notes", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, [line.split(": ")[0] for line in done.stdout.splitlines()]) == (
        1, ["Templates/T.md:1", "n.md:1", "3 notes checked, 2 problems"],
    )  # fmt: skip
