"""Dockerfiles that a check builds, and the shell text of their `RUN` lines."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from gate.commands.part import option_values, skip_options
from gate.commands.resolve import Command, resolve
from gate.commands.shell import Options, shell_options
from gate.repository.opening import Repository
from gate.repository.tree import Tree

_VALUES = frozenset({
    "-t", "--tag", "-f", "--file", "--build-arg", "--target", "--platform", "-o", "--output", "--cache-from", "--cache-to",
    "--secret", "--ssh", "--label", "--network", "--progress", "--iidfile", "--metadata-file", "--builder", "--build-context",
})  # fmt: skip
_FLAGS = re.compile(r"^(?:--\w+=\S+\s+)+")
_DOCUMENT = re.compile(r"^<<-?([\"']?)(\w+)\1\s*$")


class Run(NamedTuple):
    """One `RUN` line of a Dockerfile: the shell text and the programs that it runs."""

    path: str
    line: int
    text: str
    commands: tuple[Command, ...]


def docker_runs(repo: Repository) -> tuple[Run, ...]:
    """Return the `RUN` lines of every Dockerfile that a check of this repository builds."""
    return repo.tree.once("docker-runs", lambda: tuple(_runs(repo)))


def _runs(repo: Repository) -> Iterator[Run]:
    for path in sorted(set(_built(repo))):
        yield from _read(repo.tree, path)


def _built(repo: Repository) -> Iterator[str]:
    for at in repo.checks:
        for command in at.commands:
            words = list(command.argv[1:])
            words = words[1:] if words[:1] in (["buildx"], ["image"]) else words
            if command.argv[0] in ("docker", "podman", "nerdctl", "buildah") and words[:1] in (["build"], ["bud"]):
                files = option_values(words, frozenset({"-f", "--file"}))
                context = (skip_options(words[1:], _VALUES) or ["."])[0]
                yield from _found(repo.tree, files[-1] if files else f"{context}/Dockerfile")
    for workflow in repo.workflows:
        if workflow.judges or "push" in workflow.events:
            for job in workflow.jobs:
                for step in job.steps:
                    if step.uses.startswith("docker/build-push-action"):
                        given = step.found.get("with")
                        given = given if isinstance(given, dict) else {}
                        file = given.get("file") or f"{given.get('context') or '.'}/Dockerfile"
                        yield from _found(repo.tree, str(file))


def _found(tree: Tree, name: str) -> Iterator[str]:
    path = PurePosixPath(name).as_posix().removeprefix("./")
    if path in tree.known:
        yield path


def _read(tree: Tree, path: str) -> Iterator[Run]:
    options, lines = Options(), (tree.text(path) or "").split("\n")
    at = 0
    while at < len(lines):
        start, text = at, lines[at]
        while text.rstrip().endswith("\\") and at + 1 < len(lines):
            at += 1
            following = lines[at]
            text = text.rstrip()[:-1] + " " + ("" if following.lstrip().startswith("#") else following)
            if following.lstrip().startswith("#"):
                text += "\\"  # a comment between continued lines
        at += 1
        word, _, rest = text.strip().partition(" ")
        if word.upper() == "SHELL":
            options = shell_options(re.findall(r'"([^"]*)"', rest)[1:])
        elif word.upper() == "RUN" and not rest.lstrip().startswith("["):
            rest = _FLAGS.sub("", rest.strip())
            document = _DOCUMENT.match(rest)
            if document:
                end = next((n for n in range(at, len(lines)) if lines[n].strip() == document[2]), len(lines))
                rest, start, at = "\n".join(lines[at:end]), at, end + 1
            yield Run(path, start + 1, rest, resolve(rest, tree.root, root=tree.root, options=options))
