"""A hand-wired network with known truth: its logit, and what every relevance view must give."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from benchmarks.hand_wired import EXACT, EXPECTED, hand_wired, markdown, truth_table
from vitexplorer.views import explanations


@pytest.fixture(scope="module")
def table():
    return {row.view: row for row in truth_table()}


def test_every_relevance_view_says_what_it_must_give():
    assert {key.split()[0] for key in EXPECTED} == set(explanations())


@pytest.mark.parametrize("view", EXPECTED)
def test_a_view_gives_what_it_says(table, view):
    row, times = table[view], EXPECTED[view].times
    if times is None:
        assert row.scaled_error > 0.1, "no multiple of the contributions: its reason says why"
        return
    assert (row.error <= EXACT) is (times == 1)
    assert row.scaled_error <= EXACT
    assert row.scale == pytest.approx(1 / times, abs=EXACT)


@pytest.mark.parametrize(("side", "seed"), [(4, 0), (5, 3)])
def test_the_logit_is_the_sum_of_the_contributions(side, seed):
    known = hand_wired(side, seed)
    assert float(known.capture.logits[0]) == pytest.approx(float(known.contributions.sum()), abs=1e-9)
    assert float(known.capture.logits[1]) == pytest.approx(-float(known.contributions.sum()) / 2, abs=1e-9)


def test_a_patch_taken_away_takes_its_contribution():
    """Compute it by running the network with each patch alone in the mean colour."""
    known = hand_wired()
    image, falls = known.capture.input.tensor, np.zeros_like(known.contributions)
    for row, col in np.ndindex(falls.shape):
        without = image.clone()
        without[..., 4 * row : 4 * row + 4, 4 * col : 4 * col + 4] = 0
        with torch.no_grad():
            falls[row, col] = float(known.capture.logits[0] - known.capture.model.module(without)[0, 0])
    np.testing.assert_allclose(falls, known.contributions, atol=1e-9)
    assert (known.contributions > 0).any()
    assert (known.contributions < 0).any()


def test_the_table_says_what_is_exact(table):
    printed = markdown(tuple(table.values()))
    assert printed.count("\n") == len(EXPECTED) + 1
    assert "| `occlusion` | exact | 1 | exact | Patches do not interact. |" in printed
