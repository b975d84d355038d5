"""The table of the bed of check-ups is that of its runs."""

from __future__ import annotations

import json

from benchmarks.diagnosis import CheckedCase, rows_of
from benchmarks.planted import FAULTS, HEALTHY, MODELS
from tests.helpers.tree import ROOT

RUNS = [
    CheckedCase(**json.loads(line))
    for line in (ROOT / "benchmarks" / "diagnosis.jsonl").read_text("utf-8").splitlines()
]


def test_the_table_is_made_from_the_stored_runs() -> None:
    assert "\n".join(rows_of(RUNS)) in (ROOT / "benchmarks" / "diagnosis.md").read_text("utf-8")


def test_the_runs_are_of_odd_seeds_and_cover_every_cause() -> None:
    assert len({(run.model, run.seed, run.cause) for run in RUNS}) == len(RUNS)
    assert all(run.seed % 2 for run in RUNS)
    assert {run.model for run in RUNS} <= set(MODELS)
    assert {*FAULTS, *HEALTHY} <= {run.cause for run in RUNS}
