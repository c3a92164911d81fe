"""`python -m x`, `python file.py`, tox and nox sessions, and the scripts of hatch, pdm and poe."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gate.commands.part import Part, join, option_values, skip_options
from gate.commands.scripts import read_inside
from gate.strangers import toml_of

if TYPE_CHECKING:
    import ast

_PYTHON_VALUES = frozenset({"-W", "-X", "-c", "--check-hash-based-pycs"})


def expand(argv: tuple[str, ...], cwd: Path, root: Path) -> Sequence[Part] | None:
    """Return what a Python runner starts, None when it starts nothing that is known here."""
    match argv[0]:
        case "python":
            return _python(argv, cwd, root)
        case "tox":
            return _tox(argv, cwd, root)
        case "nox":
            return _nox(argv, cwd, root)
        case "hatch" if argv[1:2] == ("test",):
            return [Part(join(["pytest", *[w for w in argv[2:] if w != "--"]]), cwd)]
        case "hatch" | "pdm" | "poe" | "poethepoet" | "pixi":
            return _named_script(argv, cwd, root)
        case _:
            return None


def _python(argv: tuple[str, ...], cwd: Path, root: Path) -> list[Part] | None:
    words = list(argv[1:])
    while words and words[0].startswith("-") and words[0] != "-m":
        option = words.pop(0)
        if option.endswith("m") and not option.startswith("--") and option[1:].isalpha() and option != "-c":
            words.insert(0, "-m")  # -Im pytest
            break
        if option in _PYTHON_VALUES and words:
            words.pop(0)
    if words[:1] == ["-m"] and len(words) > 1:
        return [Part(join(words[1:]), cwd, launcher=("python", "-m"))]
    if not words or not words[0].endswith(".py"):
        return None
    if words[0].rsplit("/", 1)[-1] == "manage.py":
        return [Part(join(["manage.py", *words[1:]]), cwd, launcher=("python",))]
    text = (read_inside(cwd / words[0], root) or b"").decode("utf-8", "replace")
    if re.search(r"\bpytest\.(?:console_)?main\(", text):
        return [Part(join(["pytest"]), cwd)]
    if re.search(r"\bunittest\.main\(|TextTestRunner|\bunittest\b.*\bmain\b", text):
        return [Part(join(["unittest"]), cwd)]
    return None


def _tox(argv: tuple[str, ...], cwd: Path, root: Path) -> list[Part]:
    extra = list(argv[argv.index("--") + 1 :]) if "--" in argv else []
    options = argv[1 : argv.index("--")] if "--" in argv else argv[1:]
    wanted = [e for v in option_values(options, frozenset({"-e", "--env"})) for e in v.split(",")]
    commands = _tox_commands(cwd, root)
    names = wanted or commands.pop("", [""])[0].split() or ["testenv"]
    parts = list[Part]()
    for name in names:
        base = next((c for c in (name, *reversed(name.split("-"))) if c in commands), "testenv")
        for text in commands.get(base, []):
            filled = re.sub(r"\{posargs(?::([^}]*))?\}", lambda m: join(extra) if extra else m[1] or "", text)
            filled = filled.replace("{envpython}", "python").replace("{toxinidir}", ".").replace("{tox_root}", ".")
            binds = not filled.lstrip().startswith("- ")
            parts.append(Part(re.sub(r"^\s*[-!]\s+", "", filled), cwd, fresh=True, binds=binds))
    return parts


def _tox_commands(cwd: Path, root: Path) -> dict[str, list[str]]:
    """Return the commands of each tox environment; "" holds the list of environments, `testenv` the common ones."""
    native = _toml(cwd / "tox.toml", root) or _table(_toml(cwd / "pyproject.toml", root), "tool", "tox")
    legacy = native.get("legacy_tox_ini")
    for text in (read_inside(cwd / "tox.ini", root), read_inside(cwd / "setup.cfg", root), legacy):
        if isinstance(text, str | bytes) and text:
            found = _ini_commands(text if isinstance(text, str) else text.decode("utf-8", "replace"))
            if found:
                return found
    listed = native.get("env_list")
    found = {"": [" ".join(map(str, listed))]} if isinstance(listed, list) and listed else {}
    for name, table in (("testenv", _table(native, "env_run_base")), *_table(native, "env").items()):
        commands = table.get("commands") if isinstance(table, dict) else None
        if isinstance(commands, list):
            lines = [[str(w) for w in c if not isinstance(w, dict)] for c in commands if isinstance(c, list)]
            found[name] = [join(words) for words in lines]
    return found


def _ini_commands(text: str) -> dict[str, list[str]]:
    import configparser  # noqa: PLC0415 only for files of this kind

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    found = dict[str, list[str]]()
    for section in parser.sections():
        if section in {"tox", "tox:tox"}:
            listed = parser.get(section, "env_list", fallback=parser.get(section, "envlist", fallback=""))
            found[""] = [" ".join(_braces(listed))]
        elif section == "testenv" or section.startswith("testenv:"):
            lines = re.sub(r"\\\n\s*", " ", parser.get(section, "commands", fallback="")).split("\n")
            if any(lines):
                found[section.removeprefix("testenv:")] = [line for line in lines if line.strip()]
    return found


def _braces(text: str) -> list[str]:
    """Return the names in an environment list: `py{311,312}, lint` is three."""
    names = list[str]()
    for item in re.split(r"[,\s]+(?![^{]*\})", text.strip()):
        match = re.match(r"^(.*?)\{([^}]*)\}(.*)$", item)
        if match:
            names += [n for part in match[2].split(",") for n in _braces(f"{match[1]}{part.strip()}{match[3]}")]
        elif item:
            names.append(item)
    return names


def _nox(argv: tuple[str, ...], cwd: Path, root: Path) -> list[Part]:
    import ast  # noqa: PLC0415 only for files of this kind

    wanted = {n for v in option_values(argv, frozenset({"-s", "-e", "--session", "--sessions"})) for n in v.split(",")}
    try:
        tree = ast.parse(read_inside(cwd / "noxfile.py", root) or b"")
    except (SyntaxError, ValueError):
        return []
    parts = list[Part]()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and any("session" in ast.unparse(d) for d in node.decorator_list):
            if wanted and not any(w.split("-")[0] == node.name for w in wanted):
                continue
            parts += [Part(text, cwd, fresh=True) for text in _session_runs(node)]
    return parts


def _session_runs(node: "ast.FunctionDef") -> Iterator[str]:
    import ast  # noqa: PLC0415 loaded already

    for call in ast.walk(node):
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr in {"run", "run_always"}
        ):
            words = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            if words:
                yield join(words)


def _named_script(argv: tuple[str, ...], cwd: Path, root: Path) -> list[Part] | None:
    """`hatch run x`, `pdm x`, `poe x`: a name that pyproject.toml gives a command."""
    words = skip_options(argv[1:], frozenset({"-e", "--env", "-p", "--project"}))
    words = words[1:] if words[:1] == ["run"] else words
    if not words:
        return None
    pyproject = _toml(cwd / "pyproject.toml", root)
    tables = [_table(pyproject, "tool", *keys) for keys in (("pdm", "scripts"), ("poe", "tasks"), ("pixi", "tasks"))]
    tables += [_table(env, "scripts") for env in _table(pyproject, "tool", "hatch", "envs").values()]
    name = words[0].rpartition(":")[2]
    for table in tables:
        for text in _texts(table.get(name)):
            return [Part(f"{text} {join(words[1:])}".strip(), cwd)]
    return None if argv[0] in {"poe", "poethepoet"} else [Part(join(words), cwd)] if argv[1:2] == ("run",) else None


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [" && ".join(str(v) for v in value)]
    if isinstance(value, dict):
        return [t for k in ("cmd", "shell", "composite") for t in _texts(value.get(k))]
    return []


def _toml(path: Path, root: Path) -> dict[str, Any]:
    return toml_of((read_inside(path, root) or b"").decode("utf-8", "replace")) or {}


def _table(found: object, *keys: str) -> dict[str, Any]:
    """Return the table below keys, an empty one where anything else stands."""
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}
