"""The table of starts holds what was measured."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright")

from benchmarks.field import start
from benchmarks.field.bench import Bench
from benchmarks.field.timing import Timing


def test_start(monkeypatch, tmp_path):
    ratios = {start.EMPTY: 1.0, start.IMPORTS: 2.5, start.MAP: 2.25}
    times = {name: Timing(ratio, ratio, ratio, 7 * ratio, 3) for name, ratio in ratios.items()}
    asked = []
    monkeypatch.setattr(start, "_times", lambda rounds: asked.append(rounds) or times)
    (table,) = start.tables(Bench(folder=tmp_path))
    assert (asked, table.rows) == ([start.ROUNDS], tuple(times.items()))
    assert "alone takes 2.50 of an empty page's start, and the first map is there after 2.25." in table.said[0]
