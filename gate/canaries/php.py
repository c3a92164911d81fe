"""PHP: a statement at the end of the file, in a tag of its own where the last one is closed."""

from gate.canaries.canary import Break, Level, at_end, in_bodies

NAME = "PHP"
FILES = ".php .phtml"
PROGRAMS = "php"


def _statement(line: str) -> Break:
    inside, outside = at_end(line), at_end(f"<?php {line}")

    def broken(text: str, mark: str) -> str | None:
        return (inside if text.rfind("<?") > text.rfind("?>") else outside)(text, mark)

    return broken


BREAKS = {
    Level.SYNTAX: _statement("MARK MARK;"),
    Level.NAME: _statement("MARK();"),
    Level.RUN: _statement("new \\DateTimeZone('MARK');"),
    Level.BEHAVIOUR: in_bodies(
        r"(?:(?:public|private|protected|static|final) )*function .*\{", "new \\DateTimeZone('MARK');"
    ),
}
