"""The service's settings: BOT_ variables over bot.toml over defaults. Nothing else reads the environment."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource


class Settings(BaseSettings):
    """What an operator may set; docs/operations.md explains each."""

    model_config = SettingsConfigDict(env_prefix="BOT_", toml_file="bot.toml", extra="forbid", frozen=True)

    data: Path = Path("data")
    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    database_url: str = ""  # empty: SQLite in the data folder
    name: str = ""  # of this host; empty: its host name
    slots: int = Field(default=2, ge=1, le=64)

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
    sandbox: Literal["required", "off"] = "required"
    policy: Path | None = None  # an operator's file of gates for many repositories
    public_url: str = ""  # where people reach the dashboard

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
