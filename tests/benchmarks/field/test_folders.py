"""The tables of surveys hold what was measured."""

from __future__ import annotations

from benchmarks.field import folders
from benchmarks.field.bench import Bench
from benchmarks.field.timing import Timing


def timing(ratio: float) -> Timing:
    return Timing(ratio, ratio, ratio, 10 * ratio, 3)


def test_folders(monkeypatch, tmp_path):
    """16 images in 10 s; the survey of one image takes 0.1125 of that, a sixteenth of the loop and the start."""
    times = {folders.PLAIN: timing(1), folders.START: timing(0.1125)}
    monkeypatch.setattr(folders, "_times", lambda bench, images: times)
    monkeypatch.setattr(folders, "_rates_by_count", lambda bench: {1: [5.0, 4.0, 6.0], 2: [9.0, 11.0, 10.0]})
    of_times, of_processes = folders.tables(Bench(quick=True, folder=tmp_path))
    assert of_times.rows == tuple(times.items())
    assert of_times.said[0].startswith("16 JPEGs of 500 x 375, vit_tiny_patch16_224, batches of 16; the loop runs 1.6 ")
    assert ": 0.050 of the loop's time here" in of_times.said[0]
    assert of_processes.rows == ((1, "1.00"), (2, "2.00"))
    assert folders.tables(Bench(device="cuda", quick=True, folder=tmp_path)) == [of_times]
