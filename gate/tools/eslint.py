"""eslint: prints no count, so after a passing step it is asked which files its configuration covers.

The asking loads the project's own eslint in node and walks the paths of the command line; no rule runs and no file is
linted again. It costs the start of node and of the configuration, 0.3-2 s. Files that eslint only warns about as
ignored are not counted, nor is its own configuration, which is all that `eslint .` sees of a tree of other languages.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from gate.globs import matches as matches_glob
from gate.tools.tool import Counts, Invocation, Ran, asked, closing_line, hidden, per_line

NAME = "eslint"
KIND = "lint"

_MOST_FILES = 3000
_VALUES = {"-c", "--config", "--ext", "--rule", "-f", "--format", "-o", "--output-file", "--max-warnings", "--parser"}
_VALUES |= {"--ignore-path", "--ignore-pattern", "--cache-location", "--env", "--global", "--plugin", "--rulesdir"}
_VALUES |= {"--resolve-plugins-relative-to", "--parser-options", "--cache-file", "--cache-strategy", "--concurrency"}
_CODE = per_line(r"\.(?:[cm]?[jt]sx?|vue|svelte|astro|json[c5]?|md|mdx|ya?ml|css|html|graphql|gjs|gts)$")
_SKIPPED = {"node_modules", ".git", ".venv", "dist", ".next", "coverage"}
_ERRORS = closing_line(r"✖ \d+ problems? \((\d+) errors?,")
_EMPTY = per_line(r"ESLintEmptyConfigWarning")
_SCRIPT = """
const { createRequire } = require('node:module');
const path = require('node:path');
const given = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const eslint = createRequire(path.join(process.cwd(), 'x.js'))('eslint');
(async () => {
  const ESLint = eslint.loadESLint ? await eslint.loadESLint() : eslint.ESLint;
  const flat = ESLint.configType === 'flat';
  const options = given.config ? { overrideConfigFile: path.resolve(given.config) } : {};
  const engine = new ESLint(options);
  const extensions = ['.js', ...given.ext];
  let covered = 0;
  for (const file of given.files) {
    const full = path.resolve(file);
    if (await engine.isPathIgnored(full)) continue;
    const config = await engine.calculateConfigForFile(full).catch(() => undefined);
    if (flat ? config !== undefined : extensions.includes(path.extname(full)) || given.named.includes(file)) covered++;
  }
  console.log(covered);
})().catch(() => process.exit(1));
"""


def matches(argv: Sequence[str]) -> bool:
    """Return whether eslint lints: not when it explains a configuration or a version."""
    asks = {"--version", "-v", "--print-config", "--init", "--env-info", "--inspect-config", "--help"} & set(argv)
    return argv[0] in {"eslint", "eslint_d"} and not asks


def read(ran: Ran) -> Counts:
    """Return how many files eslint looked at."""
    if _EMPTY.search(ran.output):
        return Counts(files=0, hollow="eslint ran with an empty configuration: no rule looked at any file")
    if ran.exit_code != 0:
        return Counts()
    files = asked([_covered(invocation, ran) for invocation in ran.invocations])
    return Counts(files=files, failed=hidden(ran, _ERRORS), hollow="eslint looked at no file" if files == 0 else "")


def _covered(invocation: Invocation, ran: Ran) -> int | None:
    paths, options = _read_words(invocation.words)
    files = sorted(set(_candidates(invocation.cwd, paths or ["."])))[:_MOST_FILES]
    given = {
        "files": files,
        "named": paths,
        "config": options.get("-c") or options.get("--config"),
        "ext": [e for e in options.get("--ext", "").split(",") if e],
    }
    import json  # noqa: PLC0415 only where the tool ran

    answer = ran.asker.ask(["node", "-e", _SCRIPT], cwd=invocation.cwd, stdin=json.dumps(given))
    return int(answer) if answer and answer.strip().isdigit() else None


def _read_words(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    paths, options = list[str](), dict[str, str]()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if name in _VALUES:
            options[name] = value if equals else (rest.pop(0) if rest else "")
        elif not word.startswith("-"):
            paths.append(word)
    return paths, options


def _candidates(cwd: Path, patterns: Sequence[str]) -> Iterator[str]:
    for pattern in patterns:
        path = cwd / pattern
        if path.is_file():
            yield pattern
        elif path.is_dir():
            yield from _below(path, cwd)
        else:
            top = cwd / re.split(r"[^/]*[*?{\[]", pattern, maxsplit=1)[0]
            named = [braced.removeprefix("./") for braced in _braces(pattern)]
            yield from (file for file in _below(top, cwd) if any(matches_glob(file, glob) for glob in named))


def _below(folder: Path, cwd: Path) -> Iterator[str]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for path in entries:
        if path.is_symlink() or path.name in _SKIPPED:
            continue
        if path.is_dir():
            yield from _below(path, cwd)
        elif _CODE.search(path.name) and not path.name.startswith("eslint.config."):
            yield str(path.relative_to(cwd) if path.is_relative_to(cwd) else path)


def _braces(pattern: str) -> list[str]:
    """Return the patterns that a pattern with braces stands for: `src/*.{js,ts}`."""
    match = re.search(r"\{([^{}]*)\}", pattern)
    if not match:
        return [pattern]
    return [
        p for part in match[1].split(",") for p in _braces(pattern[: match.start()] + part + pattern[match.end() :])
    ]
