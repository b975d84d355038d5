"""Scripts and style sheets of the page.

Node runs the tests of the arithmetic (`tests/ui/**/*.test.mjs`), TypeScript's compiler checks types, Biome the form.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.helpers.tree import ROOT, tracked_files

NODE, TSC, BIOME = shutil.which("node"), shutil.which("tsc"), shutil.which("biome")
TESTS = sorted(Path(__file__).parent.rglob("*.test.mjs"))


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_arithmetic_of_the_modules_is_right() -> None:
    done = subprocess.run([NODE, "--test", *TESTS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(NODE is None or TSC is None, reason="the TypeScript compiler, tsc, is not installed")
def test_the_types_that_the_modules_state_fit() -> None:
    done = subprocess.run([TSC, "--project", ROOT / ".jsconfig.json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(BIOME is None, reason="Biome is not installed")
def test_scripts_and_sheets_are_formatted_and_linted() -> None:
    done = subprocess.run([BIOME, "ci", "--error-on-warnings"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_line_is_longer_than_120() -> None:
    """Biome breaks code, but neither comments nor texts."""
    files = [file for file in tracked_files() if file.suffix in (".js", ".mjs", ".css")]
    assert len(files) > 100
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    assert [line for line in lines if len(line) > 120] == []
