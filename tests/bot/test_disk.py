"""What is said of the disk below the slots."""

from pathlib import Path

import pytest

from bot.measure.disk import Mount, advice, measure, mount_of

MOUNTS = """/dev/vda / ext4 rw,relatime 0 0
server:/x /srv/my\\040slots nfs4 rw 0 0
C:\\134 /mnt/c 9p rw 0 0
tmpfs /srv tmpfs rw 0 0
"""


@pytest.mark.parametrize(
    ("folder", "point", "kind"),
    [("/var/lib", "/", "ext4"), ("/srv/my slots/a", "/srv/my slots", "nfs4"), ("/srv/my", "/srv", "tmpfs"),
     ("/mnt/cc", "/", "ext4"), ("/mnt/c", "/mnt/c", "9p")],
)  # fmt: skip
def test_the_innermost_mount_is_named(folder: str, point: str, kind: str) -> None:
    found = mount_of(Path(folder), MOUNTS)
    assert (found.point, found.kind) == (point, kind)


@pytest.mark.parametrize(
    ("kind", "options", "file_ms", "said"),
    [
        ("ext4", "rw,relatime", 0.1, []),
        ("nfs4", "rw", 0.1, ["a network file system"]),
        ("9p", "rw", 0.1, ["a Windows drive"]),
        ("overlay", "rw", 0.1, ["an overlay of a container"]),
        ("ext4", "rw,sync", 0.1, ["mounted with `sync`"]),
        ("ext4", "rw,lazytime", 1.25, ["about 28 s more"]),
    ],
)
def test_known_slow_cases_come_with_their_mend(kind: str, options: str, file_ms: float, said: list[str]) -> None:
    found = advice(Mount("/x", kind, options), file_ms)
    assert [word in text for word, text in zip(said, found, strict=True)] == [True] * len(said)


def test_measuring_leaves_nothing_behind(tmp_path: Path) -> None:
    disk = measure(tmp_path, files=200)
    assert (disk.file_ms > 0, disk.mount.kind != "unknown", list(tmp_path.iterdir())) == (True, True, [])


def test_a_system_without_a_table_of_mounts_is_measured_all_the_same(tmp_path: Path) -> None:
    assert measure(tmp_path, files=100, mounts="").mount == Mount("/", "unknown", "")
