"""Files of the papers' repositories open without a hint and compute the same as through timm's filters.

Names and shapes are written down here as these repositories save them, small in every direction.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import timm
import torch
from timm.models import beit, eva, swin_transformer, swin_transformer_v2, vision_transformer
from torch import Tensor

import vitexplorer as vx
from tests.helpers.thorough import quick

PICTURE = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
WIDTH, HIDDEN, DEPTH, CLASSES = 64, 128, 2, 5
SMALL = {"embed_dim": WIDTH, "depth": DEPTH, "num_heads": 1, "mlp_ratio": 2.0}
DRAWN = torch.Generator().manual_seed(0)
REGISTERS = ("cls", "reg1", "reg2", "reg3", "reg4")

Tensors = dict[str, Tensor]


def drawn(*shape: int) -> Tensor:
    return 0.2 * torch.randn(*shape, generator=DRAWN)


def linear(name: str, out: int, read: int, bias: bool = True) -> Tensors:
    return {f"{name}.weight": drawn(out, read), **({f"{name}.bias": drawn(out)} if bias else {})}


def norm(name: str, width: int = WIDTH) -> Tensors:
    return {f"{name}.weight": 1 + drawn(width), f"{name}.bias": drawn(width)}


def block(name: str, width: int = WIDTH, hidden: int = HIDDEN) -> Tensors:
    return {
        **norm(f"{name}.norm1", width),
        **linear(f"{name}.attn.qkv", 3 * width, width),
        **linear(f"{name}.attn.proj", width, width),
        **norm(f"{name}.norm2", width),
        **linear(f"{name}.mlp.fc1", hidden, width),
        **linear(f"{name}.mlp.fc2", width, hidden),
    }


def vit(patch: int = 16, places: int = 17) -> Tensors:
    """Names of DINO, DeiT and MAE, which are timm's."""
    tensors = {"cls_token": drawn(1, 1, WIDTH), "pos_embed": drawn(1, places, WIDTH)}
    tensors |= {"patch_embed.proj.weight": drawn(WIDTH, 3, patch, patch), "patch_embed.proj.bias": drawn(WIDTH)}
    for number in range(DEPTH):
        tensors |= block(f"blocks.{number}")
    return tensors | norm("norm")


def scaled(tensors: Tensors, name: str) -> Tensors:
    """Add a scale of both branches to each block."""
    names = [f"blocks.{number}.{name.format(branch)}" for number in range(DEPTH) for branch in (1, 2)]
    return tensors | {one: drawn(WIDTH) for one in names}


def within(tensors: Tensors, prefix: str) -> Tensors:
    return {f"{prefix}{name}": tensor for name, tensor in tensors.items()}


def projection(name: str) -> Tensors:
    """Make DINO's projection head for training."""
    layers = linear(f"{name}.mlp.0", 32, WIDTH) | linear(f"{name}.mlp.2", 32, 32) | linear(f"{name}.mlp.4", 16, 32)
    return layers | {f"{name}.last_layer.weight_g": drawn(40, 1), f"{name}.last_layer.weight_v": drawn(40, 16)}


def dino() -> dict[str, Any]:
    """Make a training checkpoint: the student in DistributedDataParallel, the teacher not."""
    teacher = within(vit(), "backbone.") | projection("head")
    student = within(within(vit(), "backbone.") | projection("head"), "module.")
    rest = {"optimizer": {"state": {}, "param_groups": []}, "epoch": 3, "args": argparse.Namespace(arch="vit_small")}
    return {"student": student, "teacher": teacher, **rest, "dino_loss": {"center": drawn(1, 40)}}


def dinov2(registers: bool = False) -> Tensors:
    tensors = scaled(vit(patch=14), "ls{}.gamma") | {"mask_token": drawn(1, WIDTH)}
    return tensors | ({"register_tokens": drawn(1, 4, WIDTH)} if registers else {})


