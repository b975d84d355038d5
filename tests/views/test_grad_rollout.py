"""Gradient rollout against its slow twin."""

from __future__ import annotations

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers import reference, reference_relevance
from tests.helpers.relevance_cases import TARGET, close, reads_class_token, truth_of
from tests.helpers.windows_and_queries import swin_block


def test_grad_rollout(any_capture):
    expected, grid = truth_of(any_capture), any_capture.grid(0)
    matrices = [
        np.stack([reference_relevance.positive_product(a, da) for a, da in zip(A, dA, strict=True)])
        for A, dA in zip(expected.attention, expected.attention_gradient, strict=True)
    ]
    p = grid.num_prefix_tokens
    if any_capture.site(0).windows:
        blocks = [swin_block(any_capture, b, E[:, None]) for b, E in enumerate(matrices)]
        R = reference.swin_rollout(blocks)
        stays = reference.swin_rollout(blocks, alone=True)
    else:
        R = reference.rollout(list(matrices), num_prefix=p)
        stays = np.diag(np.prod([0.5 / (0.5 * E[0].sum(-1) + 0.5) for E in matrices], axis=0))
    of_class_token = reads_class_token(any_capture)
    row, identity_row = (reference_relevance.row_of(M, p, of_class_token) for M in (R, stays))
    if not of_class_token:
        row = row - identity_row
    result = vx.compute("grad_rollout", any_capture, target=TARGET)
    close(result.values, row[p:].reshape(grid.rows, grid.cols))
    np.testing.assert_allclose(result.prefix_weights, row[:p], atol=1e-5)
    assert result.identity_mass == pytest.approx(0 if of_class_token else identity_row.sum(), abs=1e-5)
    everything = result.values.sum() + result.prefix_mass + result.padding_mass + result.identity_mass
    assert everything == pytest.approx(1, abs=1e-4)
