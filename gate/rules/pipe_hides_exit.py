"""A check stands before a pipe in a shell that asks only the last command how it ended."""

from collections.abc import Iterator

from gate.patterns import later
from gate.report import Finding, Level
from gate.repository.checkers import is_check
from gate.repository.dockerfiles import docker_runs
from gate.repository.opening import Repository
from gate.repository.swallowed import swallowed

ID = "pipe-hides-exit"
SUMMARY = (
    "a pipeline ends as its last command does, so `npm test | tee log` is green whatever the tests say. GitHub starts "
    "`bash -e` without `pipefail` unless the workflow says `shell: bash`; `sh` in a Dockerfile, a Makefile or a package "
    "script has none.\n"
    'Next: `shell: bash` in the workflow, `set -o pipefail` in a script, `SHELL ["/bin/bash", "-eo", "pipefail", '
    '"-c"]` in a Dockerfile.'
)
# programs that only pass on or print what they are given; another may judge it
_PASSES = later(
    r"^\| (?:sudo )?(?:tee|cat|sed|awk|gawk|head|tail|less|more|ts|sort|uniq|column|jq|tr|cut|perl|nl|pv|xcpretty|xcbeautify|"
    r"pino-pretty|bunyan|rustfilt|fold|fmt|tac|rev|iconv|ansi2txt|ansifilter|strings|while|for|unbuffer|stdbuf)\b"
)
# these end as what they are given says
_JUDGES = later(
    r"^\| (?:grep -\w*[qc]|tap\b|tap-|tparse|gotestfmt|faucet|colortap|go-junit-report\b.*-set-exit-code|reviewdog\b.*-fail)"
)


def check(repo: Repository) -> Iterator[Finding]:
    """Yield each check before a pipe, of policies, workflows, scripts and the Dockerfiles that they build."""
    for found in swallowed(repo):
        if found.by.startswith("| ") and not _JUDGES.match(found.by):
            yield _told(found.at.name, found.words, found.by, found.path, found.line)
    for run in docker_runs(repo):
        for command in run.commands:
            if command.lost.startswith("| ") and is_check(command.argv) and not _JUDGES.match(command.lost):
                yield _told("RUN", " ".join(command.argv[:4]), command.lost, run.path, run.line)
                break


def _told(name: str, words: str, by: str, path: str, line: int | None) -> Finding:
    level = Level.ERROR if _PASSES.match(by) else Level.WARNING
    return Finding(
        ID, level, f"{name}: `{words}` may fail, and the pipeline ends as `{by[2:]}` does", path, line,
        fix="set -o pipefail (in a workflow: `shell: bash`)", reproduce="sh -c 'false | cat'; echo $?",  # never their own command, which may write over a file
    )  # fmt: skip
