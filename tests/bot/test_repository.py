"""A repository's own settings."""

from dataclasses import replace
from pathlib import Path

import pytest

from bot.errors import ConfigError
from bot.tickets import repository
from bot.tickets.repository import AgentWish, Merge, RepositorySettings, SandboxWish, read_settings
from bot.tickets.store import open_store, sqlite_url


def test_an_empty_file_is_all_defaults() -> None:
    assert read_settings(b"") == RepositorySettings()


def test_what_is_set_is_read() -> None:
    text = b'shared = ["CHANGELOG.md"]\n[merge]\nauto = true\nmethod = "squash"\n[agent]\nkind = "command"\ncommand = ["claude", "-p"]\n[sandbox]\nnetwork = "registries"\n'
    assert read_settings(text) == RepositorySettings(
        shared=("CHANGELOG.md",), merge=Merge(True, "squash"), sandbox=SandboxWish(network="registries"),
        agent=AgentWish(kind="command", command=("claude", "-p")),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[merge]\nauto = 1", ".github/bot.toml: merge.auto: expected true or false, got 1"),
        ("[merge]\nmethod = 'fast'", ".github/bot.toml: merge.method: expected one of merge, squash, rebase, got 'fast'"),
        ("[merge]\nautomatic = true", ".github/bot.toml: merge.automatic: expected one of auto, method, got an unknown key; did you mean 'auto'?"),
        ("merge = 1", ".github/bot.toml: merge: expected a table, got a number"),
        ("[budget]\ndollars = -1", ".github/bot.toml: budget.dollars: expected at least 0.01, got -1"),
        ("shared = [1]", ".github/bot.toml: shared: expected a list of texts, got [1]"),
        ("shared = ['docs', '../x']", ".github/bot.toml: shared, caches.keep: expected paths inside the repository, got '../x'"),
        ("[caches]\nkeep = ['/etc']", ".github/bot.toml: shared, caches.keep: expected paths inside the repository, got '/etc'"),
        ("[sandbox]\nhosts = ['http://x']", ".github/bot.toml: sandbox.hosts: expected names such as packages.example.com, got 'http://x'"),
        ("[budget]\ndollars = nan", ".github/bot.toml: budget.dollars: expected at most 1e+12, got nan"),
        ("[budget]\ndollars = inf", ".github/bot.toml: budget.dollars: expected at most 1e+12, got inf"),
        ("[budget]\nturns = 1" + "0" * 30, ".github/bot.toml: budget.turns: expected at most 1e+12, got 1" + "0" * 30),
        ("[budget]\nwall_s = 1" + "0" * 400, ".github/bot.toml: budget.wall_s: expected at most 1e+12, got 1" + "0" * 99 + "..."),
        ("[labels]\ntrigger = '" + "x" * 51 + "'", ".github/bot.toml: labels.trigger: expected at most 50 characters, got 51"),
        ("[agent]\nkind = 'command'", ".github/bot.toml: agent.command: expected the program that `agent.kind` asks for, got nothing"),
        ("floor = '" + "x" * 60_000 + "'", ".github/bot.toml: floor: expected one of triage, write, maintain, admin, got '" + "x" * 99 + "..."),
        ("a = " + "[" * 5000, ".github/bot.toml: expected TOML in UTF-8, got lists or tables nested without end"),
        ("[merge", ".github/bot.toml: expected TOML in UTF-8: Expected ']' at the end of a table declaration (at end of document)"),
        ("[agent]\nrounds = 'two'", ".github/bot.toml: agent.rounds: expected a whole number, got 'two'"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_settings(text.encode())
    assert str(error.value) == said


def test_the_last_good_settings_stay_in_force_beside_an_error(tmp_path: Path) -> None:
    good = replace(RepositorySettings(), merge=Merge(auto=True))
    with open_store(sqlite_url(tmp_path / "s.db")).write() as c:
        repository.keep_settings(c, "a/b", good, sha="1")
        repository.keep_settings(c, "a/b", None, sha="2", error="broken")
        found = (
            repository.settings_of(c, "a/b"),
            repository.settings_sha(c, "a/b"),
            repository.settings_error(c, "a/b"),
        )
    assert found == (good, "2", "broken")


def test_a_paused_repository_says_why(tmp_path: Path) -> None:
    with open_store(sqlite_url(tmp_path / "s.db")).write() as c:
        repository.pause(c, "a/b", paused=True, reason="release day")
        assert repository.paused(c) == {"a/b": "release day"}
        repository.pause(c, "a/b", paused=False)
        assert repository.paused(c) == {}
