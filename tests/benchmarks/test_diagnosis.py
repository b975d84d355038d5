"""The table of the bed of check-ups is that of its runs."""

from __future__ import annotations

from benchmarks.diagnosis import counts_of, rows_of, stored_runs
from benchmarks.planted import FAULTS, HEALTHY, MODELS
from tests.helpers.tree import ROOT
from vitexplorer.diagnosis import CAUSES

RUNS = stored_runs(ROOT / "benchmarks" / "diagnosis.jsonl")


def test_the_table_is_made_from_the_stored_runs() -> None:
    assert "\n".join(rows_of(RUNS)) in (ROOT / "benchmarks" / "diagnosis.md").read_text("utf-8")


def test_the_runs_are_of_odd_seeds_and_cover_every_cause() -> None:
    assert len({(run.model, run.seed, run.cause) for run in RUNS}) == len(RUNS)
    assert all(run.seed % 2 for run in RUNS)
    assert {run.model for run in RUNS} <= set(MODELS)
    assert {*FAULTS, *HEALTHY} <= {run.cause for run in RUNS}


def test_a_cause_that_is_often_missed_says_so() -> None:
    for key, cause in CAUSES.items():
        counts = counts_of([run for run in RUNS if run.cause == key])
        if cause.limit is None:
            assert counts.first >= 0.95 * counts.visible, (key, counts)
            assert counts.proven >= 0.9 * counts.repairs, (key, counts)
        else:
            assert counts.first < counts.visible or counts.proven < counts.repairs, (key, counts)
