"""CSS, SCSS and Less: a block that is closed and was not opened."""

from gate.canaries.canary import Level, at_end

NAME = "CSS"
FILES = ".css .scss .less .pcss"
PROGRAMS = ""

BREAKS = {Level.SYNTAX: at_end(".MARK {\n}}")}
