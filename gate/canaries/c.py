"""C and C++: a function of its own at the end of the file; what must run is a constructor, which loaders call."""

from gate.canaries.canary import Level, at_end

NAME = "C and C++"
FILES = ".c .h .cc .cpp .cxx .hh .hpp .hxx"
PROGRAMS = ""

BREAKS = {
    Level.SYNTAX: at_end("int MARK MARK;"),
    Level.NAME: at_end("static inline int fMARK(void) { return MARK; }"),
    Level.TYPE: at_end("struct MARK { int a; };\nstatic inline int fMARK(struct MARK v) { return v; }"),
    Level.RUN: at_end(
        "__attribute__((constructor)) static void fMARK(void)\n{\n"
        '    __builtin_printf("MARK\\n");\n    __builtin_exit(97);\n}'
    ),
}
