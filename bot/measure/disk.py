"""Measure how fast small files come and go in a folder, and say what is known of its file system."""

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

FILES = 2000
LIMIT_S = 0.5  # of making them: a network disk gets fewer
USUAL_MS = 0.25  # create, look at and delete one small file; measured on ext4 on a virtual disk: 0.19
INSTALL_FILES = 28_000  # of a middling JavaScript project


@dataclass(frozen=True, slots=True)
class Mount:
    """What is mounted where a folder lies."""

    point: str
    kind: str
    options: str


@dataclass(frozen=True, slots=True)
class Disk:
    """What was measured in one folder, milliseconds a file, and what would be better."""

    path: str
    mount: Mount
    create_ms: float
    stat_ms: float
    delete_ms: float
    advice: tuple[str, ...]

    @property
    def file_ms(self) -> float:
        """Return what one file costs from its beginning to its end."""
        return self.create_ms + self.stat_ms + self.delete_ms


def measure(folder: Path, *, files: int = FILES, mounts: str | None = None) -> Disk:
    """Create, look at and delete small files in a folder of its own below `folder`; fewer where that takes long."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="measure-") as name:
        paths = [Path(name, f"{number // 100}", f"{number}.js") for number in range(files)]
        for path in paths[::100]:
            path.parent.mkdir()
        create, made = _timed(paths, lambda path: path.write_bytes(b"x" * 800))
        stat, _ = _timed(made, lambda path: path.stat())
        delete, _ = _timed(made, lambda path: path.unlink())
    mount = mount_at(folder, mounts)
    return Disk(str(folder), mount, create, stat, delete, advice(mount, create + stat + delete))


def _timed(paths: Sequence[Path], act: Callable[[Path], object]) -> tuple[float, Sequence[Path]]:
    """Return milliseconds a file, and the files that there was time for."""
    began, done = time.perf_counter(), 0
    for path in paths:
        act(path)
        done += 1
        if time.perf_counter() - began > LIMIT_S:
            break
    return 1000 * (time.perf_counter() - began) / max(done, 1), paths[:done]


def mount_at(folder: Path, mounts: str | None = None) -> Mount:
    """Return what a folder lies on; unknown where the system does not say."""
    try:
        text = Path("/proc/self/mounts").read_text(errors="replace") if mounts is None else mounts
    except OSError:
        text = ""
    return mount_of(folder.resolve(), text)


def mount_of(folder: Path, mounts: str) -> Mount:
    """Return the innermost mount that holds a folder; `mounts` is the text of /proc/self/mounts."""
    best = Mount("/", "unknown", "")
    for line in mounts.splitlines():
        parts = line.split(" ")
        if len(parts) < 4:
            continue
        point = parts[1].encode("latin-1", "replace").decode("unicode_escape")
        holds = folder == Path(point) or Path(point) in folder.parents
        if holds and len(point) >= len(best.point):
            best = Mount(point, parts[2], parts[3])
    return best


NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "fuse.s3fs", "fuse.gcsfuse", "ceph", "afs"})
SLOW: tuple[tuple[Callable[[Mount], bool], str], ...] = (
    (lambda m: m.kind in NETWORK,
     "a network file system, a round trip for every small file; put the slots on a local disk"),
    (lambda m: m.kind in ("9p", "drvfs", "v9fs"),
     "a Windows drive seen from WSL: put the slots into the Linux file system (below /home), not below /mnt"),
    (lambda m: m.kind in ("virtiofs", "fuse.grpcfuse", "fakeowner", "vboxsf", "prl_fs"),
     "a folder shared by the host of a virtual machine: use a volume of the machine itself"),
    (lambda m: m.kind == "overlay",
     "an overlay of a container: the first write to a file copies it; give the slots a volume of their own"),
    (lambda m: "sync" in m.options.split(","), "mounted with `sync`: each write waits for the disk; mount it without"),
    (lambda m: "strictatime" in m.options.split(","), "mounted with `strictatime`: reading writes; use relatime"),
)  # fmt: skip


def advice(mount: Mount, file_ms: float) -> tuple[str, ...]:
    """Return what would make small files cheaper here, and what that would save."""
    found = [f"{mount.point} is {text}" for is_so, text in SLOW if is_so(mount)]
    if file_ms > 2 * USUAL_MS:  # less is the noise of a busy machine
        saved_s = (file_ms - USUAL_MS) * INSTALL_FILES / 1000
        found.append(
            f"a small file costs {file_ms:.2f} ms, usual is under {USUAL_MS}: about {saved_s:.0f} s more "
            f"in an install of {INSTALL_FILES:,} files; look for a virus scanner that checks each "
            "file (exclude this folder; on Windows a Dev Drive), or for a slow disk"
        )
    return tuple(found)
