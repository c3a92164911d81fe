"""The command line of the bot: the commands stand in bot/commands, and only the one that runs is imported."""

import importlib
import sys
from collections.abc import Mapping

import click

from bot.errors import BotError

COMMANDS: Mapping[str, tuple[str, str]] = {
    "serve": ("serve", "receive webhooks and work on tickets"),
    "worker": ("serve", "work on tickets on one more host, without receiving webhooks"),
    "demo": ("demo", "the whole loop on this machine, without any account"),
    "run": ("run", "work on one issue: of a local repository, or OWNER/REPO#N"),
    "tickets": ("tickets", "list, show, explain, retry, cancel or approve tickets"),
    "slots": ("slots", "list, warm, reset or remove slots"),
    "pause": ("tickets", "admit nothing new, everywhere or in one repository"),
    "resume": ("tickets", "admit again"),
    "replay": ("replay", "list what was delivered; read one delivery again"),
    "schedule": ("schedule", "simulate admission on a trace or on what happened here"),
    "stats": ("stats", "what tickets cost: dollars, and seconds by stage"),
    "doctor": ("doctor", "check that everything is in place"),
    "setup": ("setup", "make the GitHub App"),
    "migrate": ("migrate", "move everything stored to another database"),
}


class _Lazy(click.Group):
    """Imports a command's module when that command is asked for; `bot --help` imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"bot.commands.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="sluice", prog_name="bot")
def _bot() -> None:
    """Label an issue, get a gated pull request."""


def main() -> int:
    """Run one command; what a person can mend is one line on standard error and exit code 2."""
    try:
        code = _bot.main(standalone_mode=False)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.Abort:
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except BotError as error:
        print(f"bot: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return code if isinstance(code, int) else 0
