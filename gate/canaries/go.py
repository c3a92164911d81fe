"""Go: what stands at the end of a file is compiled with its package; an `init` runs where the package is loaded."""

from gate.canaries.canary import Level, at_end, in_bodies

NAME = "Go"
FILES = ".go"
PROGRAMS = ""

BREAKS = {
    Level.SYNTAX: at_end("\nfunc MARK MARK"),
    Level.NAME: at_end("\nvar _ = MARK"),
    Level.TYPE: at_end("\ntype MARK struct{}\n\nvar _ int = MARK{}"),
    Level.RUN: at_end('\nfunc init() {\n\tpanic("MARK")\n}'),
    # the length is asked so that no vet finds the code behind it out of reach
    Level.BEHAVIOUR: in_bodies(r"func .*\{", 'if len("MARK") > 0 { panic("MARK") }'),
}
