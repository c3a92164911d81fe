"""What each verdict means, and what to do about it."""

import difflib

from gate.errors import UsageError
from gate.explained import EXPLAINED
from gate.explained_proof import EXPLAINED_PROOF

VERDICTS = {
    "GREEN": "GREEN (exit 0): every step passed, and something was verified. The reason line says how much.",
    "RED": "RED (exit 1): a step failed, timed out, or could not run because one it needs did not pass.\n"
    "Next: read the output of the first failing step; `gate run --only STEP` runs it alone.",
    "ERROR": "ERROR (exit 2): the command line or a policy cannot be read. The message says file, key, what was\n"
    "expected and what was found. Nothing was run, so nothing was proved.",
    "UNGATED": "UNGATED (exit 3): no step is configured for this repository. A gate without steps would be always\n"
    "green, and that is the failure this verdict exists for. Next: `gate init` proposes a gate.toml.",
    "HOLLOW": "HOLLOW (exit 4): the steps passed and verified nothing: no test was executed (none found, all skipped,\n"
    "all deselected), a linter looked at no file, or no step is of a kind whose work can be seen.\n"
    'Next: make the step really run something. A command that the gate does not know counts with evidence = "exit".\n'
    "Else a waiver in the policy, with a reason and a date, excuses one step; another must still verify something.",
    "TAMPERED": "TAMPERED (exit 5): the change weakens its own gate against the base commit: a step was removed or\n"
    "loosened, tests were deleted or skipped, a protected file was edited. The policy was read from the base.\n"
    "Next: take the weakening out, or let a person with the right to do so merge it knowingly.",
}


def explain(word: str) -> str:
    """Return the explanation of a verdict or a rule. Raises UsageError for what is neither."""
    from gate.rules import summaries  # noqa: PLC0415 the whole family, only to be explained

    known = dict(VERDICTS | EXPLAINED | EXPLAINED_PROOF)
    for key, text in summaries().items():
        text = f"{key} (a rule of `gate audit`): {text}"
        known[key] = f"{known[key]}\n\n{text}" if key in known else text
    for name, text in known.items():
        if name.lower() == word.lower():
            return text
    close = difflib.get_close_matches(word.upper(), known, n=1) or difflib.get_close_matches(word.lower(), known, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise UsageError(
        f"explain: expected a verdict ({', '.join(VERDICTS)}), a rule or a word of a report, got {word!r}{hint}"
    )
