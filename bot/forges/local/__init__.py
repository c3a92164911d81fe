"""A forge on this machine that speaks the part of GitHub's protocol that the bot uses, over real HTTP."""

from bot.forges.local.forge import LocalForge

__all__ = ["LocalForge"]
