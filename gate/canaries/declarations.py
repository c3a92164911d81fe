"""Declarations of TypeScript, which hold types alone: a type that nobody declares."""

from gate.canaries.canary import Level, at_end

NAME = "TypeScript declarations"
FILES = ".d.ts .d.mts .d.cts"
PROGRAMS = ""

BREAKS = {
    Level.SYNTAX: at_end("MARK MARK"),
    Level.NAME: at_end("declare const vMARK: MARK;"),
    Level.TYPE: at_end("interface MARK {\n  a: string;\n}\ninterface iMARK extends MARK {\n  a: number;\n}"),
}
