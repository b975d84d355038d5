"""Outline of timm's SwinTransformer: heads and windows from the relative position tables."""

from __future__ import annotations

import math
from functools import partial

from torch import nn

from vitexplorer.models.checkpoints.misfit import grid_error, rows_of, shape_of
from vitexplorer.models.checkpoints.records import Blueprint, Facts, Outline, Tensors
from vitexplorer.models.checkpoints.renaming import count, ratio

_SIZES = {
    (96, (2, 2, 6, 2)): "tiny",
    (96, (2, 2, 18, 2)): "small",
    (128, (2, 2, 18, 2)): "base",
    (192, (2, 2, 18, 2)): "large",
}
OUTSIDE_BLOCKS = {r"^patch_embed\.norm$|\.downsample\.norm$": 1e-5}
"""Epsilon of the norms of patch embedding and patch merging, the same in every library, whatever the blocks' norms"""
_USUAL_WINDOWS = 8
"""Windows along a side of the first stage: 224 pixels in patches of 4 and windows of 7"""


def stages_of(tensors: Tensors) -> tuple[int, ...]:
    """Return the number of blocks of each stage."""
    stages = count(tensors, r"layers\.(\d+)\.")
    return tuple(count(tensors, rf"layers\.{stage}\.blocks\.(\d+)\.") for stage in range(stages))


def arguments_of(tensors: Tensors, facts: Facts, window: int, heads: tuple[int, ...]) -> dict:
    """Return timm's arguments that Swin and Swin V2 share."""
    width, _, patch, _ = shape_of(tensors, "patch_embed.proj.weight", 4)
    size = facts.image_size or patch * window * _USUAL_WINDOWS
    return {
        "img_size": size,
        "patch_size": patch,
        "embed_dim": width,
        "depths": stages_of(tensors),
        "num_heads": heads,
        "window_size": window,
        "mlp_ratio": ratio(rows_of(tensors, "layers.0.blocks.0.mlp.fc1.weight"), width),
        "num_classes": rows_of(tensors, "head.fc.weight") if "head.fc.weight" in tensors else 0,
        "norm_layer": partial(nn.LayerNorm, eps=facts.norm_eps or 1e-5),
    }


def name_of(kind: str, arguments: dict) -> str:
    """Return a name in timm's form; a size without a name is written in numbers."""
    width, depths = arguments["embed_dim"], arguments["depths"]
    size = _SIZES.get((width, depths), f"{width}x{'-'.join(map(str, depths))}")
    pixels = arguments["img_size"] if isinstance(arguments["img_size"], int) else arguments["img_size"][0]
    return f"{kind}_{size}_patch{arguments['patch_size']}_window{arguments['window_size']}_{pixels}"


def blueprint(tensors: Tensors, facts: Facts) -> Blueprint:
    """Derive heads and windows from the relative position tables."""
    tables = [f"layers.{stage}.blocks.0.attn.relative_position_bias_table" for stage in range(len(stages_of(tensors)))]
    rows = shape_of(tensors, tables[0], 2)[0]
    heads = tuple(shape_of(tensors, table, 2)[1] for table in tables)
    window = (math.isqrt(rows) + 1) // 2
    if (2 * window - 1) ** 2 != rows:
        raise grid_error(tables[0], rows, None)
    arguments = {
        **arguments_of(tensors, facts, window, heads),
        "qkv_bias": "layers.0.blocks.0.attn.qkv.bias" in tensors,
    }
    name = name_of("swin", arguments)
    entry = "swin_tiny_patch4_window7_224"
    return Blueprint(name, entry, arguments, tensors, facts, OUTSIDE_BLOCKS)


OUTLINE = Outline(
    signs=(r"^layers\.0\.blocks\.0\.attn\.relative_position_bias_table$", r"^layers\.0\.blocks\.0\.attn\.qkv\.weight$"),
    never=(r"logit_scale$", r"absolute_pos_embed$"),
    blueprint=blueprint,
)
