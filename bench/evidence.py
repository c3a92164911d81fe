"""What evidence costs a step: following its command, reading its log, and asking its tools, beside the step itself."""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from gate import tools  # noqa: E402  (the checkout is put on the path first)
from gate.report import Evidence  # noqa: E402

FILES = 100
ROUNDS = 3
CACHES = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gate-tests"


def median_ms(call: Callable[[], object]) -> float:
    """Return the median time of a few calls, in milliseconds."""
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        call()
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


def project(folder: Path) -> None:
    """Write a small project of several languages."""
    (folder / "pkg").mkdir(parents=True)
    (folder / "package.json").write_text('{"scripts": {"test": "make test"}}')
    (folder / "Makefile").write_text("test: lint\n\tpython3 -m pytest -q\nlint:\n\truff check\n")
    (folder / "tsconfig.json").write_text('{"include": ["pkg"], "compilerOptions": {"noEmit": true, "strict": true}}')
    (folder / "eslint.config.mjs").write_text("export default [{rules: {'no-undef': 2}}]\n")
    (folder / "go.mod").write_text("module x\n\ngo 1.19\n")
    for i in range(FILES):
        (folder / "pkg" / f"test_a{i}.py").write_text(f"def test_a{i}() -> None:\n    assert True\n")
        (folder / "pkg" / f"a{i}.ts").write_text(f"export const a{i}: number = {i}\n")
        (folder / "pkg" / f"b{i}.js").write_text(f"export const b{i} = {i}\n")
        (folder / "pkg" / f"a{i}_test.go").write_text(
            f'package pkg\n\nimport "testing"\n\nfunc TestA{i}(t *testing.T) {{}}\n'
        )


def run(step: str, folder: Path, env: dict[str, str]) -> tuple[float, float, Evidence]:
    """Return the seconds of the step, those of its evidence, and the evidence."""
    scratch = folder / ".scratch"
    scratch.mkdir(exist_ok=True)
    log = scratch / "log"
    began = time.perf_counter()
    invocations = tools.recognise(step, folder, root=folder)
    added = tools.environment(invocations, scratch, env=env)
    prepared = time.perf_counter()
    with log.open("wb") as out:
        code = subprocess.run(["bash", "-c", step], cwd=folder, env=env | added, stdout=out, stderr=out, check=False)
    ended = time.perf_counter()
    evidence = tools.read_evidence(invocations, log, scratch, exit_code=code.returncode, env=env)
    return ended - prepared, (prepared - began) + (time.perf_counter() - ended), evidence


def main() -> None:
    """Print two tables."""
    found = sorted(CACHES.glob("*/done"))
    modules = found[0].parent / "node_modules" / ".bin" if found else Path("/nonexistent")
    bins = [Path(sys.executable).parent, modules]
    env = dict(os.environ) | {"PATH": ":".join([*map(str, bins), os.environ["PATH"]]), "GOFLAGS": "-mod=mod"}
    folder = Path(tempfile.mkdtemp(prefix="project-", dir=found[0].parent if found else None))
    try:
        project(folder)
        print(f"{'step':28} {'step s':>8} {'evidence s':>11} {'share':>6}  evidence")
        for step in ("pytest -q", "npm test", "ruff check", "tsc", "eslint .", "go test ./...", "go vet ./..."):
            if shutil.which(step.split()[0], path=env["PATH"]) is None:
                print(f"{step:28} not installed")
                continue
            seconds, cost, evidence = run(step, folder, env)
            counted = f"{evidence.tool}: tests {evidence.tests}, files {evidence.files} {evidence.hollow}"
            print(f"{step:28} {seconds:8.2f} {cost:11.3f} {100 * cost / seconds:5.0f}%  {counted}")
        log = folder / "log"
        log.write_text("some line of output: 12 things | passed\n" * 250_000 + "==== 3 passed in 0.1s ====\n")
        calls = {
            "follow `npm test`": lambda: tools.recognise("npm test", folder, root=folder),
            "read a log of 10 MB": lambda: tools.read_evidence(
                tools.recognise("pytest", folder, root=folder), log, folder, exit_code=0
            ),
        }
        print(f"\n{'call':28} {'median ms':>10}")
        for name, call in calls.items():
            print(f"{name:28} {median_ms(call):10.1f}")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
