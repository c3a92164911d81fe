"""What the words of `gate prove` mean."""

_LEVEL = "Without --level it is `name`, and `syntax` for what is unseen then or has no names."
_WORDS = {
    "seen": "the file was broken in a copy, and a step failed for it: the step printed the file's mark, or failed\n"
    "twice with that file alone broken. SEEN (exit 0): every file that was broken is.",
    "unseen": "the file was broken, and every step passed and executed as much as before: nothing would stop a\n"
    "change that breaks it. UNSEEN (exit 1): at least one file is.\n"
    "Next: look at what the steps leave out (exclude, include, patterns), or add a step that takes the file in.",
    "unsettled": "nothing is known of the file: with it broken a step hung, was killed, failed only once, or stayed\n"
    "green and executed less; or the time of --budget was over. UNSETTLED (exit 4): nothing is unseen and something\n"
    "is unsettled, or no file could be broken at all. Next: the reason says which; give PATH, or a longer --budget.",
    "untried": "the file was not broken, and the report says why: no canary knows its kind, it is binary, large, a\n"
    "link, or holds nothing that could be broken at that level.",
    "canary": "a deliberate break with a mark, a word that stands in no other file. What prints the mark in its\n"
    "failure has seen the file.",
    "control": "a broken file that must be seen. Where nothing is, the steps look at something else than the copy\n"
    "that they run in, or they cannot fail: ERROR (exit 2), and not 'everything is unseen'.",
    "level": "what a broken file goes wrong with: syntax, name, type, run or behaviour; each is seen by fewer\n"
    f"kinds of checks than the one before. {_LEVEL}",
    "syntax": "a level: the file does not parse. Whatever reads the file sees it, also what only parses.",
    "name": "a level: the file parses and refers to a name that nobody defines, where it is loaded. Linters, type\n"
    f"checkers, compilers and tests see it, and most print the mark. {_LEVEL}",
    "type": "a level: a type is wrong, in a function that nobody calls. Compilers and type checkers see it.",
    "run": "a level: all that can be told without running the file is right, and loading it fails. What imports or\n"
    "starts the file sees it, as tests do.",
    "behaviour": "a level: loading the file works, and calling any of its functions fails. What calls one sees it.",
}
EXPLAINED_PROOF = {word: f"{word} (a word of `gate prove`): {text}" for word, text in _WORDS.items()}
