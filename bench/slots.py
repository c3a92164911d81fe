"""From a lease to a ready slot, warm, beside the cold way (worktree, install) and beside what git alone needs.

    python bench/slots.py [--only javascript,python,files,gate] [--rounds N] [--files N] [--project DIR]

Four tables in one run: a JavaScript project (vite, react, next, typescript, eslint, vitest), a Python project (uv, or
pip where uv is missing), a repository of 50,000 files, and the second job's gate beside the first one's. The first two
and the last need package registries; `--project` measures a git repository of yours in their place.
"""

import argparse
import asyncio
import contextlib
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from bot.sandbox import proc  # noqa: E402  (the checkout is put on the path first)
from bot.sandbox.box import PATH, Box, wrap  # noqa: E402
from bot.slots.pool import Pool, Ready  # noqa: E402
from bot.slots.slot import Slot  # noqa: E402
from bot.tickets.repository import Install  # noqa: E402
from bot.tickets.store import open_store, sqlite_url  # noqa: E402

ENV = {
    "PATH": PATH, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
}  # fmt: skip


def run(*argv: str, cwd: Path, **more: str) -> str:
    """Run a program and return what it printed."""
    env = {**ENV, "HOME": str(cwd.parent), **more}
    return subprocess.run(argv, cwd=cwd, env=env, check=True, capture_output=True, text=True).stdout.strip()


PACKAGES = {
    "dependencies": {"react": "^19", "react-dom": "^19", "next": "^15"},
    "devDependencies": {
        "vite": "^7", "@vitejs/plugin-react": "^5", "typescript": "^5", "eslint": "^9", "@eslint/js": "^9",
        "typescript-eslint": "^8", "vitest": "^3", "@types/react": "^19", "@types/react-dom": "^19",
        "@types/node": "^20",
    },
}  # fmt: skip
TSCONFIG = {
    "compilerOptions": {
        "target": "ES2022", "lib": ["ES2022", "DOM", "DOM.Iterable"], "jsx": "preserve",
        "module": "esnext", "strict": True,
        "moduleResolution": "bundler", "noEmit": True, "incremental": True, "skipLibCheck": False,
        "esModuleInterop": True,
        "isolatedModules": True, "resolveJsonModule": True, "allowJs": True, "plugins": [{"name": "next"}],
        "tsBuildInfoFile": "node_modules/.tmp/app.tsbuildinfo",
    },
    "include": ["next-env.d.ts", "**/*.ts", "**/*.tsx", ".next/types/**/*.ts"],
    "exclude": ["node_modules"],
}  # fmt: skip
SOURCES = {
    ".gitignore": "node_modules/\n.next/\n.venv/\n*.tsbuildinfo\n",
    "tsconfig.json": json.dumps(TSCONFIG, indent=2),
    "next-env.d.ts": '/// <reference types="next" />\n',
    "next.config.mjs": "export default { eslint: { ignoreDuringBuilds: true }, "
    "typescript: { ignoreBuildErrors: true } }\n",
    "eslint.config.mjs": 'import ts from "typescript-eslint"\n'
    'export default ts.config({ignores: [".next/**", "next-env.d.ts"]}, '
    "...ts.configs.recommendedTypeChecked, "
    "{languageOptions: {parserOptions: {projectService: true}}, ignores: ['*.mjs']}, "
    "{files: ['*.mjs'], ...ts.configs.disableTypeChecked})\n",
    "app/layout.tsx": "export default function Layout({ children }: { children: React.ReactNode }) {\n"
    '  return <html lang="en"><body>{children}</body></html>\n}\n',
}
GATE = {
    "tsc": ("node_modules/.bin/tsc",),
    "eslint --cache": ("node_modules/.bin/eslint", "--cache", "app", "src"),
    "next build": ("node_modules/.bin/next", "build"),
}


def javascript(path: Path) -> None:
    """Write a project with the tools that a front end has, and its lockfile."""
    (path / "package.json").write_text(json.dumps({"name": "app", "version": "1.0.0", "private": True, **PACKAGES}))
    files = dict(SOURCES)
    for n in range(120):
        files[f"src/part{n}.tsx"] = (
            f"export interface Props{n} {{ name: string; count: number }}\n"
            f"export function Part{n}({{ name, count }}: Props{n}) {{\n  return <p>{{name}}: {{count + {n}}}</p>\n}}\n"
        )
    used = range(0, 120, 4)
    files["app/page.tsx"] = (
        "".join(f'import {{ Part{n} }} from "../src/part{n}"\n' for n in used)
        + "export default function Page() {\n  return <main>"
        + "".join(f'<Part{n} name="a" count={{{n}}} />' for n in used)
        + "</main>\n}\n"
    )
    _write(path, files)
    run("npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund", cwd=path)