def dinov2_swiglu() -> Tensors:
    tensors = {name: tensor for name, tensor in dinov2().items() if ".mlp." not in name}
    for number in range(DEPTH):
        tensors |= linear(f"blocks.{number}.mlp.w12", 2 * 96, WIDTH) | linear(f"blocks.{number}.mlp.w3", WIDTH, 96)
    return tensors


def in_chunks(tensors: Tensors) -> Tensors:
    """Make the names of training with `block_chunks`, one block a chunk; each keeps its number."""
    return {re.sub(r"^blocks\.(\d+)\.", r"blocks.\1.\1.", name): tensor for name, tensor in tensors.items()}


def dinov3() -> Tensors:
    tensors = scaled(vit(), "ls{}.gamma")
    del tensors["pos_embed"]
    tensors |= {"storage_tokens": drawn(1, 4, WIDTH), "mask_token": drawn(1, WIDTH), "rope_embed.periods": drawn(16)}
    return tensors | {f"blocks.{number}.attn.qkv.bias_mask": torch.ones(3 * WIDTH) for number in range(DEPTH)}


def mae() -> Tensors:
    tensors = vit() | linear("decoder_embed", 32, WIDTH) | norm("decoder_norm", 32) | linear("decoder_pred", 768, 32)
    return {
        **tensors,
        **block("decoder_blocks.0", 32, 128),
        "mask_token": drawn(1, 1, 32),
        "decoder_pos_embed": drawn(1, 17, 32),
    }


def beit_tensors(pretraining: bool) -> Tensors:
    tensors = {name: tensor for name, tensor in vit().items() if name != "pos_embed" and not name.startswith("norm.")}
    tensors = scaled(tensors, "gamma_{}")
    index = {"relative_position_index": torch.zeros(17, 17, dtype=torch.long)}
    for number in range(DEPTH):
        place = f"blocks.{number}.attn."
        del tensors[f"{place}qkv.bias"]
        tensors |= {f"{place}q_bias": drawn(WIDTH), f"{place}v_bias": drawn(WIDTH)}
        if not pretraining:
            tensors |= within({"relative_position_bias_table": drawn(52, 1), **index}, place)
    if not pretraining:
        return tensors | norm("fc_norm") | linear("head", CLASSES, WIDTH)
    tensors |= within({"relative_position_bias_table": drawn(52, 1), **index}, "rel_pos_bias.")
    return tensors | norm("norm") | linear("lm_head", 20, WIDTH) | {"mask_token": drawn(1, 1, WIDTH)}


def swin_tensors(second: bool) -> Tensors:
    """Make two stages of two blocks; the merging layer is the first stage's."""
    tensors = {"patch_embed.proj.weight": drawn(32, 3, 4, 4), "patch_embed.proj.bias": drawn(32)}
    tensors |= norm("patch_embed.norm", 32) | norm("norm", 64) | linear("head", CLASSES, 64)
    tensors |= linear("layers.0.downsample.reduction", 64, 128, bias=False)
    tensors |= norm("layers.0.downsample.norm", 64 if second else 128)
    for stage, width in enumerate((32, 64)):
        for number in range(2):
            name = f"layers.{stage}.blocks.{number}"
            place, heads = f"{name}.attn.", 2**stage
            tensors |= block(name, width, 4 * width)
            tensors[f"{place}relative_position_index"] = torch.zeros(16, 16, dtype=torch.long)
            if second:
                del tensors[f"{place}qkv.bias"]
                tensors |= {f"{place}q_bias": drawn(width), f"{place}v_bias": drawn(width)}
                tensors |= {
                    f"{place}logit_scale": drawn(heads, 1, 1),
                    f"{place}relative_coords_table": drawn(1, 7, 7, 2),
                }
                tensors |= linear(f"{place}cpb_mlp.0", 512, 2) | linear(f"{place}cpb_mlp.2", heads, 512, bias=False)
            else:
                tensors[f"{place}relative_position_bias_table"] = drawn(49, heads)
            if number == 1 and stage == 0:
                tensors[f"{name}.attn_mask"] = torch.zeros(4, 16, 16)
    return tensors


