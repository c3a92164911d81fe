"""Programs that start the program named behind them: `env`, `timeout`, `bash -c`, `uv run`, `npx`, ..."""

from collections.abc import Sequence
from pathlib import Path

from gate.commands.part import Part, join, skip_options
from gate.commands.shell import shell_options

_NONE: frozenset[str] = frozenset()
_UV = frozenset(
    {"--with", "--python", "-p", "--extra", "--group", "--package", "--directory", "--project", "--env-file", "--index"}
    | {"--no-group", "--only-group", "--with-requirements", "--with-editable", "--index-url", "--config-file", "-w"}
    | {"--extra-index-url", "--refresh-package", "--resolution", "--cache-dir", "--link-mode"}
)

# name -> (options that take a value, positional words of its own before the program)
_PLAIN: dict[str, tuple[frozenset[str], int]] = {
    "env": (frozenset({"-u", "--unset", "-C", "--chdir"}), 0),
    "time": (frozenset({"-f", "-o"}), 0),
    "nice": (frozenset({"-n"}), 0),
    "ionice": (frozenset({"-c", "-n"}), 0),
    "nohup": (_NONE, 0),
    "exec": (_NONE, 0),
    "command": (_NONE, 0),
    "sudo": (frozenset({"-u", "-g"}), 0),
    "stdbuf": (frozenset({"-i", "-o", "-e"}), 0),
    "timeout": (frozenset({"-k", "-s", "--signal", "--kill-after"}), 1),
    "gtimeout": (frozenset({"-k", "-s", "--signal", "--kill-after"}), 1),
    "xvfb-run": (frozenset({"-s", "-n", "-e", "-f", "-p", "-w", "--server-args", "--server-num"}), 0),
    "dbus-run-session": (_NONE, 0),
    "catchsegv": (_NONE, 0),
    "cross-env": (_NONE, 0),
    "cross-env-shell": (_NONE, 0),
    "dotenv": (frozenset({"-e", "-f", "-c", "-p", "-v"}), 0),
    "dotenvx": (frozenset({"-e", "-f"}), 0),
    "op": (frozenset({"--env-file"}), 0),
    "doppler": (frozenset({"-p", "-c"}), 0),
    "c8": (frozenset({"-r", "--reporter", "-x", "--exclude", "-n", "--include", "--reports-dir"}), 0),
    "nyc": (frozenset({"-r", "--reporter", "-x", "--exclude", "-n", "--include"}), 0),
    "corepack": (_NONE, 0),
    "eval": (_NONE, 0),
    "xargs": (frozenset({"-n", "-P", "-I", "-L", "-d", "-a", "-s", "-E"}), 0),
    "npx": (frozenset({"-p", "--package", "-c", "--call", "-w", "--workspace"}), 0),
    "bunx": (frozenset({"-p", "--package"}), 0),
    "pnpx": (_NONE, 0),
    "uvx": (_UV | {"--from"}, 0),
}
# two words -> options that take a value
_PAIRS: dict[tuple[str, str], frozenset[str]] = {
    ("uv", "run"): _UV,
    ("uv", "tool"): _UV,
    ("pipx", "run"): frozenset({"--spec", "--python", "--pip-args"}),
    ("go", "run"): frozenset({"-C", "-tags", "-ldflags", "-mod", "-modfile"}),
    ("poetry", "run"): _NONE,
    ("pipenv", "run"): _NONE,
    ("rye", "run"): _NONE,
    ("conda", "run"): frozenset({"-n", "--name", "-p", "--prefix"}),
    ("mamba", "run"): frozenset({"-n", "--name", "-p", "--prefix"}),
    ("micromamba", "run"): frozenset({"-n", "--name", "-p", "--prefix"}),
    ("bundle", "exec"): _NONE,
    ("direnv", "exec"): _NONE,
    ("nix", "develop"): _NONE,
    ("mise", "exec"): _NONE,
    ("asdf", "exec"): _NONE,
    ("pnpm", "exec"): _NONE,
    ("pnpm", "dlx"): frozenset({"--package"}),
    ("yarn", "exec"): _NONE,
    ("yarn", "dlx"): frozenset({"-p", "--package"}),
    ("npm", "exec"): frozenset({"-p", "--package", "-c", "--call", "-w", "--workspace"}),
    ("npm", "x"): frozenset({"-p", "--package", "-c", "--call"}),
    ("bun", "x"): _NONE,
    ("coverage", "run"): frozenset({"--source", "--omit", "--include", "--rcfile", "--concurrency", "--data-file"}),
}
_SHELLS = {"bash", "sh", "dash", "zsh", "ksh", "ash"}


