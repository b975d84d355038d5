"""Generic relevance against its slow twin and Captum."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers import reference_relevance
from tests.helpers.relevance_cases import TARGET, close, reads_class_token, truth_of
from tests.helpers.small_models import capture_small
from tests.helpers.unfused_attention import with_fused_attention
from vitexplorer.core.text import UnsupportedError


def test_generic_relevance(any_capture):
    if any_capture.site(0).windows:
        with pytest.raises(UnsupportedError):
            vx.compute("generic_relevance", any_capture)
        return
    expected, grid = truth_of(any_capture), any_capture.grid(0)
    pairs = zip(expected.attention, expected.attention_gradient, strict=True)
    R = reference_relevance.generic_relevance([reference_relevance.positive_product(A[0], dA[0]) for A, dA in pairs])
    of_class_token = reads_class_token(any_capture)
    if not of_class_token:
        R -= np.eye(len(R))
    row = reference_relevance.row_of(R, grid.num_prefix_tokens, of_class_token)
    result = vx.compute("generic_relevance", any_capture, target=TARGET)
    close(result.values, row[grid.num_prefix_tokens :].reshape(grid.rows, grid.cols), 5e-4)
    assert (result.query, result.identity_mass) == (("cls", 0) if of_class_token else ("mean", 1))


@pytest.mark.parametrize("key", ["vit", "deit_distilled", "beit", "dinov3"])
def test_generic_relevance_from_what_captum_says_of_each_block(key):
    """Put captum's gradient times activation at the dropout after the softmax through Chefer's recurrence."""
    from captum.attr import LayerGradientXActivation

    captured, R = capture_small(key), 0
    twin, grid = with_fused_attention(captured.model.module, False), captured.grid(0)
    for b, block in enumerate(twin.blocks):
        layer = LayerGradientXActivation(twin, block.attn.attn_drop)
        with torch.enable_grad():
            product = layer.attribute(captured.input.tensor.clone(), target=TARGET)[0].detach()
        E = product.clamp(min=0).mean(0).double().numpy()
        R = np.eye(len(E)) + E if b == 0 else R + E @ R
    if not reads_class_token(captured):
        R -= np.eye(len(R))
    row = reference_relevance.row_of(R, grid.num_prefix_tokens, reads_class_token(captured))
    values = vx.compute("generic_relevance", captured, target=TARGET).values
    close(values, row[grid.num_prefix_tokens :].reshape(values.shape), 1e-3)