def python(path: Path) -> None:
    """Write a project with the tools that a Python service has, locked by uv where it is at hand."""
    wants = ["httpx==0.28.1", "pydantic==2.11.7", "pytest==8.4.1", "mypy==1.17.0", "starlette==0.47.1"]
    _write(path, {".gitignore": ".venv/\n", "app.py": "x: int = 1\n"})
    if shutil.which("uv", path=PATH):
        quoted = ", ".join(f'"{want}"' for want in wants)
        head = f'[project]\nname = "app"\nversion = "1"\nrequires-python = ">=3.11"\ndependencies = [{quoted}]\n'
        _write(path, {"pyproject.toml": head})
        with contextlib.suppress(subprocess.CalledProcessError):  # it reads none of pip's settings
            run("uv", "lock", "--quiet", cwd=path)
            return
        (path / "pyproject.toml").unlink()
    _write(path, {"requirements.txt": "\n".join(wants) + "\n"})


def many(path: Path, files: int) -> None:
    """Write a repository of many files and no dependencies."""
    _write(path, {f"src/d{n % 500}/f{n}.txt": f"{n}\n" for n in range(files)})


def _write(path: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)


def second_commit(path: Path) -> tuple[str, str]:
    """Return two commits that differ in a few files."""
    run("git", "init", "-q", "-b", "main", cwd=path)
    shas = []
    for text in ("one", "two"):
        for n in range(5):
            (path / f"changed{n}.txt").write_text(f"{text}\n")
        if (path / "src" / "part0.tsx").exists():
            (path / "src" / "text.ts").write_text(f'export const text = "{text}"\n')
        run("git", "add", "-A", cwd=path)
        run("git", "commit", "-qm", text, cwd=path)
        shas.append(run("git", "rev-parse", "HEAD", cwd=path))
    return shas[0], shas[1]


async def timed(act: Callable[[int], Awaitable[object]], rounds: int) -> float:
    """Return the median milliseconds of a few calls."""
    took = []
    for n in range(rounds):
        began = time.perf_counter()
        await act(n)
        took.append(1000 * (time.perf_counter() - began))
    return statistics.median(took)


@dataclass
class Bench:
    """A pool of one slot over one repository."""

    folder: Path
    origin: Path
    shas: tuple[str, str]

    async def open(self) -> None:
        """Make the pool."""
        store = open_store(sqlite_url(self.folder / "s.db"))
        self.pool = Pool(self.folder / "slots", store, host="bench", slots=1)
        self.jobs = 0
        await self.pool.open()

    async def start(self) -> tuple[Slot, Ready, float]:
        """Lease and prepare at the other commit; return slot and milliseconds."""
        began = time.perf_counter()
        slot = await self.pool.lease("acme/app", ticket=self.jobs + 1, epoch=1)
        assert slot is not None
        ready = await self.pool.prepare(
            slot, url=str(self.origin), token=None, sha=self.shas[self.jobs % 2], install=Install(),
            on_part=lambda *_: None, use="lend",
        )  # fmt: skip
        self.jobs += 1
        return slot, ready, 1000 * (time.perf_counter() - began)

    async def cold(self, n: int) -> None:
        """Make a worktree and install into it, downloads at hand, as a job without slots does."""
        tree, store = self.folder / f"cold{n}", self.pool.store_of("acme/app")
        sha, mirror = self.shas[n % 2], self.pool.mirror("acme/app")
        run("git", f"--git-dir={mirror}", "worktree", "add", "-q", "--detach", str(tree), sha, cwd=self.folder)
        if (tree / "package-lock.json").exists():
            cache = f"--cache={store / 'npm'}"
            run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", cache, cwd=tree)
        elif (tree / "uv.lock").exists():
            run("uv", "sync", "--locked", "--quiet", cwd=tree, UV_CACHE_DIR=str(store / "uv"), UV_LINK_MODE="copy")
        elif (tree / "requirements.txt").exists():
            run("python3", "-m", "venv", ".venv", cwd=tree)
            pip = (".venv/bin/python", "-m", "pip", "install", "-q", "-r", "requirements.txt")
            run(*pip, cwd=tree, PIP_CACHE_DIR=str(store / "pip"))

    async def bare(self, n: int) -> None:
        """Do with git alone what leaves dependencies where they are."""
        run("git", "reset", "-q", "--hard", self.shas[n % 2], cwd=self.folder / "cold0")
        run("git", "clean", "-ffdxq", "-e", "node_modules", "-e", ".venv", cwd=self.folder / "cold0")


