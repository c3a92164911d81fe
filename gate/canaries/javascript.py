"""JavaScript: `JSON.parse("MARK")` fails where it runs, and no linter objects to it."""

from gate.canaries.canary import Break, Level, at_end, in_bodies

NAME = "JavaScript"
FILES = ".js .jsx .mjs .cjs"
PROGRAMS = "node"

# what opens a function at the end of a line: `function f() {`, `f = async () => {`, methods; not `if (...) {`
_FUNCTION = (
    r"(?!.*\b(?:if|for|while|switch|catch|with|super|type|interface)\b *\(?.*\{$)"
    r"(?:.*\bfunction\b.*\)(?::[^{}=]*)? \{|.*\)(?:: ?[^{}=]*)? => \{"
    r"|(?:(?:public|private|protected|static|async|override|get|set) )*[#\w$]+\([^()]*\)(?:: ?[\w<>\[\]|. ]+)? \{)"
)


def styled(broken: Break) -> Break:
    """Return a break in the file's own style of quotes and semicolons, so that a formatter has nothing to say."""

    def in_style(text: str, mark: str) -> str | None:
        added = broken(text, mark)
        if added is None:
            return None
        plain = f'JSON.parse("{mark}");'
        quote = "'" if text.count("'") > text.count('"') else '"'
        end = ";" if ";\n" in text or text.endswith(";") or not text.strip() else ""
        added = added.replace(plain, f"JSON.parse({quote}{mark}{quote}){end}")
        return added.replace(f"\n{mark};\n", f"\n{mark}{end}\n")

    return in_style


BREAKS = {
    Level.SYNTAX: at_end("MARK MARK"),
    Level.NAME: styled(at_end("MARK;")),
    Level.RUN: styled(at_end('JSON.parse("MARK");')),
    Level.BEHAVIOUR: styled(in_bodies(_FUNCTION, 'JSON.parse("MARK");')),
}
