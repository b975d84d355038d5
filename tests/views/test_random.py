"""The random map depends on its seed and class alone."""

from __future__ import annotations

import numpy as np

import vitexplorer as vx
from tests.helpers.small_models import capture_small


def test_random_depends_on_seed_and_class_alone():
    first, other = capture_small("vit"), capture_small("deit_distilled")
    draws = [
        vx.compute("random", captured, target=target, seed=seed).values
        for captured, target, seed in [(first, 1, 0), (other, 1, 0), (first, 2, 0), (first, 1, 1)]
    ]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])
    assert not np.array_equal(draws[0], draws[3])
    assert all(0 <= values.min() < values.max() < 1 for values in draws)
