"""YAML: an alias that leads nowhere, which readers name; what only parses finds a mapping where none can be."""

from gate.canaries.canary import Level, at_end, at_start

NAME = "YAML"
FILES = ".yaml .yml"
PROGRAMS = ""

BREAKS = {Level.SYNTAX: at_start("MARK: MARK: MARK"), Level.NAME: at_end("MARK: *MARK")}
