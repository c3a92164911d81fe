"""What people install holds every file that it needs."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_wheel_holds_every_file_of_both_packages(tmp_path: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "bot", "gate", "pyproject.toml", "README.md", "LICENSE"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split("\0")[:-1]  # fmt: skip
    for name in listed:
        target = tmp_path / "source" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index",
         "--disable-pip-version-check", "-w", str(tmp_path), str(tmp_path / "source")],
        check=True, capture_output=True,
    )  # fmt: skip
    [wheel] = tmp_path.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    assert [name for name in listed if name.startswith(("bot/", "gate/")) and name not in held] == []
