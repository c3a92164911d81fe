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


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("BOT_API_URL", "api.github.com", "expected an address such as https://github.example.com, got 'api.github.com'"),
        ("BOT_GIT_URL", "https://:x/", "expected an address such as https://github.example.com, got 'https://:x/'"),
        ("BOT_PUBLIC_URL", "ftp://b", "expected an address such as https://github.example.com, got 'ftp://b'"),
        ("BOT_DATABASE_URL", "mysql://u:pass@h/n",
         "expected an address such as postgresql://USER@HOST/NAME or sqlite:///FILE, got a value"),
        ("BOT_DATABASE_URL", "nonsense",
         "expected an address such as postgresql://USER@HOST/NAME or sqlite:///FILE, got a value"),
        ("BOT_ALLOWED_BOTS", "dependabot[bot]",
         "expected a valid integer, unable to parse string as an integer, got 'dependabot[bot]'"),
        ("BOT_POLICY", "/no/where.toml", "expected a path that exists, got '/no/where.toml'"),
        ("BOT_FLOOR", "reader", "expected 'triage', 'write', 'maintain' or 'admin', got 'reader'"),
    ],
    ids=["no scheme", "no host", "no web address", "another database", "no database", "a bot's name", "no file", "no role"],
)  # fmt: skip
def test_what_cannot_be_meant_is_one_line(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, said: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError) as error:
        load()
    assert str(error.value) == f"{variable}: {said}"


def test_an_empty_label_would_be_put_on_by_nobody_and_found_everywhere(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text('label = " "\n')
    with pytest.raises(ConfigError, match=r"bot\.toml: label: expected string should have at least 1 character, got"):
        load()


@pytest.mark.parametrize(
    ("bots", "hosts"),
    [("7, 8", "a.example,b.example"), ("[7, 8]", '["a.example", "b.example"]')],
    ids=["commas", "JSON"],
)
def test_a_list_in_a_variable_is_written_as_people_write_lists(
    monkeypatch: pytest.MonkeyPatch, bots: str, hosts: str
) -> None:
    monkeypatch.setenv("BOT_ALLOWED_BOTS", bots)
    monkeypatch.setenv("BOT_PRIVATE_HOSTS", hosts)
    settings = load()
    assert (settings.allowed_bots, settings.private_hosts) == ((7, 8), ("a.example", "b.example"))


def test_an_empty_variable_is_none_and_a_secret_ends_before_its_newline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bot.toml").write_text('label = "robot"\n')
    monkeypatch.setenv("BOT_LABEL", "")
    monkeypatch.setenv("BOT_WEBHOOK_SECRET", "s\n")
    settings = load()
    assert (settings.label, settings.webhook_secret and settings.webhook_secret.get_secret_value()) == ("robot", "s")


def test_a_file_that_is_no_text_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"bot\.toml: expected TOML in UTF-8: 'utf-8' codec can't decode byte 0xff"):
        load()


def test_broken_toml_says_where(tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text("port = \n")
    with pytest.raises(ConfigError, match=r"bot\.toml: expected TOML in UTF-8: Invalid value \(at line 1, column 8\)"):
        load()


def test_what_is_missing_is_said_at_once_with_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        need(load(), ["webhook_secret", "app_id"])
    assert str(error.value) == (
        "BOT_WEBHOOK_SECRET, BOT_APP_ID: expected a value, found none in the environment, nor in "
        f"{tmp_path / 'bot.toml'}. Mend: `bot setup` makes and stores them"
    )
