"""Shell: a line behind what stands at the start; a command that nobody has fails only where failures count."""

from gate.canaries.canary import Level, at_start, in_bodies

NAME = "shell"
FILES = ".sh .bash .bats .ksh"
PROGRAMS = "sh bash dash ksh"

_HEAD = r"[ \t]*(?:#|set |(?=\n))"  # comments, and what lets failures count
_FAILS = "echo MARK >&2; exit 1"
BREAKS = {
    Level.SYNTAX: at_start("MARK ( ;", after=_HEAD),
    Level.NAME: at_start("MARK", after=_HEAD),
    Level.RUN: at_start(_FAILS, after=_HEAD),
    Level.BEHAVIOUR: in_bodies(r"(?:function )?[\w:.-]+ ?\(\) ?\{|function [\w:.-]+ ?\{", _FAILS),
}