async def measure(folder: Path, origin: Path, shas: tuple[str, str], rounds: int) -> list[tuple[str, float]]:
    """Return the ways and their medians; every round goes to the other commit."""
    bench = Bench(folder, origin, shas)
    await bench.open()
    warm: list[float] = []
    resets: list[float] = []
    for _ in range(rounds + 1):
        slot, _, took = await bench.start()
        warm.append(took)
        (slot.path / "left").mkdir(exist_ok=True)
        (slot.path / "left" / "behind").write_text("x")
        began = time.perf_counter()
        proof = await bench.pool.release(slot)
        resets.append(1000 * (time.perf_counter() - began))
        assert proof.clean, proof
    await bench.pool.close()
    return [
        ("cold: git worktree add, install", await timed(bench.cold, min(rounds, 3))),
        ("first lease of a slot, made and installed", warm[0]),
        ("warm: lease to ready", statistics.median(warm[1:])),
        ("bare: git reset --hard, git clean", await timed(bench.bare, rounds)),
        ("given back with its proof", statistics.median(resets[1:])),
    ]


async def gates(folder: Path, origin: Path, shas: tuple[str, str]) -> list[str]:
    """Return the lines that compare the commands of a gate in a first job and in the second one, at another commit."""
    bench = Bench(folder, origin, shas)
    await bench.open()
    took: dict[str, list[float]] = {name: [] for name in GATE}
    refused: dict[str, str] = {}
    for _ in range(2):
        slot, ready, _ = await bench.start()
        box = Box("bubblewrap", slot.path, slot.home, env=bench.pool.environment(slot))
        for name, argv in GATE.items():
            command, env = wrap(box, argv, env={"CI": "true", "NEXT_TELEMETRY_DISABLED": "1"})
            began = time.perf_counter()
            done = await proc.run(*command, cwd=slot.path, env=env, limit_s=600)
            took[name].append(time.perf_counter() - began)
            if done.exit_code:
                raise SystemExit(f"{name} ended with {done.exit_code}:\n{done.output[-2000:]}")
        refused = await bench.pool.take_caches(slot, ready.ground)
        await bench.pool.release(slot)
    await bench.pool.close()
    lines = [f"{name:<44} {a:>9.1f} s    {b:>7.1f} s   {a / b:>6.1f} x" for name, (a, b) in took.items()]
    first, second = (sum(times[n] for times in took.values()) for n in (0, 1))
    lines.append(f"{'together':<44} {first:>9.1f} s    {second:>7.1f} s   {first / second:>6.1f} x")
    return [*lines, *(f"not kept: {path}: {why}" for path, why in refused.items())]


def show(title: str, rows: list[tuple[str, float]], rounds: int) -> None:
    """Print one table, and what it means."""
    by = dict(rows)
    warm, cold, bare = by["warm: lease to ready"], rows[0][1], by["bare: git reset --hard, git clean"]
    print(f"\n{title}; medians of {rounds} rounds, each to another commit\n")
    for name, took in rows:
        print(f"{name:<44} {took:>9.1f} ms   {took / warm:>7.2f} x warm")
    print(f"warm is {cold / warm:.0f} times faster than cold, and {warm / bare:.2f} times bare git", flush=True)


def main() -> int:
    """Measure and print the tables."""
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    words.add_argument("--only", default="javascript,python,files,gate", help="some of these, with commas between")
    words.add_argument("--rounds", type=int, default=7)
    words.add_argument("--files", type=int, default=50_000)
    words.add_argument("--project", type=Path, help="a git repository whose HEAD and HEAD~1 are used")
    asked = words.parse_args()
    only = asked.only.split(",")
    if shutil.which("npm") is None and asked.project is None:
        print("npm is missing: apt-get install npm")
        return 2
    with tempfile.TemporaryDirectory(prefix="slots-bench-") as place:
        folder = Path(place)
        if asked.project is not None:
            shas = (
                run("git", "rev-parse", "HEAD~1", cwd=asked.project),
                run("git", "rev-parse", "HEAD", cwd=asked.project),
            )
            show(str(asked.project), asyncio.run(measure(folder, asked.project, shas, asked.rounds)), asked.rounds)
            return 0
        makers: dict[str, Callable[[Path], None]] = {
            "javascript": javascript, "python": python, "files": lambda path: many(path, asked.files),
        }  # fmt: skip
        for name, make in makers.items():
            if name not in only and not (name == "javascript" and "gate" in only):
                continue
            origin = folder / name / "origin"
            origin.mkdir(parents=True)
            make(origin)
            shas = second_commit(origin)
            if name in only:
                rows = asyncio.run(measure(folder / name, origin, shas, asked.rounds))
                count = run("git", "ls-tree", "-r", "--name-only", shas[1], cwd=origin).count("\n") + 1
                show(f"{name}, {count:,} files", rows, asked.rounds)
            if name == "javascript" and "gate" in only:
                (folder / "gate").mkdir()
                print(f"\n{'gate of a job':<44} {'first':>11}  {'second':>10}\n")
                print("\n".join(asyncio.run(gates(folder / "gate", origin, shas))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
