"""What mocha collects: https://mochajs.org/ (spec, extension, recursive, ignore; `./test` where nothing is said)."""

from typing import Any

from gate.repository.javascript.collecting.collection import Collection, read_words, strings
from gate.repository.javascript.configs import config_in, is_whole, join, load, table
from gate.repository.javascript.globs import matches
from gate.repository.javascript.packages import home, is_below
from gate.repository.tree import Tree
from gate.tools.tool import Invocation

RUNNER = "mocha"
_VALUES = frozenset({
    "-r", "--require", "-R", "--reporter", "-O", "--reporter-option", "--reporter-options", "-t", "--timeout", "-s", "--slow",
    "-u", "--ui", "--config", "--package", "--extension", "-g", "--grep", "-f", "--fgrep", "--file", "--ignore", "--exclude",
    "--spec", "-j", "--jobs", "--retries", "--loader", "--import", "-n", "--node-option", "--opts", "--watch-files", "--global",
    "--ext", "-C", "--watch-extensions", "--compilers",
})  # fmt: skip
_SWITCHES = {"-C"}
_ENDINGS = (".js", ".cjs", ".mjs", ".yaml", ".yml", ".jsonc", ".json", "")


def collect(tree: Tree, run: Invocation) -> list[Collection] | None:
    """Return what a run collects; None where that cannot be known from files."""
    if run.argv[0] not in ("mocha", "_mocha", "ts-mocha", "electron-mocha"):
        return None
    words = read_words(run.words, values=_VALUES - _SWITCHES)
    cwd = tree.relative(run.cwd)
    if "--opts" in words.options or f"{cwd}/test/mocha.opts".removeprefix("./") in tree.known:
        return None
    found = _config(tree, cwd, words.last("--config"), "--no-config" in words.options)
    if found is None:
        return None
    path, config = found
    from_file, more = strings(config.get("spec", [])), strings(config.get("extension", config.get("extensions", [])))
    ignored = strings(config.get("ignore", config.get("exclude", [])))
    if from_file is None or more is None or ignored is None or not is_whole(config):
        return None
    given = [*words.alone, *_listed(words.options.get("--spec", []))]
    specs = [*given, *from_file] or ["./test"]
    endings = tuple(
        f".{e.lstrip('.')}"
        for e in _listed([*words.options.get("--extension", []), *words.options.get("--ext", [])]) or more
    )
    endings = endings or ((".js", ".cjs", ".mjs") if run.argv[0] != "ts-mocha" else (".ts", ".js", ".cjs", ".mjs"))
    recursive = "--recursive" in words.options or bool(config.get("recursive"))
    files = {join(cwd, f) for f in words.options.get("--file", [])}
    out = [
        join(cwd, i)
        for i in [*ignored, *_listed([*words.options.get("--ignore", []), *words.options.get("--exclude", [])])]
    ]
    if any("$" in s for s in specs):
        return None
    targets = [join(cwd, s) for s in specs]

    def fits(file: str) -> bool:
        return file in files or any(_named(tree, file, t, endings, recursive=recursive) for t in targets)

    def leaves_out(file: str) -> bool:
        return any(matches(file, o) or is_below(file, o) for o in out)

    shown = "" if given else path
    line = tree.line_of(path, "spec") if shown and from_file else None
    ask = " ".join(["npx", "mocha", "--dry-run", "--reporter", "list", *given])
    return [
        Collection(
            RUNNER, home(tree, join(cwd, "x")), tuple(specs), shown if from_file else "", line, fits, leaves_out, ask
        )
    ]


def _named(tree: Tree, file: str, target: str, endings: tuple[str, ...], *, recursive: bool) -> bool:
    if target == file or (target == "." and recursive and file.endswith(endings)):
        return True
    if target in tree.folders:
        inner = file[len(target) + 1 :] if file.startswith(f"{target}/") else ""
        return bool(inner) and file.endswith(endings) and (recursive or "/" not in inner)
    return matches(file, target) or (target + file[file.rfind(".") :] == file and file.endswith(endings))


def _config(tree: Tree, cwd: str, named: str | None, none: bool) -> tuple[str, Any] | None:
    package = join(cwd, "package.json")
    path = join(cwd, named) if named else None if none else config_in(tree, cwd, ".mocharc", _ENDINGS)
    if path is None:
        own = table(tree.json(package) if package in tree.known else None, "mocha")
        return (package, own) if isinstance(own, dict) else ("", {})
    found = load(tree, path) if path in tree.known else None
    return (path, found) if isinstance(found, dict) else None


def _listed(values: list[str]) -> list[str]:
    return [part for value in values for part in value.split(",") if part]
