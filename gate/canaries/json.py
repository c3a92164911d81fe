"""JSON: a word where the value should begin; readers that quote only ten characters quote that."""

from gate.canaries.canary import Level, at_start

NAME = "JSON"
FILES = ".json .jsonc .json5 .webmanifest"
PROGRAMS = ""

BREAKS = {Level.SYNTAX: at_start("MARK")}
