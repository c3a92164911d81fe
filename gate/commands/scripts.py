"""Shell files of the repository: `./ci.sh`, `bash scripts/test`, `source x`."""

from collections.abc import Sequence
from pathlib import Path

from gate.commands.part import Part
from gate.commands.shell import PLAIN, Options, shell_options
from gate.patterns import later

_MOST_BYTES = 1 << 18
_TOOLS = {"gradlew", "mvnw"}  # shell files, but known tools
_FUNCTION = later(r"(?m)^[ \t]*(?:function[ \t]+[\w-]+[ \t]*(?:\(\))?|[\w-]+[ \t]*\(\))[ \t]*(?=\{|$)")
_SHEBANG = later(rb"^#!\s*\S*/(?:env\s+(?:-S\s+)?)?(?:ba|da|z|k|a)?sh\b")


def expand(argv: tuple[str, ...], cwd: Path, root: Path) -> Sequence[Part] | None:
    """Return the text of a shell file that this command starts, None when it starts none."""
    name = argv[0].rsplit("/", 1)[-1]
    if name in {"bash", "sh", "dash", "zsh", "ksh", "ash", "source", "."}:
        file = _first_file(argv[1:])
        return _text(file, cwd, root, options=shell_options(argv[1:]), any_text=True) if file else None
    if "/" in argv[0] and "$" not in argv[0] and name not in _TOOLS and "node_modules/" not in argv[0]:
        return _text(argv[0], cwd, root, options=PLAIN, any_text=False)
    return None


def _first_file(words: Sequence[str]) -> str | None:
    rest = list(words)
    while rest and rest[0].startswith(("-", "+")):
        option = rest.pop(0)
        if option.endswith("o") and rest:
            rest.pop(0)
    return rest[0] if rest else None


def _text(file: str, cwd: Path, root: Path, *, options: Options, any_text: bool) -> list[Part] | None:
    path = cwd / file
    data = read_inside(path, root)
    if data is None or b"\0" in data[:1024]:
        return None
    shebang = data.startswith(b"#!")
    if shebang and not _SHEBANG.match(data):
        return None
    if not shebang and not any_text and not file.endswith(".sh"):
        return None
    text = _FUNCTION.sub("", data.decode("utf-8", "replace"))  # bodies are read as if they were called once
    if shebang and options == PLAIN:
        options = shell_options(data.split(b"\n", 1)[0].decode("utf-8", "replace").split()[1:])
    return [Part(text, cwd, options=options)]


def read_inside(path: Path, root: Path) -> bytes | None:
    """Return the first bytes of a file inside the repository, None when it is elsewhere or cannot be read."""
    try:
        if not path.resolve().is_relative_to(root.resolve()) or not path.is_file():
            return None
        with path.open("rb") as file:
            return file.read(_MOST_BYTES)
    except OSError:
        return None