def expand(argv: tuple[str, ...], cwd: Path, root: Path) -> Sequence[Part] | None:
    """Return what a wrapper starts, None when this is no wrapper."""
    del root
    name = argv[0]
    if name in _SHELLS:
        return _shell(argv, cwd)
    if name in _PLAIN:
        return _plain(argv, cwd)
    pair = (name, argv[1] if len(argv) > 1 else "")
    if pair not in _PAIRS:
        return None
    rest = list(argv[2:])
    if pair == ("uv", "tool"):
        rest = rest[1:] if rest[:1] == ["run"] else []
    return _started(argv, rest, _PAIRS[pair], cwd)


def _plain(argv: tuple[str, ...], cwd: Path) -> list[Part]:
    options, own = _PLAIN[argv[0]]
    if argv[0] == "command" and argv[1:2] in (("-v",), ("-V",)):
        return []  # only asks whether there is one
    if argv[0] in {"env", "cross-env", "cross-env-shell", "dotenv", "dotenvx", "exec", "time", "timeout", "nice"}:
        rest = skip_options(argv[1:], options)[own:]
        return [Part(join(rest[1:] if rest[:1] == ["--"] else rest), cwd)]
    return _started(argv, list(argv[1 + own :]), options, cwd)


def _started(argv: tuple[str, ...], words: list[str], options: frozenset[str], cwd: Path) -> list[Part]:
    for flag in ("-c", "--call"):
        if argv[0] in {"npx", "npm"} and flag in words[:-1]:
            return [Part(words[words.index(flag) + 1], cwd)]
    module = _module(argv[0], words, options)
    if module is not None:
        return [Part(join(["python", "-m", *module]), cwd, launcher=())]
    rest = skip_options(words, options)
    if rest[:1] == ["run"] and argv[0] in {"dotenvx", "op", "doppler"}:
        rest = skip_options(rest[1:], options)
    launcher = argv[: len(argv) - len(rest)]
    if argv[0] == "eval":
        return [Part(" ".join(rest), cwd)]
    if argv[:2] == ("go", "run"):
        name = rest[0].split("@")[0].rsplit("/", 1)[-1] if rest and "@" in rest[0] else ""
        return [Part(join([name, *[w for w in rest[1:] if w != "--"]]), cwd, fresh=True)] if name else []
    if argv[0] == "coverage":
        return [Part(join(["python", *rest]), cwd)] if rest else []
    if rest and argv[0] in {"npx", "bunx", "uvx", "pnpx", "npm", "pnpm", "yarn"}:
        rest[0] = rest[0].split("@")[0] if not rest[0].startswith("@") else "@" + rest[0][1:].split("@")[0]
    # xargs starts its program as often as it needs
    return [Part(join(rest), cwd, launcher=launcher, sure=argv[0] != "xargs")] if rest else []


def _module(name: str, words: list[str], options: frozenset[str]) -> list[str] | None:
    """Return module and arguments of `uv run -m X` and `coverage run -m X`."""
    if name not in {"uv", "coverage"}:
        return None
    for flag in ("-m", "--module"):
        if flag in words[:-1]:
            before = words[: words.index(flag)]
            if not [word for word in skip_options(before, options) if not word.startswith("-")]:
                return words[words.index(flag) + 1 :]
    return None


def _shell(argv: tuple[str, ...], cwd: Path) -> list[Part] | None:
    """`bash -eo pipefail -c TEXT`; a script file is read by scripts.expand."""
    words = list(argv[1:])
    options = shell_options(words)
    while words and words[0].startswith(("-", "+")):
        option = words.pop(0)
        if option in {"-o", "+o", "-O"} and words:
            words.pop(0)
        elif not option.startswith("--") and "c" in option[1:]:
            if option.endswith("o") and words:  # -euco pipefail
                words.pop(0)
            return [Part(words[0], cwd, options=options)] if words else []
        elif not option.startswith("--") and option.endswith("o") and words:
            words.pop(0)
    return None
