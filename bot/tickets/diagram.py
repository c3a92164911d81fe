"""The states of a ticket as a picture, made from the table of transitions."""

from bot.tickets.ticket import TRANSITIONS, Outcome, Stage, State


def states() -> str:
    """Return a Mermaid state diagram."""
    lines = ["```mermaid", "stateDiagram-v2"]
    lines += [f"    [*] --> {state}" for state in (State.NEEDS_APPROVAL, State.QUEUED)]
    lines += [f"    {state} --> {to}" for state in TRANSITIONS for to in State if to in TRANSITIONS[state]]
    lines.append(f"    {State.RUNNING}: running ({', '.join(Stage)})")
    lines.append(f"    {State.DONE}: done ({', '.join(Outcome)})")
    return "\n".join([*lines, "```"])
