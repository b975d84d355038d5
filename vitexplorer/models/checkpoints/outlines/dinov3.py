"""Outline of timm's Eva as DINOv3 uses it: rotary positions, registers, layer scale, no bias for keys."""

from __future__ import annotations

from functools import partial

import numpy as np
from torch import nn

from vitexplorer.models.checkpoints.misfit import heads_of, rows_of, shape_of
from vitexplorer.models.checkpoints.records import Blueprint, Facts, Outline, Tensors
from vitexplorer.models.checkpoints.renaming import count, ratio

_SIZES = {(192, 12): "tiny", (384, 12): "small", (768, 12): "base", (1024, 24): "large", (1280, 32): "huge_plus"}
_USUAL_SIZE = 256
"""Pixels of a side in timm's configuration; no tensor depends on it"""
_USUAL_PERIOD = 100.0
"""Base of the periods of DINOv3's rotary positions"""


def blueprint(tensors: Tensors, facts: Facts) -> Blueprint:
    """Derive the sizes from the matrices; heads have 64 numbers unless the configuration states their number."""
    width, _, patch, _ = shape_of(tensors, "patch_embed.proj.weight", 4)
    depth = count(tensors, r"blocks\.(\d+)\.")
    gated = "blocks.0.mlp.fc1_g.weight" in tensors
    hidden = shape_of(tensors, "blocks.0.mlp.fc2.weight", 2)[1]
    is_empty = tuple(tensors["reg_token"].shape[:2]) == (1, 0)
    registers = 0 if is_empty else shape_of(tensors, "reg_token", 3)[1]
    has_key_bias = "blocks.0.attn.qkv.bias" in tensors
    arguments = {
        "img_size": facts.image_size or _USUAL_SIZE,
        "patch_size": patch,
        "embed_dim": width,
        "depth": depth,
        "num_heads": heads_of(facts, width) or max(1, width // 64),
        "mlp_ratio": ratio(hidden, width),
        "swiglu_mlp": gated,
        "swiglu_align_to": 1 if gated else 0,  # makes timm store the two halves separately
        "num_classes": rows_of(tensors, "head.weight") if "head.weight" in tensors else 0,
        "qkv_bias": has_key_bias or "blocks.0.attn.q_bias" in tensors,
        "attn_type": "rope" if has_key_bias else "eva",
        "num_reg_tokens": registers,
        "global_pool": "token",
        "rope_temperature": facts.rope_theta or _USUAL_PERIOD,
        "norm_layer": partial(nn.LayerNorm, eps=facts.norm_eps or 1e-5),
    }
    if any(side % patch for side in np.atleast_1d(arguments["img_size"])):  # timm would refuse the model's own size
        arguments["dynamic_img_size"] = False
    if arguments["num_reg_tokens"] == 0:
        tensors = {name: tensor for name, tensor in tensors.items() if name != "reg_token"}
    kind = _SIZES.get((width, depth), f"{width}x{depth}")
    name = f"vit_{kind}_patch{patch}_dinov3"
    return Blueprint(name, "vit_small_patch16_dinov3", arguments, tensors, facts)


OUTLINE = Outline(
    signs=(r"^cls_token$", r"^reg_token$", r"^blocks\.0\.gamma_1$", r"^blocks\.0\.attn\.qkv\.weight$"),
    never=(r"relative_position_bias_table$", r"^pos_embed$"),
    blueprint=blueprint,
)
