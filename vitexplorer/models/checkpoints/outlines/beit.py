"""Outline of timm's Beit: BEiT, BEiT v2 and Data2Vec, with a relative position table in each block or one for all."""

from __future__ import annotations

import math
from functools import partial

from torch import nn

from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.misfit import MisfitError, grid_error, heads_of, rows_of, shape_of
from vitexplorer.models.checkpoints.records import Blueprint, Facts, Outline, Tensors
from vitexplorer.models.checkpoints.renaming import count, ratio

_SIZES = {(768, 12): "base", (1024, 24): "large"}
_NO_SQUARE = Text(
    "image_size is {height} x {width}; with relative positions only square images can be shown",
    "image_size 为 {height} x {width}；使用相对位置时只能展示正方形图像",
)
_EXTRA = 3
"""Rows of a relative position table without an offset: to, from and at the class token"""


def blueprint(tensors: Tensors, facts: Facts) -> Blueprint:
    """Derive the heads and the grid from the position tables."""
    width, _, patch, _ = shape_of(tensors, "patch_embed.proj.weight", 4)
    depth = count(tensors, r"blocks\.(\d+)\.")
    shared = "rel_pos_bias.relative_position_bias_table" in tensors
    table = next((name for name in tensors if name.endswith("relative_position_bias_table")), None)
    if table is not None:
        rows, heads = shape_of(tensors, table, 2)
        side = (math.isqrt(max(0, rows - _EXTRA)) + 1) // 2
        extra = _EXTRA
    else:
        heads = heads_of(facts, width) or max(1, width // 64)
        rows = shape_of(tensors, "pos_embed", 3)[1] if "pos_embed" in tensors or not facts.image_size else 0
        side = math.isqrt(max(0, rows - 1))
        extra = 1
    size = facts.image_size or side * patch
    height, across = (size, size) if isinstance(size, int) else size
    grid = height // patch, across // patch
    if table is not None and grid[0] != grid[1]:  # other libraries then order the offsets differently
        raise MisfitError(_NO_SQUARE.format(height=height, width=across))
    offsets = math.prod(2 * side - 1 for side in grid) if table is not None else math.prod(grid)
    if not all(grid) or (rows and offsets + extra != rows):
        raise grid_error(table or "pos_embed", rows, facts.image_size)
    arguments = {
        "img_size": size,
        "patch_size": patch,
        "embed_dim": width,
        "depth": depth,
        "num_heads": heads,
        "mlp_ratio": ratio(rows_of(tensors, "blocks.0.mlp.fc1.weight"), width),
        "num_classes": rows_of(tensors, "head.weight") if "head.weight" in tensors else 0,
        "use_abs_pos_emb": "pos_embed" in tensors,
        "use_rel_pos_bias": "blocks.0.attn.relative_position_bias_table" in tensors,
        "use_shared_rel_pos_bias": shared,
        "init_values": 0.1 if "blocks.0.gamma_1" in tensors else 0.0,
        "global_pool": "avg" if "fc_norm.weight" in tensors else "token",
        "norm_layer": partial(nn.LayerNorm, eps=facts.norm_eps or 1e-6),
    }
    kind = _SIZES.get((width, depth), f"{width}x{depth}")
    name = f"beit_{kind}_patch{patch}_{height}"
    return Blueprint(name, "beit_base_patch16_224", arguments, tensors, facts)


OUTLINE = Outline(
    signs=(r"^cls_token$", r"^blocks\.0\.attn\.q_bias$", r"^blocks\.0\.attn\.qkv\.weight$"),
    never=(r"^reg_token$",),
    blueprint=blueprint,
)
