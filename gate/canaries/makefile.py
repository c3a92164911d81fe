"""Makefiles: an error that `make` tells while it reads them."""

from gate.canaries.canary import Level, at_start

NAME = "make"
FILES = ".mk Makefile makefile GNUmakefile"
PROGRAMS = ""

_ERROR = at_start("$(error MARK)")
BREAKS = {Level.SYNTAX: _ERROR, Level.NAME: _ERROR, Level.RUN: _ERROR}
