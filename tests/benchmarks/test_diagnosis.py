"""The tables of the bed of check-ups are those of its runs."""

from __future__ import annotations

import pytest

from benchmarks.diagnosis import CheckedCase, counts_of, rows_of, stored_runs
from benchmarks.planted import FAULTS, HEALTHY, MODELS
from tests.helpers.tree import ROOT
from vitexplorer.diagnosis import CAUSES

RUNS = stored_runs(ROOT / "benchmarks" / "diagnosis.jsonl")
OF_BUILDING = stored_runs(ROOT / "benchmarks" / "diagnosis_building.jsonl")


@pytest.mark.parametrize("runs", [RUNS, OF_BUILDING], ids=["final", "building"])
def test_a_table_is_made_from_the_stored_runs(runs: list[CheckedCase]) -> None:
    assert "\n".join(rows_of(runs)) in (ROOT / "benchmarks" / "diagnosis.md").read_text("utf-8")


@pytest.mark.parametrize(("runs", "parity"), [(RUNS, 1), (OF_BUILDING, 0)], ids=["final", "building"])
def test_the_runs_are_of_one_half_of_the_seeds_and_cover_every_cause(runs: list[CheckedCase], parity: int) -> None:
    assert len({(run.model, run.seed, run.cause) for run in runs}) == len(runs)
    assert {run.seed % 2 for run in runs} == {parity}
    assert {run.model for run in runs} <= set(MODELS)
    assert {*FAULTS, *HEALTHY} <= {run.cause for run in runs}


def test_a_cause_that_is_often_missed_says_so() -> None:
    for key, cause in CAUSES.items():
        counts = counts_of([run for run in RUNS if run.cause == key])
        if cause.limit is None:
            assert counts.first >= 0.95 * counts.visible, (key, counts)
            assert counts.proven >= 0.9 * counts.repairs, (key, counts)
        else:
            assert counts.first < counts.visible or counts.proven < counts.repairs, (key, counts)
