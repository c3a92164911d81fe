"""Run the gate as a process of its own over a slot, its steps in the box, and read its report."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Literal, Protocol

from bot.sandbox import out, proc
from bot.sandbox.box import Box, wrap
from bot.slots.pool import Ready
from bot.slots.slot import Slot
from bot.tickets.repository import RepositorySettings
from bot.work.job import Desk, Job, Running
from gate.report import Report, Verdict, read_report

GATE_LIMIT_S = 3600.0
PLAN_LIMIT_S = 60.0
RAN = (Verdict.GREEN, Verdict.RED, Verdict.HOLLOW)  # every step came to its end, and so did what it wrote
MB = 1024 * 1024
MOST_REFUSALS = 100  # hosts that the log names in one run


class Case(Protocol):
    """What the gate is asked about: a stage of a ticket, or a person's pull request."""

    @property
    def desk(self) -> Desk:
        """Where it is worked at."""

    @property
    def repository(self) -> str:
        """OWNER/NAME."""

    @property
    def settings(self) -> RepositorySettings:
        """What the repository wants."""

    @property
    def here(self) -> Running:
        """Its slot."""

    @property
    def cancelled(self) -> asyncio.Event:
        """Set when it is to stop now."""

    def folder(self) -> Path:
        """Return the folder for what it writes."""

    def log(self, line: str) -> None:
        """Take a line of output."""


def box_of(job: Case, slot: Slot) -> Box:
    """Return the box in which this repository's own commands run."""
    wish = job.settings.sandbox
    return Box(
        mode=job.desk.sandbox,
        workdir=slot.path,
        home=slot.home,
        readable=(slot.git_dir, slot.mirror, job.desk.pool.store_for(slot), *job.desk.readable),
        hidden=(job.desk.data,),
        network=_network(wish.network),
        memory_bytes=wish.memory_mb * MB,
        processes=wish.processes,
        file_bytes=wish.file_mb * MB,
        env=job.desk.pool.environment(slot),
    )


def way_out(job: Case, box: Box) -> AbstractAsyncContextManager[Box]:
    """Yield the box with its one way out while the block runs: what this repository's `[sandbox]` allows."""

    told: set[str] = set()

    def refused(where: str) -> None:
        if where in told or len(told) == MOST_REFUSALS:
            return  # a program that knocks again and again fills no log
        told.add(where)
        more = "`sandbox.hosts` in bot.toml names more hosts" if box.network == "registries" else "it leads inside"
        job.log(f"network: {where} is not allowed; {more}")

    return out.way_out(
        box, hosts=job.settings.sandbox.hosts, private=job.desk.private_hosts, on_refused=refused
    )  # fmt: skip


def _network(wished: str) -> Literal["none", "registries", "open"]:
    return "open" if wished == "open" else "registries" if wished == "registries" else "none"


async def plan(job: Job) -> Report:
    """Return what the gate would run at the slot's commit, without running it."""
    return await _gate(job, "--plan", limit_s=PLAN_LIMIT_S)


async def judge(job: Case, base_sha: str, *, only: Sequence[str] = ()) -> Report:
    """Return the gate's report on the slot against the base commit; of some steps alone, and what they need."""
    steps = [word for name in only for word in ("--only", name)]
    return await _gate(job, "--base", base_sha, *steps, limit_s=GATE_LIMIT_S)


async def keep_caches(job: Case, ready: Ready, report: Report) -> dict[str, str]:
    """Keep what the gate left in its caches for the next one; return those that are not believed, with the why."""
    if job.here.slot is None or not job.settings.caches.enabled or report.verdict not in RAN:
        return {}
    refused = await job.desk.pool.take_caches(job.here.slot, ready.ground)
    for path, why in refused.items():
        job.log(f"cache {path} is not kept: {why}")
    return refused


async def proposal(job: Job) -> str:
    """Return the gate.toml that would fit the repository in the slot."""
    slot = job.here.slot
    if slot is None:
        return ""
    done = await proc.run(
        *job.desk.gate_argv, "init", "--repo", str(slot.path), cwd=slot.path, env={}, limit_s=PLAN_LIMIT_S
    )
    return done.output if done.exit_code == 0 else ""


async def _gate(job: Case, *options: str, limit_s: float) -> Report:
    slot = job.here.slot
    if slot is None:
        raise RuntimeError("the gate needs a slot")
    output = job.folder() / "gate.json"
    output.unlink(missing_ok=True)
    policy = job.desk.policy_argv
    async with way_out(job, box_of(job, slot)) as box:
        prefix, env = wrap(box, [], env={"CI": "true"})
        done = await proc.run(
            *job.desk.gate_argv, "run", "--repo", str(slot.path), "--name", job.repository, *policy,
            "--wrap", json.dumps(prefix), "--format", "json", "--output", str(output), *options,
            cwd=Path("/"), env=env, limit_s=limit_s, cancelled=job.cancelled, on_line=job.log,
            processes=box.processes,
        )  # fmt: skip
    if not output.exists():
        why = (
            "it started too many processes"
            if done.crowded
            else "it was stopped"
            if done.cancelled
            else f"it took more than {limit_s:.0f} s"
            if done.timed_out
            else ""
        )
        return Report(Verdict.ERROR, why or f"it wrote no report (exit code {done.exit_code}): {done.output[-500:]}")
    report = json.loads(output.read_bytes())
    return read_report(json.dumps(job.desk.redactor.data(report)))
