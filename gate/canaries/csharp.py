"""C#: a class of its own at the end of the file."""

from gate.canaries.canary import Level, at_end

NAME = "C#"
FILES = ".cs"
PROGRAMS = ""

BREAKS = {
    Level.SYNTAX: at_end("class MARK MARK"),
    Level.NAME: at_end("class CMARK\n{\n    object value = MARK;\n}"),
    Level.TYPE: at_end("class MARK\n{\n    int value = new MARK();\n}"),
}
