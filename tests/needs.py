"""Skip a test where a program of the system is missing, saying how to get it; in CI a missing one is a failure."""

import os
import shutil

import pytest


def needs(program: str, *, package: str) -> pytest.MarkDecorator:
    """Return the mark of tests that need a program; `package` is the Debian package that brings it."""
    missing = shutil.which(program) is None
    if missing and os.environ.get("CI"):
        raise RuntimeError(f"{program} is missing; scripts/setup should have installed {package}")
    return pytest.mark.skipif(missing, reason=f"needs {program}: apt-get install {package}")
