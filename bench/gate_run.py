"""What `gate run` costs over three steps that do nothing, beside pre-commit and make on the same; its memory."""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
RUNS = 15
STEPS = 3
PRINTED_BYTES = 1_000_000_000
GATE = [sys.executable, "-I", str(ROOT / "gate" / "__main__.py"), "run", "--quiet", "--repo", "."]
HOOKS = """repos:
  - repo: local
    hooks:
""" + "".join(
    f"      - {{id: h{n}, name: h{n}, entry: 'true', language: system, pass_filenames: false, always_run: true}}\n"
    for n in range(STEPS)
)
NOTHING = "".join(f'[steps.s{n}]\nrun = "test -d ."\nevidence = "exit"\n' for n in range(STEPS))


def main() -> None:
    """Print the tables."""
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder)
        subprocess.run(["git", "init", "-q", str(repo)], check=True)
        (repo / "gate.toml").write_text(NOTHING)
        (repo / ".pre-commit-config.yaml").write_text(HOOKS)
        (repo / "Makefile").write_text(".PHONY: all a b c\nall: a b c\na b c:\n\t@true\n")
        who = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
        subprocess.run(["git", "-C", str(repo), "add", "-A"], check=True)
        subprocess.run(["git", "-C", str(repo), *who, "commit", "-qm", "all"], check=True)
        times(repo)
        memory(repo)


def times(repo: Path) -> None:
    """Print the medians of runs in turn, with how many times each the gate takes."""
    commands = {
        "gate run": GATE,
        "pre-commit run": [str(Path(sys.executable).parent / "pre-commit"), "run", "--all-files"],
        "make -j": ["make", "-s", "-j", "all"],
        "the steps' shells": ["bash", "-c", "bash -eo pipefail -c true & bash -eo pipefail -c true & "
                              "bash -eo pipefail -c true & wait"],
        "python -I -c pass": [sys.executable, "-I", "-c", "pass"],
    }  # fmt: skip
    if not shutil.which("make"):
        del commands["make -j"]
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(RUNS):
        for name, command in commands.items():
            began = time.perf_counter()
            subprocess.run(command, cwd=repo, check=True, capture_output=True)
            taken[name].append((time.perf_counter() - began) * 1000)
    ours, steps = (statistics.median(taken[name]) for name in ("gate run", "the steps' shells"))
    print(f"{STEPS} steps that do nothing, median of {RUNS} runs in turn; {ours - steps:.0f} ms over them\n")
    print(f"{'':<20}{'ms':>8}{'min':>8}{'max':>8}{'gate : it':>12}")
    for name, measured in taken.items():
        median = statistics.median(measured)
        print(f"{name:<20}{median:>8.1f}{min(measured):>8.1f}{max(measured):>8.1f}{ours / median:>11.2f}x")


def memory(repo: Path) -> None:
    """Print the most memory that the gate ever held."""
    loud = f'[steps.loud]\nrun = "yes | head -c {PRINTED_BYTES} || true"\nevidence = "exit"\n'
    print(f"\n{'':<40}{'peak MB':>8}")
    for name, policy in (
        ("three steps that do nothing", NOTHING),
        (f"a step that prints {PRINTED_BYTES:,} bytes", loud),
    ):
        (repo / "gate.toml").write_text(policy)
        process = subprocess.Popen(GATE, cwd=repo, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{name}: the gate ended with {process.returncode}")
        print(f"{name:<40}{used.ru_maxrss / 1024:>8.1f}")


if __name__ == "__main__":
    main()
