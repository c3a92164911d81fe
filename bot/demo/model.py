"""The demo's scripted model: it answers from the sessions in `bot/demo/sessions`, see bot/work/agents/sessions.py."""

from pathlib import Path

from bot.work.agents.scripted import ScriptedModel
from bot.work.agents.sessions import load_sessions

SESSIONS = Path(__file__).parent / "sessions"


def demo_model(*more: Path) -> ScriptedModel:
    """Return the demo's model, not yet served; sessions of `more` files and folders come before the demo's own."""
    return ScriptedModel(load_sessions(*more, SESSIONS))
