"""The service's settings: BOT_ variables over bot.toml over defaults. Nothing else reads the environment."""

import difflib
import os
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from bot.errors import ConfigError

FILE = "bot.toml"


class Settings(BaseSettings):
    """What an operator may set; docs/operations.md explains each."""

    model_config = SettingsConfigDict(
        env_prefix="BOT_", toml_file=FILE, extra="forbid", frozen=True, populate_by_name=True
    )

    data: Path = Path("data")
    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    database_url: str = ""  # empty: SQLite in the data folder
    name: str = ""  # of this host; empty: its host name
    dead_after_s: float = Field(default=30.0, ge=1)  # a host silent for this long is taken for dead
    slots: int = Field(default=2, ge=1, le=64)
    tickets: int = Field(default=0, ge=0)  # at the same time, on all hosts together; 0: as many as there are slots
    recheck: int = Field(default=20, ge=0)  # one of so many jobs is gated again without caches, and every merge
    low_disk_mb: int = Field(default=1024, ge=0)  # with less free than this no work starts

    api_url: str = "https://api.github.com"
    git_url: str = "https://github.com"
    app_id: int | None = None
    private_key: SecretStr | None = None
    private_key_path: Path | None = None
    token: SecretStr | None = None  # a personal token instead of an App
    webhook_secret: SecretStr | None = None
    webhook_secret_previous: SecretStr | None = None

    label: str = "bot"
    allowed_bots: tuple[int, ...] = ()
    floor: Literal["triage", "write", "maintain", "admin"] = "write"

    anthropic_api_key: SecretStr | None = Field(default=None, validation_alias="ANTHROPIC_API_KEY")
    model: str = ""  # empty: the agent's default
    model_url: str = ""  # empty: Anthropic's
    model_retries: int = Field(default=8, ge=0, le=20)  # of a request that the model's server could not answer
    model_silence_s: float = Field(default=300.0, gt=0)  # without a byte from it, or from a program
    sessions: Path | None = None  # recorded transcripts, for `agent.kind = "replay"`
    sandbox: Literal["required", "off"] = "required"
    private_hosts: tuple[str, ...] = ()  # names in the operator's own network that boxes may reach
    day_dollars: float | None = Field(default=None, gt=0)  # for all repositories together, in a day (UTC)
    day_tokens: int | None = Field(default=None, gt=0)
    policy: Path | None = None  # an operator's file of gates for many repositories
    public_url: str = ""  # where people reach the dashboard
    dashboard_password: SecretStr | None = None  # asked for by every page; without it only loopback may look

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 a signature that pydantic-settings calls
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Order the sources: arguments, then the environment, then bot.toml."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def load(**given: Any) -> Settings:
    """Return the settings; `given` wins over the environment, and that over bot.toml. Raises ConfigError."""
    _refuse_typos(os.environ)
    try:
        return Settings(**given)
    except ValidationError as error:
        raise ConfigError("; ".join(_problem(e["loc"], e["msg"], e.get("input")) for e in error.errors())) from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{Path(FILE).resolve()}: expected TOML: {error}") from error


def _refuse_typos(environ: Iterable[str]) -> None:
    """Raise ConfigError for a BOT_ variable that is nearly a setting; others may belong to another program."""
    known = {variable(name) for name in Settings.model_fields}
    for name in environ:
        if name.startswith("BOT_") and name not in known:
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.85)
            if close:
                raise ConfigError(f"{name}: no such setting, did you mean {close[0]}?")


def need(settings: Settings, names: Iterable[str]) -> None:
    """Raise ConfigError where a setting that the command needs is missing, saying where it was looked for."""
    missing = [name for name in names if not getattr(settings, name)]
    if missing:
        where = " and ".join(f"{variable(name)}" for name in missing)
        raise ConfigError(
            f"{where}: expected a value, found none in the environment, nor `{missing[0]}` in {Path(FILE).resolve()}. "
            "Mend: set it, or run `bot setup`"
        )


def variable(name: str) -> str:
    """Return the environment variable of a setting."""
    field = Settings.model_fields.get(name)
    alias = field.validation_alias if field is not None else None
    return alias if isinstance(alias, str) else f"BOT_{name.upper()}"


def _problem(location: tuple[int | str, ...], message: str, found: object) -> str:
    name = str(location[0]) if location else ""
    if name not in Settings.model_fields and name != "ANTHROPIC_API_KEY":
        close = difflib.get_close_matches(name, Settings.model_fields, n=1)
        hint = f", did you mean `{close[0]}`?" if close else ""
        return f"{FILE}: {name}: no such setting{hint}"
    source = variable(name) if os.environ.get(variable(name)) is not None else f"{FILE}: {name}"
    expected = message[0].lower() + message[1:]
    shown = "a value" if _is_secret(name) else repr(found)
    return f"{source}: expected {expected.removeprefix('input should be ')}, got {shown}"


def _is_secret(name: str) -> bool:
    field = Settings.model_fields.get(name)
    return field is None or "SecretStr" in str(field.annotation)
