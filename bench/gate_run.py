"""What `gate run` costs over its steps, beside pre-commit and make on the same three steps that do nothing."""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
RUNS = 15
HOOKS = """repos:
  - repo: local
    hooks:
""" + "".join(
    f"      - {{id: h{n}, name: h{n}, entry: 'true', language: system, pass_filenames: false, always_run: true}}\n"
    for n in range(3)
)


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder)
        subprocess.run(["git", "init", "-q", str(repo)], check=True)
        (repo / "gate.toml").write_text("".join(f'[steps.s{n}]\nrun = "true"\nevidence = "exit"\n' for n in range(3)))
        (repo / ".pre-commit-config.yaml").write_text(HOOKS)
        (repo / "Makefile").write_text(".PHONY: all a b c\nall: a b c\na b c:\n\t@true\n")
        subprocess.run(["git", "-C", str(repo), "add", "-A"], check=True)
        bin_ = Path(sys.executable).parent
        commands = {
            "gate run": [
                sys.executable,
                "-I",
                str(ROOT / "gate" / "__main__.py"),
                "run",
                "--repo",
                str(repo),
                "--quiet",
            ],
            "pre-commit run": [str(bin_ / "pre-commit"), "run", "--all-files"],
            "make -j": ["make", "-s", "-j", "all"],
            "python -I -c pass": [sys.executable, "-I", "-c", "pass"],
        }
        if not shutil.which("make"):
            del commands["make -j"]
        taken: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(RUNS):
            for name, command in commands.items():
                began = time.perf_counter()
                subprocess.run(command, cwd=repo, check=True, capture_output=True)
                taken[name].append((time.perf_counter() - began) * 1000)
    ours = statistics.median(taken["gate run"])
    print(f"three steps that do nothing, median of {RUNS} runs in turn\n")
    print(f"{'':<20}{'ms':>8}{'min':>8}{'max':>8}{'of gate':>9}")
    for name, times in taken.items():
        median = statistics.median(times)
        print(f"{name:<20}{median:>8.0f}{min(times):>8.0f}{max(times):>8.0f}{median / ours:>9.2f}")


if __name__ == "__main__":
    main()
