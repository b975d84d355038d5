"""Gain of scores in standard errors, beside SciPy's Student's t."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from vitexplorer.diagnosis.answers import Judged, gain


@pytest.mark.parametrize("count", [4, 12, 64, 500])
@pytest.mark.parametrize("shift", [-0.8, 0.1, 0.5, 1.5])
def test_a_gain_is_the_normal_deviate_of_students_t(count: int, shift: float) -> None:
    rng = np.random.default_rng(count)
    before, after = rng.normal(size=count), rng.normal(size=count) + shift
    student, p = stats.ttest_rel(after, before)
    expected = np.sign(student) * stats.norm.isf(p / 2)
    assert gain(Judged(0.0, before), Judged(0.0, after)) == pytest.approx(expected, rel=0.02, abs=0.01)


def test_too_few_pictures_gain_nothing() -> None:
    assert gain(Judged(0.0, np.zeros(3)), Judged(0.0, np.ones(3))) == 0
    assert gain(Judged(0.0, np.zeros(9)), Judged(0.0, np.zeros(9))) == 0
