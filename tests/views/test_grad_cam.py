"""Grad-CAM against its slow twin and the grad-cam package."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers import reference_relevance
from tests.helpers.relevance_cases import TARGET, close, truth_of
from tests.helpers.small_models import capture_small
from vitexplorer.quantities.targets import ALL_ZERO


def test_grad_cam_at_every_block(any_capture):
    expected = truth_of(any_capture)
    for block in range(any_capture.depth):
        grid = any_capture.grid(block)
        acts, grads = (
            part[block].reshape(-1, part[block].shape[-1])[grid.num_prefix_tokens :]
            for part in (expected.norm, expected.norm_gradient)
        )
        result = vx.compute("grad_cam", any_capture, target=TARGET, block=block)
        close(result.values, reference_relevance.grad_cam(acts, grads).reshape(grid.rows, grid.cols), 1e-3)


@pytest.mark.parametrize(
    ("key", "block", "name"),
    [
        ("vit", 2, "blocks.2"),
        ("deit_distilled", 1, "blocks.1"),
        ("eva02", 2, "blocks.2"),
        ("swin", 5, "layers.2.blocks.1"),
        ("swin", 3, "layers.1.blocks.1"),
        ("swinv2", 5, "layers.2.blocks.1"),
    ],
)
def test_grad_cam_is_that_of_the_grad_cam_package(key, block, name):
    from pytorch_grad_cam import GradCAM
    from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget

    captured = capture_small(key)
    grid, module, image = captured.grid(block), copy.deepcopy(captured.model.module), captured.input.tensor
    layer, seen = module.get_submodule(name).norm1, 0

    def reshape(tokens: torch.Tensor) -> torch.Tensor:
        patches = tokens.flatten(1, -2)[:, grid.num_prefix_tokens :]
        return patches.unflatten(1, (grid.rows, grid.cols)).permute(0, 3, 1, 2)

    with GradCAM(module, [layer], reshape_transform=reshape) as peer:
        for target in range(4):
            targets = [ClassifierOutputTarget(target)]
            peer(image, targets)
            recorded = peer.activations_and_grads
            parts = recorded.activations[0].numpy(), recorded.gradients[0].numpy()
            expected = np.maximum(peer.get_cam_image(image, layer, targets, *parts)[0], 0)
            close(vx.compute("grad_cam", captured, target=target, block=block).values, expected, 1e-3)
            seen += expected.any()
    assert seen > 1  # a map can be zero, but not most of them


def test_grad_cam_after_the_last_attention_is_zero_and_says_so():
    """In post-norm models the last block's patches no longer reach the class token."""
    captured = capture_small("norm_last")
    last = vx.compute("grad_cam", captured, target=TARGET)
    assert not last.values.any()
    assert last.notes[-1] == ALL_ZERO
    assert vx.compute("grad_cam", captured, target=TARGET, block=1).values.any()
