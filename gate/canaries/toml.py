"""TOML: a table that stands twice, which is the one error that readers of all languages name."""

from gate.canaries.canary import Level, at_end

NAME = "TOML"
FILES = ".toml"
PROGRAMS = ""

BREAKS = {Level.SYNTAX: at_end("[MARK]\n[MARK]")}
