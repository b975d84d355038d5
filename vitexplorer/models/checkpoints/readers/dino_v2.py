"""Files of DINOv2's own repository (arXiv 2304.07193, 2309.16588), released or saved in training.

Models with registers are included; their position table has a row for the class token. Training stores blocks in
chunks, `blocks.1.7.` for block 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitexplorer.models.checkpoints.default_preprocessing import IMAGENET
from vitexplorer.models.checkpoints.facts import Facts, Tensors
from vitexplorer.models.checkpoints.reader import Reader
from vitexplorer.models.checkpoints.renaming import fold_class_position, renamed, without

_RULES = (
    (r"^blocks\.\d+\.(\d+)\.", r"blocks.\1."),
    (r"^register_tokens$", "reg_token"),
    (r"\.mlp\.w12\.", ".mlp.fc1."),
    (r"\.mlp\.w3\.", ".mlp.fc2."),
)


def rename(tensors: Tensors, config: Mapping[str, Any]) -> tuple[Tensors, Facts]:
    """Rename tensors to timm's names, without the mask token of pretraining."""
    encoder, left_out = without(tensors, r"^mask_token$")
    facts = Facts("DINOv2", preprocessing={**IMAGENET, "interpolation": "bicubic", "crop_pct": 1.0}, left_out=left_out)
    result = fold_class_position(renamed(encoder, _RULES))
    return result, facts.but(prefix_placed="reg_token" not in result)


READER = Reader(
    library="DINOv2",
    signs=(
        r"^blocks\.(0\.)?0\.ls1\.gamma$",
        r"^blocks\.(0\.)?0\.attn\.qkv\.weight$",
        r"^mask_token$|^register_tokens$|^blocks\.0\.0\.|\.mlp\.w12\.",
        r"^pos_embed$",
    ),
    rename=rename,
)
