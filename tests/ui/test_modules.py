"""JavaScript modules of the page: arithmetic by Node (`tests/ui/**/*.test.mjs`), types by TypeScript's compiler."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.helpers.tree import ROOT

NODE, TSC = shutil.which("node"), shutil.which("tsc")
TESTS = sorted(Path(__file__).parent.rglob("*.test.mjs"))


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_arithmetic_of_the_modules_is_right() -> None:
    done = subprocess.run([NODE, "--test", *TESTS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(NODE is None or TSC is None, reason="the TypeScript compiler, tsc, is not installed")
def test_the_types_that_the_modules_state_fit() -> None:
    done = subprocess.run([TSC, "--project", ROOT / ".jsconfig.json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
