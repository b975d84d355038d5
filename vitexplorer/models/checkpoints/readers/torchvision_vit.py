"""torchvision: vit_b_16 to vit_h_14. Names as its `state_dict` has them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from vitexplorer.models.checkpoints.facts import Facts, Tensors
from vitexplorer.models.checkpoints.misfit import shape_of
from vitexplorer.models.checkpoints.reader import Reader
from vitexplorer.models.checkpoints.renaming import renamed
from vitexplorer.models.checkpoints.usual import of_torchvision

_RULES = (
    (r"^class_token$", "cls_token"),
    (r"^conv_proj\.", "patch_embed.proj."),
    (r"^encoder\.pos_embedding$", "pos_embed"),
    (r"^encoder\.layers\.encoder_layer_", "blocks."),
    (r"\.ln_([12])\.", r".norm\1."),
    (r"\.self_attention\.in_proj_(weight|bias)$", r".attn.qkv.\1"),
    (r"\.self_attention\.out_proj\.", ".attn.proj."),
    (r"\.mlp\.(0|linear_1)\.", ".mlp.fc1."),
    (r"\.mlp\.(3|linear_2)\.", ".mlp.fc2."),
    (r"^encoder\.ln\.", "norm."),
    (r"^heads\.head\.", "head."),
)

_SIZES = {768: "b", 1024: "l", 1280: "h"}


def rename(tensors: Tensors, config: Mapping[str, Any]) -> tuple[Tensors, Facts]:
    """Under timm's names. Heads are not in the file: torchvision's have 64 numbers, but for the huge one with 80."""
    kept = renamed(tensors, _RULES)
    width, _, patch, _ = shape_of(kept, "patch_embed.proj.weight", 4)
    size = patch * math.isqrt(shape_of(kept, "pos_embed", 3)[1] - 1)
    prepared = of_torchvision(f"vit_{_SIZES.get(width, '')}_{patch}", size)
    heads = 16 if width == 1280 else None
    return kept, Facts(
        library="torchvision", norm_eps=1e-6, num_heads=heads, preprocessing=prepared, prefix_placed=True
    )


READER = Reader(
    library="torchvision",
    signs=(r"^conv_proj\.weight$", r"^encoder\.layers\.encoder_layer_0\.self_attention\.in_proj_weight$"),
    rename=rename,
)
