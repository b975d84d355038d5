"""The checkout: its root, the package, and the files that git tracks."""

from __future__ import annotations

import subprocess
from pathlib import Path
from unittest import SkipTest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "vitexplorer"


def tracked_files() -> list[Path]:
    """List the files that git tracks and that exist; skip the test where there is no git checkout."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        raise SkipTest("not a git checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
