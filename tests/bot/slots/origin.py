"""A small repository to make slots of."""

import subprocess
from pathlib import Path


def run(*argv: str, cwd: Path) -> str:
    env = {"GIT_CONFIG_GLOBAL": "/dev/null", "PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_AUTHOR_NAME": "a",
           "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b", "HOME": str(cwd)}  # fmt: skip
    return subprocess.run(argv, cwd=cwd, env=env, check=True, capture_output=True, text=True).stdout.strip()


def commit(origin: Path, files: dict[str, str], message: str = "change") -> str:
    """Write files and commit them; return the commit."""
    for name, text in files.items():
        (origin / name).parent.mkdir(parents=True, exist_ok=True)
        (origin / name).write_text(text)
    run("git", "add", "-A", cwd=origin)
    run("git", "commit", "-qm", message, cwd=origin)
    return run("git", "rev-parse", "HEAD", cwd=origin)


def make_origin(path: Path) -> Path:
    """Make a repository of one commit."""
    path.mkdir()
    run("git", "init", "-q", "-b", "main", cwd=path)
    commit(path, {"a.txt": "one\n", "src/b.txt": "b\n", "src/deep/c.txt": "c\n", ".gitignore": "junk/\n"})
    return path
