"""Attention against `transformers`, which computes it eagerly from the same weights."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
import timm
import torch
from torch import Tensor, nn

import vitexplorer as vx
from tests.helpers.small_models import load_small, picture, roughen
from vitexplorer.capturing.capture import Capture, capture
from vitexplorer.models.seeding import seeded

NAMES = {
    "embeddings.cls_token": "cls_token",
    "embeddings.position_embeddings": "pos_embed",
    "embeddings.patch_embeddings.projection": "patch_embed.proj",
    "embeddings.norm": "patch_embed.norm",
    "attention.o_proj": "attn.proj",
    "attention.relative_position_bias": "attn",
    "layernorm_before": "norm1",
    "layernorm_after": "norm2",
    "layernorm": "norm",
}


def timm_state(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Rename a state dict of transformers' ViT or Swin to timm's names; q, k and v become one matrix."""
    out = {}
    for name, tensor in state.items():
        if name.endswith("relative_position_index"):
            continue
        if ".k_proj." in name or ".v_proj." in name:
            continue
        if ".q_proj." in name:
            tensor = torch.cat([state[name.replace(".q_proj.", f".{part}_proj.")] for part in "qkv"])
            name = name.replace("attention.q_proj", "attn.qkv")
        for theirs, ours in NAMES.items():
            name = name.replace(theirs, ours)
        name = name.removeprefix("encoder.")
        if "downsample" in name:  # ends a stage there and begins the next one here
            stage = int(name.split(".")[1])
            name = name.replace(f"layers.{stage}.", f"layers.{stage + 1}.")
        elif "blocks" not in name:
            name = name.replace("layers.", "blocks.")
        out[name] = tensor
    return out


def with_weights_of(peer: nn.Module, key: str, module: nn.Module, image: np.ndarray) -> Capture:
    """Capture timm's module with the peer's weights; every weight has to find its place."""
    module.load_state_dict(timm_state(peer.state_dict()), strict=True)
    return capture(replace(load_small(key), module=module.eval()), image, fit="squash")


def rough(peer: nn.Module) -> nn.Module:
    with seeded(1):
        roughen(peer)
    return peer.eval()


@pytest.fixture(scope="module")
def transformers() -> ModuleType:
    return pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def vit(transformers) -> tuple[Capture, object]:
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
    options = {"img_size": 64, "embed_dim": 48, "num_heads": 3, "depth": 3, "num_classes": 0}
    captured = with_weights_of(
        peer, "encoder", timm.create_model("vit_tiny_patch16_224", **options), picture(64, 64, seed=3)
    )
    with torch.no_grad():
        return captured, peer(captured.input.tensor, output_attentions=True, output_hidden_states=True)


@pytest.fixture(scope="module")
def swin(transformers) -> tuple[Capture, object]:
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
    options = {"img_size": 64, "window_size": 4, "embed_dim": 24, "depths": (2, 2), "num_heads": (2, 3)}
    module = timm.create_model("swin_tiny_patch4_window7_224", num_classes=0, **options)
    captured = with_weights_of(peer, "swin", module, picture(64, 64, seed=3))
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
