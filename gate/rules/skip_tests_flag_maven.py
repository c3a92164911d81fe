"""Maven goes through its test phase and is told to run no test, or to succeed whatever the tests say."""

from collections.abc import Iterator

from gate.report import Finding, Level
from gate.repository.jvm.maven import MavenRun, Setting, maven_runs, poms, settings
from gate.repository.jvm.tests import files_with_tests, reports
from gate.repository.opening import Repository
from gate.repository.shell_files import place

ID = "skip-tests-flag"
SUMMARY = (
    "Maven: `-DskipTests`, `-Dmaven.test.skip` where no other command runs the tests, `-Dmaven.test.failure.ignore`, `-fn`, "
    "`failIfNoTests=false`, or the same in a POM, an active profile or `.mvn/maven.config`.\n"
    "A note where a workflow runs the tests beside the policy.\nNext: take it away, or add a step that runs the tests."
)
_SKIPS = ("skipTests", "maven.test.skip")
_NONE = (
    "failIfNoTests",
    "surefire.failIfNoSpecifiedTests",
    "failsafe.failIfNoSpecifiedTests",
    "it.failIfNoSpecifiedTests",
)
_CONFIG = ".mvn/maven.config"
_SAYS = {
    "skip": "skips the tests", "ignore": "succeeds when tests fail", "none": "succeeds without any test",
    "skip-its": "skips the integration tests",
}  # fmt: skip


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each word of a command line and each setting of a POM by which tests count for nothing."""
    runs = maven_runs(repo, repo.gate)
    told = set[tuple[str, int | None]]()
    for run in runs:
        if not files_with_tests(repo.tree, run.folder):
            continue
        for finding in (*_of_words(repo, run, runs), *_of_config(repo, run), *_of_poms(repo, run)):
            if (finding.path or "", finding.line) not in told:
                told.add((finding.path or "", finding.line))
                yield finding


def _of_words(repo: Repository, run: MavenRun, runs: list[MavenRun]) -> Iterator[Finding]:
    skips, ignores = run.is_set(*_SKIPS), run.is_set("maven.test.failure.ignore")
    ignores = ignores or next((w for w in run.words if w in ("-fn", "--fail-never")), "")
    if skips and all(r.is_set(*_SKIPS) for r in runs if _meet(r, run)):
        others = [r for r in maven_runs(repo, repo.checks) if _meet(r, run) and not r.is_set(*_SKIPS)]
        yield _finding(
            repo, run, skips, "skips the tests, and no command runs them", Level.NOTE if others else Level.ERROR
        )
    elif ignores and not skips:
        level = Level.WARNING if reports(repo, run.at) else Level.ERROR
        yield _finding(repo, run, ignores, "succeeds when tests fail", level)
    none = next((w for w in run.words if any(w == f"-D{n}=false" for n in _NONE)), "")
    if none and not skips:
        named = next((w for w in run.words if w.startswith(("-Dtest=", "-Dit.test="))), "")
        what = f"succeeds when there is no test for {named}" if named else "succeeds without any test"
        yield _finding(repo, run, none, what, Level.ERROR if named else Level.WARNING)


def _meet(a: MavenRun, b: MavenRun) -> bool:
    """Return whether two runs build some of the same: one folder lies within the other."""
    return f"{a.folder}/".startswith(f"{b.folder}/" if b.folder else "") or f"{b.folder}/".startswith(
        f"{a.folder}/" if a.folder else ""
    )


def _finding(repo: Repository, run: MavenRun, word: str, what: str, level: Level) -> Finding:
    path, line = place(repo.tree, run.at, run.command, word)
    text = " ".join(run.command.argv)
    return Finding(
        ID, level, f"{run.at.name}: `{word}` {what}", path, line, fix=f"take {word} away, or add a step that runs the tests",
        reproduce=f"{text[:100]}; echo $?",
    )  # fmt: skip


def _of_config(repo: Repository, run: MavenRun) -> Iterator[Finding]:
    path = f"{run.folder}/{_CONFIG}" if run.folder else _CONFIG
    for number, line in enumerate((repo.tree.text(path) or "").splitlines(), 1):
        for word in line.split():
            name, _, value = word.removeprefix("-D").partition("=")
            kind = (
                "skip" if name in _SKIPS else "ignore" if name == "maven.test.failure.ignore" or word == "-fn" else ""
            )
            if (
                kind
                and value in ("", "true")
                and not line.startswith("#")
                and not run.turned_off(*_SKIPS, "maven.test.failure.ignore")
            ):
                yield Finding(
                    ID, Level.ERROR, f"{run.at.name}: `{word}` {_SAYS[kind]} in each run of Maven", path, number,
                    fix=f"take {word} away", reproduce=f"{' '.join(run.command.argv)[:100]}; echo $?",
                )  # fmt: skip


def _of_poms(repo: Repository, run: MavenRun) -> Iterator[Finding]:
    for folder, root in poms(repo.tree, run.folder):
        for setting in settings(folder, root, run.words):
            files = files_with_tests(repo.tree, folder, integration=setting.failsafe or setting.kind == "skip-its")
            if files and not run.turned_off(setting.name, *(_SKIPS if setting.kind == "skip" else ())):
                yield _of_setting(run, setting, files)


def _of_setting(run: MavenRun, setting: Setting, files: list[str]) -> Finding:
    inside = f" in the profile {setting.profile!r}" if setting.profile else ""
    mild = setting.kind in ("none", "skip-its")
    value = "false" if setting.kind == "none" else "true"
    return Finding(
        ID, Level.WARNING if mild else Level.ERROR,
        f"{run.at.name}: <{setting.name}>{value}</{setting.name}>{inside} {_SAYS[setting.kind]}", setting.path, setting.line,
        files=tuple(sorted(files)) if setting.kind.startswith("skip") else (), count=len(files),
        fix="take the setting away", reproduce=f"{' '.join(run.command.argv)[:100]}; echo $?",
    )  # fmt: skip
