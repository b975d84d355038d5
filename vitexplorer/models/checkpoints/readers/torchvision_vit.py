"""torchvision's vit_b_16 to vit_h_14, with the names of its `state_dict`."""

from __future__ import annotations

import math

from vitexplorer.models.checkpoints.default_preprocessing import torchvision_preprocessing
from vitexplorer.models.checkpoints.misfit import shape_of
from vitexplorer.models.checkpoints.records import Config, Facts, Reader, Tensors
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

_SIZES = {768: "b", 1024: "l", 1280: "h"}


def rename(tensors: Tensors, config: Config) -> tuple[Tensors, Facts]:
    """Rename tensors to timm's names; torchvision's heads have 64 numbers, except 80 in the huge model."""
    result = renamed(tensors, _RULES)
    width, _, patch, _ = shape_of(result, "patch_embed.proj.weight", 4)
    size = patch * math.isqrt(shape_of(result, "pos_embed", 3)[1] - 1)
    prepared = torchvision_preprocessing(f"vit_{_SIZES.get(width, '')}_{patch}", size)
    heads = 16 if width == 1280 else None
    return result, Facts(norm_eps=1e-6, num_heads=heads, preprocessing=prepared, prefix_placed=True)


READER = Reader(
    library="torchvision",
    signs=(r"^conv_proj\.weight$", r"^encoder\.layers\.encoder_layer_0\.self_attention\.in_proj_weight$"),
    rename=rename,
)
