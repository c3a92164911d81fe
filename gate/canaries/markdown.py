"""Markdown: links to a page that is not there. It has no syntax that could be wrong."""

from gate.canaries.canary import Level, at_end

NAME = "Markdown"
FILES = ".md .markdown"
PROGRAMS = ""

BREAKS = {Level.NAME: at_end("\n[MARK](MARK.md) [[MARK]]")}
