"""Every benchmark runs to its end, in its smallest form."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from docs.make.tables import PAGES
from tests.helpers.tree import ROOT

SMALLEST = {
    "anyfile": "--only vit",
    "batch": "--batch 2 --rounds 1 --models scenes_vit_patch16_192",
    "block_change": "2",
    "canvas": "--hovers 2",
    "captions": "--scale 0.01",
    "diagnosis": "--seeds 1 --models wrapped --causes not_scaled;healthy --pictures 8 --runs {place}/runs",
    "engine": "--rounds 1",
    "faults": "1",
    "field": "capture --quick --folder {place} --markdown {place}/field.md --json {place}/field.json",
    "field.folders": "test_vit 1",
    "field.turns": "test_vit 1 1",
    "field.twin": "",
    "fuzz": "1",
    "hand_wired": "",
    "load": "crowd --visitors 1 --arrivals lecture",
    "network": "--hovers 2 --models scenes_vit_patch16_192",
    "page": "",
    "sharpen": "--images 1 --kinds scenes --views attention_map --passes 1,4",
    "survey": "memory --images 4",
    "survey_queries": "1000 500 {place}",
    "truth": "--scale 0.01 --models scenes_vit_patch16_192 --folder {place}",
    "visitor": "1",
    "words": "--scale 0.01 --models scenes_clip",
}
"""Arguments that end each benchmark soonest; {place} is a folder to write to"""


def benchmarks() -> set[str]:
    """Return the names of all benchmarks, as `python -m benchmarks.NAME` takes them."""
    files = [file for file in (ROOT / "benchmarks").rglob("*.py") if "if __name__ ==" in file.read_text("utf-8")]
    names = {".".join(file.relative_to(ROOT / "benchmarks").with_suffix("").parts) for file in files}
    return {name.removesuffix(".__main__") for name in names}


def test_every_benchmark_has_a_smallest_form():
    assert benchmarks() == SMALLEST.keys()


def test_every_benchmark_that_is_named_is_there():
    files = [*PAGES, *(ROOT / "benchmarks").rglob("*.md"), *(ROOT / ".github").glob("*.md")]
    named = {name for file in files for name in re.findall(r"-m benchmarks\.([\w.]*\w)", file.read_text("utf-8"))}
    assert named <= benchmarks()


@pytest.mark.thorough
@pytest.mark.parametrize("name", SMALLEST)
def test_it_runs_to_its_end(name, tmp_path):
    run = started(name, *SMALLEST[name].format(place=tmp_path).split())
    if "pip install -r benchmarks/requirements.txt" in run.stderr:
        pytest.skip(run.stderr.strip())
    assert "Traceback" not in run.stderr, run.stderr[-2000:]
    assert run.stdout.strip()


def test_a_missing_package_is_named_in_a_sentence(tmp_path):
    """Try it with playwright, hidden by a module that cannot be found."""
    (tmp_path / "playwright.py").write_text("raise ModuleNotFoundError('No module', name='playwright')")
    run = started("block_change", PYTHONPATH=str(tmp_path))
    assert run.stderr.splitlines()[-1] == "This needs playwright: pip install -r benchmarks/requirements.txt"
    assert "Traceback" not in run.stderr


def started(name: str, *given: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a benchmark to its end in a process of its own. Exit codes say whether targets were met."""
    command = [sys.executable, "-m", f"benchmarks.{name}", *given]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
