"""The benchmark against other libraries: ratios within rounds, peak memory per process, saved tables."""

from __future__ import annotations

import gc
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from benchmarks.field.bench import Bench
from benchmarks.field.fresh import OUT_OF_MEMORY, CaseError, fresh
from benchmarks.field.tables import Made, Table, as_markdown, document, read, write
from benchmarks.field.timing import Timing, interleaved, summary
from tests.helpers.field_cases import MEGABYTE, fails, takes


def test_interleaved(monkeypatch):
    monkeypatch.setattr(gc, "collect", int)  # seconds where a test process holds many models
    now, order = [0.0], []

    def of(name: str, seconds: float):
        def work() -> None:
            order.append(name)
            now[0] += seconds * (1 + len(order) // 4)  # every round is slower than the one before

        return work

    ways = {"plain": of("plain", 1), "ours": of("ours", 1.25), "theirs": of("theirs", 3), "off": of("", 0)}
    result = interleaved(ways, rounds=6, warmup=1, clock=lambda: now[0])
    assert len(order) == 7 * 4
    rounds = [tuple(order[at : at + 4]) for at in range(0, len(order), 4)]
    assert len(set(rounds)) > 1
    assert all(set(one) == {"plain", "ours", "theirs", ""} for one in rounds)
    assert result["plain"].median == result["plain"].low == result["plain"].high == 1
    assert result["ours"].median == pytest.approx(1.25, rel=0.3)
    assert result["off"].median == 0
    assert result["theirs"].rounds == 6


def test_late():
    """Run one round that counts, and no more."""
    count = [0]

    def work() -> None:
        count[0] += 1

    assert interleaved({"plain": work}, rounds=9, warmup=3, limit_s=-1, clock=lambda: count[0])["plain"].rounds == 1
    assert count[0] == 1


def test_ratios_by_hand():
    """Ratios 3, 2 and 4 of three rounds: median 3, middle half 2.5 to 3.5; seconds are the way's own."""
    result = summary({"plain": [1.0, 2.0, 1.0], "ours": [3.0, 4.0, 4.0]})
    assert result["ours"] == Timing(3.0, 2.5, 3.5, 4.0, 3)


def test_fresh():
    peak = fresh(takes, 64, most=512 * MEGABYTE)
    assert 60 * MEGABYTE < peak.grown < 90 * MEGABYTE
    assert fresh(takes, 2048, most=512 * MEGABYTE).fell == OUT_OF_MEMORY
    with pytest.raises(CaseError, match="a case that fails"):
        fresh(fails)


def test_tables(tmp_path: Path):
    made = Made("python -m benchmarks.field", "2026-01-01", "a machine", {"torch": "2"})
    timing = Timing(1.0204, 1.01, 1.03, 0.5, 15)
    one = Table("time", "Time", ("model", "ours", "theirs"), (("ViT", timing, None), ("Swin", 2, 0.12345)), ("Said.",))
    tables = {"capture": [replace(one, made=made)]}
    write(tmp_path / "field.json", tables)
    assert read(tmp_path / "field.json") == tables
    assert read(tmp_path / "none.json") == {}
    lines = as_markdown(tables["capture"][0]).split("\n")
    assert "| ViT | 1.020 (1.010 to 1.030) |  |" in lines
    assert "| Swin | 2 | 0.123 |" in lines
    assert document({**tables, "gone": []}, ("capture",)).count("###") == 1


def test_saved_measurements_are_not_repeated(tmp_path: Path):
    """Skip what was measured before; measure again when the settings differ."""
    asked = []

    def measure() -> dict[str, Timing]:
        asked.append(1)
        return {"plain": Timing(1.0, 1.0, 1.0, 0.5, 15)}

    bench = Bench(folder=tmp_path)
    first = bench.cell("a", dict[str, Timing], measure)
    assert bench.cell("a", dict[str, Timing], measure) == first == measure()
    assert len(asked) == 2
    replace(bench, quick=True).cell("a", dict[str, Timing], measure)
    bench.cell("b", dict[str, Timing], measure)
    assert len(asked) == 4
    assert {file.parent.name for file in tmp_path.rglob("*.json")} == {Path(__file__).stem}
    bench.cell("d", dict[str, Timing], partial(measure))  # is measured again when its own module changes
    assert [file.parent.name for file in tmp_path.rglob("*.json")].count(Path(__file__).stem) == 4
