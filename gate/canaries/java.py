"""Java: a class of its own at the end of the file, or a static block in the first class."""

import re

from gate.canaries.canary import Break, Level, at_end, in_bodies

NAME = "Java"
FILES = ".java"
PROGRAMS = ""

_TYPES = re.compile(r"\b(?:class|interface|enum|record) ")


def _classes(broken: Break) -> Break:
    """Return a break for files with classes; those that describe a package or a module have none."""

    def of_class(text: str, mark: str) -> str | None:
        return broken(text, mark) if _TYPES.search(text) else None

    return of_class


BREAKS = {
    Level.SYNTAX: at_end("class MARK MARK"),
    Level.NAME: _classes(at_end("class CMARK {\n    Object value = MARK;\n}")),
    Level.TYPE: _classes(at_end("class MARK {\n    int value = new MARK();\n}")),
    Level.RUN: in_bodies(r"(?:(?:public|final|abstract) )*class .*\{", 'static { Integer.parseInt("MARK"); }'),
}
