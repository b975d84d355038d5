"""Attention against `transformers`, which computes it eagerly from the same weights."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from torch import nn

import vitexplorer as vx
from tests.helpers.small_models import picture, roughen
from vitexplorer.capturing.capture import Capture
from vitexplorer.models.seeding import seeded


def capture_saved(peer: nn.Module, folder: Path) -> Capture:
    """Capture timm's module with the peer's weights, from the folder that the peer saves."""
    peer.save_pretrained(folder)
    return vx.capture(vx.load_model(folder, device="cpu"), picture(64, 64, seed=3), fit="squash")


def rough(peer: nn.Module) -> nn.Module:
    with seeded(1):
        roughen(peer)
    return peer.eval()


@pytest.fixture(scope="module")
def transformers() -> ModuleType:
    return pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def vit(transformers, tmp_path_factory) -> tuple[Capture, object]:
    """Return our capture and their output of the same ViT."""
    config = transformers.ViTConfig(
        hidden_size=48,
        num_hidden_layers=3,
        num_attention_heads=3,
        intermediate_size=192,
        image_size=64,
        layer_norm_eps=1e-6,
        attn_implementation="eager",
    )
    peer = rough(transformers.ViTModel(config, add_pooling_layer=False))
    captured = capture_saved(peer, tmp_path_factory.mktemp("vit"))
    with torch.no_grad():
        return captured, peer(captured.input.tensor, output_attentions=True, output_hidden_states=True)


@pytest.fixture(scope="module")
def swin(transformers, tmp_path_factory) -> tuple[Capture, object]:
    """Return our capture and their output of the same Swin, with grids of 16 and 8 cells in shifted windows of 4.

    Nothing is padded: transformers pads a grid before it shifts it and timm afterwards, so there they differ.
    """
    config = transformers.SwinConfig(
        embed_dim=24,
        depths=[2, 2],
        num_heads=[2, 3],
        window_size=4,
        image_size=64,
        drop_path_rate=0.0,
        attn_implementation="eager",
    )
    peer = rough(transformers.SwinModel(config, add_pooling_layer=False))
    captured = capture_saved(peer, tmp_path_factory.mktemp("swin"))
    with torch.no_grad():
        return captured, peer(captured.input.tensor, output_attentions=True)


def test_vit_attention(vit):
    captured, theirs = vit
    assert len(theirs.attentions) == captured.depth
    for block, attention in enumerate(theirs.attentions):
        torch.testing.assert_close(captured.attention(block), attention[0], atol=1e-5, rtol=0)
        stream = theirs.hidden_states[block][0]
        torch.testing.assert_close(captured.residual(block), stream, atol=1e-5, rtol=1e-5)


def test_vit_map(vit):
    captured, theirs = vit
    expected = theirs.attentions[-1][0, :, 0, 1:].mean(0).reshape(4, 4)
    np.testing.assert_allclose(vx.compute("attention_map", captured).values, expected.numpy(), atol=1e-5)


def test_swin_attention(swin):
    captured, theirs = swin
    assert captured.site(1).windows.shift_size == (2, 2)
    for block, attention in zip((1, 3), theirs.attentions, strict=True):  # they give the last block of each stage
        torch.testing.assert_close(captured.attention(block), attention, atol=1e-5, rtol=0)
    torch.testing.assert_close(captured.output, theirs.last_hidden_state.mean(1), atol=1e-5, rtol=1e-5)
