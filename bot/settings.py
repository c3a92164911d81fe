"""The service's settings: BOT_ variables over bot.toml over defaults. Nothing else reads the environment."""

import difflib
import json
import os
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError
from pydantic_core import PydanticCustomError
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from bot.errors import ConfigError

FILE = "bot.toml"
DATABASES = ("postgresql", "postgres", "sqlite")


def _address(value: str) -> str:
    """Return the address of a server, or nothing. Raises PydanticCustomError."""
    try:
        parts = urlsplit(value)
        well = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        well = False
    if value and not well:
        raise PydanticCustomError("address", "an address such as https://github.example.com")
    return value


def _database(value: str) -> str:
    """Return the address of a database, or nothing. Raises PydanticCustomError, which does not show the password."""
    from sqlalchemy.engine import make_url  # noqa: PLC0415 most have none set
    from sqlalchemy.exc import ArgumentError  # noqa: PLC0415

    try:
        known = not value or make_url(value).get_backend_name() in DATABASES
    except (ArgumentError, ValueError):
        known = False
    if not known:
        raise PydanticCustomError("database", "an address such as postgresql://USER@HOST/NAME or sqlite:///FILE")
    return value


def _there(value: Path) -> Path:
    """Return a path that leads somewhere. Raises PydanticCustomError."""
    if not value.exists():
        raise PydanticCustomError("there", "a path that exists")
    return value


def _list(value: object) -> object:
    """Return the items of a list written as JSON or with commas; a variable holds nothing but text."""
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,)
    if not isinstance(value, str):
        return value
    try:
        found = json.loads(value)
    except ValueError:
        found = [item.strip() for item in value.split(",") if item.strip()]
    return found if isinstance(found, list) else [found]


Address = Annotated[str, AfterValidator(_address)]
There = Annotated[Path, AfterValidator(_there)]
Numbers = Annotated[tuple[int, ...], NoDecode, BeforeValidator(_list)]
Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_list)]


class Settings(BaseSettings):
    """What an operator may set; docs/operations.md explains each."""

    model_config = SettingsConfigDict(
        env_prefix="BOT_",
        toml_file=FILE,
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        str_strip_whitespace=True,  # a secret read from a file often ends in a newline
        env_ignore_empty=True,  # BOT_X= is how compose files leave one out
    )

    data: Path = Path("data")
    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    database_url: Annotated[str, AfterValidator(_database)] = ""  # empty: SQLite in the data folder
    name: str = ""  # of this host; empty: its host name
    dead_after_s: float = Field(default=30.0, ge=1)  # a host silent for this long is taken for dead
    slots: int = Field(default=2, ge=1, le=64)
    tickets: int = Field(default=0, ge=0)  # at the same time, on all hosts together; 0: as many as there are slots
    recheck: int = Field(default=20, ge=0)  # one of so many jobs is gated again without caches, and every merge
    partial_clone_mb: int = Field(default=0, ge=0)  # from this size on a clone leaves older files out; 0: none does
    low_disk_mb: int = Field(default=1024, ge=0)  # with less free than this no work starts

    api_url: Address = Field(default="https://api.github.com", min_length=1)
    git_url: Address = Field(default="https://github.com", min_length=1)
    app_id: int | None = None
    private_key: SecretStr | None = None
    private_key_path: Path | None = None
    token: SecretStr | None = None  # a personal token instead of an App
    webhook_secret: SecretStr | None = None
    webhook_secret_previous: SecretStr | None = None

    label: str = Field(default="bot", min_length=1)
    allowed_bots: Numbers = ()
    floor: Literal["triage", "write", "maintain", "admin"] = "write"

    anthropic_api_key: SecretStr | None = Field(default=None, validation_alias="ANTHROPIC_API_KEY")
    model: str = ""  # empty: the agent's default
    model_url: Address = ""  # empty: Anthropic's
    model_retries: int = Field(default=8, ge=0, le=20)  # of a request that the model's server could not answer
    model_silence_s: float = Field(default=300.0, gt=0)  # without a byte from it, or from a program
    sessions: There | None = None  # recorded transcripts, for `agent.kind = "replay"`
    sandbox: Literal["required", "off"] = "required"
    private_hosts: Names = ()  # names in the operator's own network that boxes may reach
    day_dollars: float | None = Field(default=None, gt=0)  # for all repositories together, in a day (UTC)
    day_tokens: int | None = Field(default=None, gt=0)
    policy: There | None = None  # an operator's file of gates for many repositories
    public_url: Address = ""  # where people reach the dashboard
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
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{Path(FILE).resolve()}: expected TOML in UTF-8: {error}") from error
    except OSError as error:
        raise ConfigError(f"{Path(FILE).resolve()}: expected a file that can be read: {error.strerror}") from error


def _refuse_typos(environ: Iterable[str]) -> None:
    """Raise ConfigError for a BOT_ variable that is nearly a setting; others may belong to another program."""
    known = {variable(name) for name in Settings.model_fields}
    for name in environ:
        if name.startswith("BOT_") and name not in known:
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.85)
            if close:
                raise ConfigError(f"{name}: no such setting, did you mean {close[0]}?")


def need(settings: Settings, names: Iterable[str], *, mend: str = "`bot setup` makes and stores them") -> None:
    """Raise ConfigError where settings that a command needs are missing, saying where they were looked for."""
    missing = [variable(name) for name in dict.fromkeys(names) if not getattr(settings, name)]
    if missing:
        raise ConfigError(
            f"{', '.join(missing)}: expected a value, found none in the environment, nor in {Path(FILE).resolve()}. "
            f"Mend: {mend}"
        )


def in_environment(names: Iterable[str]) -> list[str]:
    """Return the variables among these settings' that are set: they win over whatever is stored in bot.toml."""
    return [variable(name) for name in names if os.environ.get(variable(name))]


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
    shown = "a value" if _is_secret(name) else repr(str(found) if isinstance(found, Path) else found)
    return f"{source}: expected {expected.removeprefix('input should be ')}, got {shown}"


def _is_secret(name: str) -> bool:
    field = Settings.model_fields.get(name)
    return field is None or "SecretStr" in str(field.annotation) or name == "database_url"  # it holds a password
