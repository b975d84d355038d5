"""torchvision: vit_b_16 to vit_h_14. Names as its `state_dict` has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitexplorer.models.checkpoints.facts import Facts, Tensors
from vitexplorer.models.checkpoints.reader import Reader
from vitexplorer.models.checkpoints.renaming import renamed

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


def rename(tensors: Tensors, config: Mapping[str, Any]) -> tuple[Tensors, Facts]:
    """Under timm's names. Heads are not in the file: torchvision's have 64 numbers, but for the huge one with 80."""
    kept = renamed(tensors, _RULES)
    heads = 16 if kept["cls_token"].shape[-1] == 1280 else None
    return kept, Facts(library="torchvision", norm_eps=1e-6, num_heads=heads, preprocessing=IMAGENET)


IMAGENET = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225), "interpolation": "bilinear", "crop_pct": 0.875}
READER = Reader(
    library="torchvision",
    signs=(r"^conv_proj\.weight$", r"^encoder\.layers\.encoder_layer_0\.self_attention\.in_proj_weight$"),
    rename=rename,
)