of_vit = vision_transformer.checkpoint_filter_fn
VIT = ("vit_base_patch16_224", {**SMALL, "img_size": 64, "num_classes": 0}, of_vit)
DINOV2 = ("vit_small_patch14_dinov2", {**SMALL, "img_size": 56}, of_vit)
WINDOWS = {"embed_dim": 32, "depths": (2, 2), "num_heads": (1, 2), "window_size": 4, "num_classes": CLASSES}
BEIT = {**SMALL, "img_size": 64, "init_values": 0.1, "use_abs_pos_emb": False}

CASES: dict[str, tuple[Callable[[], Any], tuple[str, dict[str, Any], Any], tuple[str, ...], str]] = {
    "dino": (vit, VIT, ("cls",), "30 of 30"),
    "dino_training": (dino, VIT, ("cls",), "30 of 30"),
    "dinov2": (dinov2, DINOV2, ("cls",), "34 of 35"),
    "dinov2_chunks": (lambda: in_chunks(dinov2()), DINOV2, ("cls",), "34 of 35"),
    "dinov2_teacher": (
        lambda: {"teacher": within(dinov2(), "backbone.") | projection("dino_head") | projection("ibot_head")},
        DINOV2,
        ("cls",),
        "34 of 35",
    ),
    "dinov2_registers": (
        lambda: dinov2(registers=True),
        ("vit_small_patch14_reg4_dinov2", DINOV2[1], of_vit),
        REGISTERS,
        "35 of 36",
    ),
    "dinov2_swiglu": (
        dinov2_swiglu,
        ("vit_giant_patch14_dinov2", {**DINOV2[1], "mlp_ratio": 3.0}, of_vit),
        ("cls",),
        "34 of 35",
    ),
    "dinov3": (
        dinov3,
        ("vit_small_patch16_dinov3_qkvb", {**SMALL, "img_size": 64, "global_pool": "token"}, eva.checkpoint_filter_fn),
        REGISTERS,
        "34 of 38",
    ),
    "deit": (
        lambda: {"model": vit() | linear("head", CLASSES, WIDTH)},
        (VIT[0], {**VIT[1], "num_classes": CLASSES}, of_vit),
        ("cls",),
        "32 of 32",
    ),
    "deit_distilled": (
        lambda: {
            "model": {
                **vit(places=18),
                "dist_token": drawn(1, 1, WIDTH),
                **linear("head", CLASSES, WIDTH),
                **linear("head_dist", CLASSES, WIDTH),
            }
        },
        ("deit_tiny_distilled_patch16_224", {**VIT[1], "num_classes": CLASSES}, of_vit),
        ("cls", "dist"),
        "35 of 35",
    ),
    "deit_3": (
        lambda: {"model": scaled(vit(places=16), "gamma_{}") | linear("head", CLASSES, WIDTH)},
        ("deit3_small_patch16_224", {**VIT[1], "num_classes": CLASSES}, partial(of_vit, adapt_layer_scale=True)),
        ("cls",),
        "36 of 36",
    ),
    "mae": (lambda: {"model": mae(), "args": argparse.Namespace(), "epoch": 1}, VIT, ("cls",), "50 of 50"),
    "mae_encoder": (lambda: {"model": vit()}, VIT, ("cls",), "30 of 30"),
    "mae_tuned": (
        lambda: {
            "model": {
                **{name: tensor for name, tensor in vit().items() if not name.startswith("norm.")},
                **norm("fc_norm"),
                **linear("head", CLASSES, WIDTH),
            }
        },
        (VIT[0], {**VIT[1], "num_classes": CLASSES, "global_pool": "avg"}, of_vit),
        ("cls",),
        "32 of 32",
    ),
    "beit": (
        lambda: {"model": beit_tensors(pretraining=False)},
        (
            "beit_base_patch16_224",
            {**BEIT, "num_classes": CLASSES, "use_rel_pos_bias": True},
            beit.checkpoint_filter_fn,
        ),
        ("cls",),
        "39 of 39",
    ),
    "beit_pretraining": (
        lambda: {"model": beit_tensors(pretraining=True)},
        (
            "beit_base_patch16_224",
            {
                **BEIT,
                "num_classes": 0,
                "use_rel_pos_bias": False,
                "use_shared_rel_pos_bias": True,
                "global_pool": "token",
            },
            beit.checkpoint_filter_fn,
        ),
        ("cls",),
        "36 of 39",
    ),
    "swin": (
        lambda: {"model": swin_tensors(second=False)},
        ("swin_tiny_patch4_window7_224", {**WINDOWS, "img_size": 128}, swin_transformer.checkpoint_filter_fn),
        (),
        "63 of 63",
    ),
    "swin_v2": (
        lambda: {"model": swin_tensors(second=True)},
        ("swinv2_tiny_window8_256", {**WINDOWS, "img_size": 128}, swin_transformer_v2.checkpoint_filter_fn),
        (),
        "79 of 79",
    ),
}


