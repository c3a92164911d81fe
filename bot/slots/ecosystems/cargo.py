"""Cargo: dependencies into the store; what is built is not kept, for a job could plant in it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.slots.ecosystem import Project

NAME: str = "cargo"
LANGUAGE: str = "rust"
LOCKS: Sequence[str] = ("Cargo.lock",)
INPUTS: Sequence[str] = ("Cargo.toml", "rust-toolchain", "rust-toolchain.toml", ".cargo/config.toml")
KEEP: Sequence[str] = ()
PROGRAMS: Sequence[str] = ("cargo", "rustc")


def commands(project: Project) -> Sequence[Sequence[str]]:
    """Install exactly what the lockfile says."""
    del project
    return [("cargo", "fetch", "--locked")]


def env(store: Path) -> Mapping[str, str]:
    """Keep downloads in the store."""
    return {"CARGO_HOME": str(store / "cargo")}


def later(root: Path, store: Path) -> Mapping[str, str]:
    """Find the store, without asking a registry."""
    del root
    return {"CARGO_HOME": str(store / "cargo"), "CARGO_NET_OFFLINE": "true"}
