"""The learning rate, by hand."""

from __future__ import annotations

import itertools

import pytest

from vitexplorer.finetune.training.schedule import rate_at


def test_the_rate_rises_then_falls_as_a_cosine():
    rates = [rate_at(step, 20, 0.1) for step in range(20)]
    assert rates[:3] == [0.5, 1.0, 1.0]  # 2 steps of warm-up; the cosine begins at its top
    assert rates[11] == pytest.approx(0.5)  # half of the 18 steps after them
    assert all(a > b for a, b in itertools.pairwise(rates[2:]))
    assert 0 < rates[-1] < 0.01
    assert rate_at(0, 1, 0.0) == 1