@pytest.mark.parametrize("key", quick(CASES, ["dino_training", "dinov2_registers", "dinov3", "mae", "swin_v2"]))
def test_a_file_answers_as_through_timms_own_filter(key: str, tmp_path: Path) -> None:
    make, (entry, arguments, through), prefix_tokens, used = CASES[key]
    checkpoint = make()
    torch.save(checkpoint, tmp_path / "checkpoint.pth")
    model = vx.load_model(weights=tmp_path / "checkpoint.pth")
    captured = vx.capture(model, PICTURE, fit="squash")
    assert captured.prefix_tokens == prefix_tokens
    assert f"{used} tensors" in model.notes[0].en
    twin = timm.create_model(entry, **arguments).eval()
    twin.load_state_dict(through(plain(checkpoint), twin))
    with torch.no_grad():
        expected = twin(captured.input.tensor)
    torch.testing.assert_close(captured.output, expected, rtol=1e-5, atol=1e-5)
    assert torch.isfinite(captured.attention(1)).all()


def plain(checkpoint: dict[str, Any]) -> Tensors:
    """Return what timm's filters expect: one dictionary of tensors, without chunks, training heads and decoders."""
    tensors = checkpoint.get("teacher", checkpoint.get("model", checkpoint))
    names = {
        re.sub(r"^backbone\.", "", re.sub(r"^blocks\.\d+\.(\d+)\.", r"blocks.\1.", name)): name for name in tensors
    }
    unread = re.compile(
        r"^lm_head|^(dino_|ibot_)?head\.(mlp|last_layer)|^decoder_|relative_position_index|coords_table|attn_mask"
    )
    hides = any(name.startswith(("decoder_", "lm_head")) for name in names)
    return {
        name: tensors[own]
        for name, own in names.items()
        if not unread.search(name) and not (hides and name == "mask_token")
    }


def test_the_decoder_of_a_masked_autoencoder_comes_with_it(tmp_path: Path) -> None:
    torch.save({"model": mae()}, tmp_path / "mae.pth")
    captured = vx.capture(vx.load_model(weights=tmp_path / "mae.pth"), PICTURE)
    assert vx.compute("mae_reconstruction", captured).values.shape == (64, 64, 3)


@pytest.mark.parametrize("has_norm", [True, False])
def test_a_mean_that_is_normed_before_or_after(has_norm: bool, tmp_path: Path) -> None:
    """Without a class token, no tensor shows how tokens are pooled: the norm's name does."""
    options = {**VIT[1], "num_classes": CLASSES, "class_token": False, "global_pool": "avg", "fc_norm": not has_norm}
    twin = timm.create_model(VIT[0], **options).eval()
    torch.save(twin.state_dict(), tmp_path / "mean.pth")
    captured = vx.capture(vx.load_model(weights=tmp_path / "mean.pth"), PICTURE, fit="squash")
    with torch.no_grad():
        torch.testing.assert_close(captured.output, twin(captured.input.tensor), rtol=1e-5, atol=1e-5)
