"""Which agents there are."""

from bot.errors import ConfigError
from bot.work.agents.agent import Agent, AgentSettings

KINDS = ("anthropic", "command", "replay")


def preload(kind: str) -> None:
    """Load what an agent of this kind will load; to be called in a thread, beside other work."""
    if kind != "command":
        from bot.work.agents.anthropic_sdk import warm  # noqa: PLC0415

        warm()


def open_agent(kind: str, settings: AgentSettings) -> Agent:
    """Return the agent of a kind; what only it needs is imported only then."""
    match kind:
        case "anthropic":
            from bot.work.agents.anthropic_sdk import AnthropicAgent  # noqa: PLC0415 costs 1.5 s and 79 MB

            return AnthropicAgent(settings)
        case "command":
            from bot.work.agents.command import CommandAgent  # noqa: PLC0415

            return CommandAgent(settings)
        case "replay":
            from bot.work.agents.replay import ReplayAgent  # noqa: PLC0415

            return ReplayAgent(settings)
        case _:
            raise ConfigError(f"agent: expected {', '.join(KINDS[:-1])} or {KINDS[-1]}, got {kind!r}")
