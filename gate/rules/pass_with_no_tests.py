"""A test runner is told to succeed when it finds no test."""

from collections.abc import Iterator, Sequence

from gate.patterns import later
from gate.report import Finding, Level
from gate.repository.alike import together
from gate.repository.javascript.configs import imports, join
from gate.repository.javascript.tokens import IMPORT
from gate.repository.opening import Repository
from gate.repository.shell_files import place
from gate.repository.tree import Tree

ID = "pass-with-no-tests"
SUMMARY = (
    "a runner succeeds when it finds no test: a renamed folder then looks like success.\nNext: take the option away."
)
FLAGS = ("--passWithNoTests", "--pass-with-no-tests")
CONFIGS = later(r"(?:^|/)(?:jest\.config[^/]*|vite(?:st)?\.config|vitest\.workspace)\.\w+$")
_PRESET = later(r"""['"]?\b(?:preset|extends)['"]?\s*:\s*['"]((?:\.|<rootDir>/)[^'"\n]*)['"]""")
_RUNNERS = {"jest", "vitest", "playwright", "react-scripts", "craco", "mocha"}


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each command with the option, and each configuration that sets it."""
    yield from _in_commands(repo)
    yield from _in_configurations(repo)


def _in_commands(repo: Repository) -> Iterator[Finding]:
    seen = set[tuple[str, int | None]]()
    found: dict[tuple[str, str], list[Finding]] = {}
    for at in repo.gate:
        for command in at.commands:
            flag = next((w for w in command.argv if w in FLAGS or w.startswith(tuple(f"{f}=true" for f in FLAGS))), "")
            if flag and command.argv[0] in _RUNNERS and (where := place(repo.tree, at, command, flag)) not in seen:
                seen.add(where)
                message = f"{at.name}: {command.argv[0]} succeeds without any test ({flag})"
                finding = Finding(
                    ID, Level.ERROR, message, *where, fix=f"take {flag} away",
                    reproduce=f"{command.argv[0]} {flag} -t 'no test is called so'",
                )  # fmt: skip
                found.setdefault((command.argv[0], flag), []).append(finding)
    for (runner, flag), findings in found.items():
        yield from together(findings, f"{runner} succeeds without any test in {len(findings)} places ({flag})")


def _in_configurations(repo: Repository) -> Iterator[Finding]:
    configs = [*(p for p in repo.tree.files if CONFIGS.search(p)), *_given(repo)]
    packages = [p for p in repo.tree.files if p.endswith("package.json")]
    found = dict.fromkeys([*configs, *_bases(repo.tree, configs), *packages])
    for path in found:
        text = repo.tree.text(path) or ""
        for number, line in enumerate(text.splitlines() if "passWithNoTests" in text else (), 1):
            code = line.partition("//")[0].replace('"', "").replace("'", "").replace(" ", "")
            if "passWithNoTests:true" in code:
                yield Finding(
                    ID, Level.ERROR, "the runner is configured to succeed without any test", path, number,
                    fix="take passWithNoTests away", reproduce=f"grep -n passWithNoTests {path}",
                )  # fmt: skip


def _given(repo: Repository) -> Iterator[str]:
    """Yield the configurations that runs are given by name."""
    for command in (c for at in repo.gate for c in at.commands if c.argv[0] in _RUNNERS):
        words = [*command.argv, ""]
        for i, word in enumerate(words[:-1]):
            name, equals, value = word.partition("=")
            path = join(repo.tree.relative(command.cwd), value if equals else words[i + 1])
            if name in ("-c", "--config") and path in repo.tree.known:
                yield path


def _bases(tree: Tree, configs: Sequence[str]) -> Iterator[str]:
    """Yield the files of the repository that configurations import, extend or take for a preset, whatever their names."""
    seen, open_ = set(configs), list(configs)
    while open_:
        path = open_.pop()
        text = tree.text(path) or ""
        for spec in [*(m[1] for m in IMPORT.finditer(text)), *_PRESET.findall(text)]:
            for name in (spec, f"{spec}/jest-preset"):
                target = imports(tree, path, name.replace("<rootDir>/", "./"))
                if target and target not in seen:
                    seen.add(target)
                    open_.append(target)
                    yield target
