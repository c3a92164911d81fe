"""What each rule of `gate run` means: those of the comparison with the base, of waivers, and of how evidence moved."""

_TAKE_BACK = "Next: take it back, or let a person with the right to do so merge it knowingly."
_WEAKENING = {
    "policy-removed": "gate.toml is gone.",
    "policy-broken": "gate.toml cannot be read any more.",
    "step-removed": "a step of the policy, or a hook of pre-commit, is gone. A renamed one is not.",
    "step-changed": "a step's command, kind, folder or variables are others than at the base.",
    "step-narrowed": "what a step runs looks at less: a new filter, fewer paths, a lower threshold.",
    "step-runs-less": "through the changed scripts a step no longer surely runs a tool that it ran.",
    "evidence-lowered": "a step asks for fewer tests or files.",
    "shell-loosened": "a step's shell no longer keeps the failure of a pipeline.",
    "protection-removed": "a path is no longer protected.",
    "protection-loosened": "the policy lets more people, or a label, pass a weakening.",
    "waiver-added": "a step may be hollow that might not be before.",
    "protected-path": "a file that the policy protects was edited.",
    "gate-workflow": "a workflow that calls the gate was edited, or a job of the same name was added elsewhere.",
    "link-outside": "a link leads out of the repository.",
    "tests-removed": "tests are gone, and none that can fail stand in their place. Moved ones are not gone.",
    "test-emptied": "a test asserted something, and now asserts nothing that can fail.",
    "test-skipped": "a test that ran is skipped, expected to fail, or hidden behind a condition.",
    "test-focused": "one test is singled out, so that the others do not run.",
    "test-hook": "a hook changes what is collected or reported, or ends the run.",
    "exit-swallowed": "a failure counts no longer: `|| true`, `set +e`, a `-` in make, a pipeline, a background job.",
    "exit5-swallowed": 'pytest\'s "no tests collected" is made a success.',
    "continue-on-error": "a workflow goes on after a failing step.",
    "pass-with-no-tests": "a run without any test is made a success.",
    "exit-zero": "a tool is told to succeed.",
    "skip-tests-flag": "a build is told to leave its tests out, or to ignore their failures.",
    "skip-missing": "missing interpreters are passed over.",
    "build-ignores-errors": "a build ignores the errors of its checks.",
    "condition-always-false": "a check never runs.",
    "source-excluded": "a tool's configuration leaves out more than before, or takes in less.",
    "check-loosened": "a tool's configuration forgives more than before.",
    "rule-off": "a rule is off, or only a warning, that was more.",
    "threshold-lowered": "a threshold is lower than before, or gone.",
    "config-removed": "a tool's configuration is gone. One that moved to another file of the same tool is not.",
    "config-unreadable": "a configuration that could be read cannot be any more, so nothing is known of it.",
    "check-silenced": "comments silence a whole file, or many lines at once; few of them are a warning.",
    "tool-shadowed": "a new file, function or setting can run in place of a tool.",
    "change-too-large": "the change has too many files to compare.",
}
_OTHERS = {
    "assertions-fewer": "a test has fewer assertions than at the base. A warning: look whether that is meant.",
    "tests-moved": "how many tests the changed files define, against the base. A note.",
    "executed-count-dropped": "a step executed fewer tests or files than in the report of the base. A warning.",
    "broken-wikilink": "a [[link]] of a note leads to no note of the vault. An error of `gate notes`.",
    "ambiguous-wikilink": "a [[link]] can mean several notes of the same name. Write more of its path.",
    "broken-link": "a relative link or image of a note leads to no file.",
    "broken-anchor": "a link names a heading or block that the other note does not have.",
    "bad-frontmatter": "the YAML between the lines --- at the top of a note cannot be read.",
    "frontmatter-missing": "a note lacks keys that the policy (`notes.require`) or --require asks for.",
    "merge-marker": "a note still holds the markers of an unfinished merge.",
    "unreadable-note": "a note is no UTF-8, or larger than 5 MB.",
    "nothing-seen": "a step passed and ran no tool that the gate knows: nothing that it verified can be seen, and\n"
    'another step carries the verdict. A note. Run a known tool, or say evidence = "exit" where the code tells enough.',
    "base-unavailable": "the commit to compare with, its objects or its common history with HEAD are not in this\n"
    "clone. An ERROR: nothing is known of the change without it. Fetch it (`git fetch --unshallow`, `fetch-depth: 0`).",
    "not-a-worktree": "the folder is no git worktree: no repository, a bare one, another user's, or a submodule\n"
    "that is not checked out. An ERROR, never 'no files'. The message says which, and what mends it.",
    "waiver": "a step that may be hollow, why, and until when. A note in every summary.",
    "waiver-expired": "a waiver whose date is past: the step counts again.",
}
EXPLAINED = {name: f"{name} (TAMPERED): {text}\n{_TAKE_BACK}" for name, text in _WEAKENING.items()} | {
    name: f"{name}: {text}" for name, text in _OTHERS.items()
}
