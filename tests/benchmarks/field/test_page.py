"""The table of gestures holds what the browser measured."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright")

from benchmarks.field.bench import Bench
from benchmarks.field.gestures import Sample
from benchmarks.field.page import COLUMNS, DELAYS, GESTURES, ROUNDS, tables


def test_page(monkeypatch, tmp_path):
    ours = [Sample(milliseconds, 100 if milliseconds < 300 else 0, 4, 2000, 3) for milliseconds in (110, 130, 300, 120)]
    theirs = [Sample(400, 100, 3, 20_000, 2)] * 2
    result = {
        page: {delay: dict.fromkeys(GESTURES, samples) for delay in DELAYS}
        for page, samples in (("ours", ours), ("twin", theirs))
    }
    result["twin"][0] = {"open": theirs}
    asked = []
    monkeypatch.setattr("benchmarks.field.page.of_turns", lambda bench: None)
    monkeypatch.setattr("benchmarks.field.page.visited", lambda rounds: asked.append(rounds) or result)
    near, far, _ = tables(Bench(folder=tmp_path))
    assert tables(Bench(folder=tmp_path)) == [near, far, None]
    assert asked == [ROUNDS]
    row = dict(zip(COLUMNS, far.rows[1], strict=True))
    assert (row["made"], row["ours, ms"], row["gr.Image, ms"]) == (4, 125, 400)
    assert row["ours without the model"] == 25  # of 10, 20, 30, 300
    assert (row["gr.Image without it"], row["times ours"]) == (300, "12.0")
    assert (row["requests"], row["kB"], row["kB of gr.Image"]) == (4, 2, 20)
    assert far.said[-1].startswith("Of the 4 requests before the first map, 3 fetch gradio's own")
    assert near.rows[1][4:6] == (None, None)
