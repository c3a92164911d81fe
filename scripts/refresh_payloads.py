"""Renew GitHub's example webhook payloads in tests/bot/payloads from the npm package that publishes them.

Run `.venv/bin/python scripts/refresh_payloads.py [VERSION]`; needs npm. The same version gives the same bytes.
"""

import json
import lzma
import sys
from pathlib import Path

from npm_package import unpacked

PACKAGE = "@octokit/webhooks-examples"
VERSION = "7.6.1"
TARGET = Path(__file__).parent.parent / "tests/bot/payloads"


def refresh(version: str) -> None:
    """Write one compressed file a set, and where they come from."""
    sets: dict[str, dict[str, int]] = {}
    with unpacked(PACKAGE, version) as package:
        for index in sorted(package.glob("*/index.json")):
            events = json.loads(index.read_text())
            kept = {event["name"]: event["examples"] for event in events}
            packed = lzma.compress(json.dumps(kept, sort_keys=True, separators=(",", ":")).encode(), preset=9)
            name = index.parent.name
            (TARGET / f"{name}.json.xz").write_bytes(packed)
            sets[name] = {"events": len(kept), "payloads": sum(len(examples) for examples in kept.values())}
    source = {"package": PACKAGE, "version": version, "license": "MIT, github.com/octokit/webhooks", "sets": sets}
    (TARGET / "source.json").write_text(json.dumps(source, indent=2) + "\n")
    print(json.dumps(source, indent=2))


if __name__ == "__main__":
    refresh(sys.argv[1] if len(sys.argv) > 1 else VERSION)
