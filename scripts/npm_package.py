"""Unpack one version of an npm package into a scratch folder."""

import json
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def unpacked(name: str, version: str) -> Iterator[Path]:
    """Yield the folder of a package; it is gone afterwards."""
    with tempfile.TemporaryDirectory() as scratch:
        packed = subprocess.run(
            ["npm", "pack", "--silent", "--json", f"{name}@{version}"],
            cwd=scratch, check=True, capture_output=True, text=True,
        )  # fmt: skip
        archive = Path(scratch, json.loads(packed.stdout)[0]["filename"].replace("@", "").replace("/", "-"))
        with tarfile.open(archive) as tar:
            tar.extractall(scratch, filter="data")
        yield Path(scratch, "package")
