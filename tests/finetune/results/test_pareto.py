"""The Pareto front, by hand."""

from __future__ import annotations

import math

from vitexplorer.finetune.results.pareto import pareto_front


def test_the_front_by_hand():
    #                 cheap good, dearer better, dearer worse, same as the first, nothing known
    values, costs = [0.8, 0.9, 0.85, 0.8, math.nan], [1, 2, 3, 1, 0]
    assert pareto_front("accuracy", values, costs).tolist() == [True, True, False, True, False]
    assert pareto_front("rmse", [5, 4, 6], [1, 1, 0]).tolist() == [False, True, True]
