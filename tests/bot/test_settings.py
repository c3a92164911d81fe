"""What an operator sets, and what is said of what cannot be used."""

from pathlib import Path

import pytest

from bot.errors import ConfigError
from bot.settings import load, need


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_environment_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bot.toml").write_text('port = 1111\nlabel = "robot"\n')
    monkeypatch.setenv("BOT_PORT", "2222")
    settings = load()
    assert (settings.port, settings.label) == (2222, "robot")


def test_a_wrong_value_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_PORT", "eighty")
    with pytest.raises(ConfigError) as error:
        load()
    assert str(error.value) == (
        "BOT_PORT: expected a valid integer, unable to parse string as an integer, got 'eighty'"
    )


def test_a_misspelt_key_is_told_the_nearest_one(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text("prot = 1\n")
    with pytest.raises(ConfigError) as error:
        load()
    assert str(error.value) == "bot.toml: prot: no such setting, did you mean `port`?"


def test_a_secret_is_never_shown(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text("webhook_secret = 12345\n")
    with pytest.raises(ConfigError) as error:
        load()
    assert str(error.value) == "bot.toml: webhook_secret: expected a valid string, got a value"


def test_broken_toml_says_where(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text("port = \n")
    with pytest.raises(ConfigError, match=r"bot\.toml: expected TOML: Invalid value \(at line 1, column 8\)"):
        load()


def test_a_missing_setting_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        need(load(), ["webhook_secret"])
    assert str(error.value) == (
        "BOT_WEBHOOK_SECRET: expected a value, found none in the environment, nor `webhook_secret` in "
        f"{tmp_path / 'bot.toml'}. Mend: set it, or run `bot setup`"
    )
