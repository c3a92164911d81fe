"""Rust: items at the end of a file; nothing of one runs by itself, so there is no level `run`."""

from gate.canaries.canary import Level, at_end, in_bodies

NAME = "Rust"
FILES = ".rs"
PROGRAMS = ""

BREAKS = {
    Level.SYNTAX: at_end("fn MARK MARK"),
    Level.NAME: at_end("const _: () = MARK;"),
    Level.TYPE: at_end("#[allow(non_camel_case_types)]\nstruct MARK;\nconst _: i32 = MARK;"),
    Level.BEHAVIOUR: in_bodies(
        r"(?:pub(?:\([^)]*\))? )?(?:async )?fn .*\{", 'if !"MARK".is_empty() { panic!("MARK") }'
    ),
}
