"""The arithmetic of the page's modules, tested in Node where it is: `tests/js/*.test.mjs`."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

NODE = shutil.which("node")
TESTS = sorted((Path(__file__).parent / "js").glob("*.test.mjs"))


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_arithmetic_of_the_modules_is_right() -> None:
    done = subprocess.run([NODE, "--test", *TESTS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
