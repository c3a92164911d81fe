"""Kotlin: private values at the end of a file."""

from gate.canaries.canary import Level, at_end

NAME = "Kotlin"
FILES = ".kt .kts"
PROGRAMS = ""

BREAKS = {
    Level.SYNTAX: at_end("fun MARK MARK"),
    Level.NAME: at_end("private val vMARK = MARK"),
    Level.TYPE: at_end("private class MARK\n\nprivate val vMARK: Int = MARK()"),
}
