"""DINOv2's own repository, with and without registers (arXiv 2304.07193, 2309.16588), as released or as training saves.

Training keeps its blocks in chunks, `blocks.1.7.` for block 7. Beside registers the class token has a row of the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitexplorer.models.checkpoints.facts import Facts, Tensors
from vitexplorer.models.checkpoints.reader import Reader
from vitexplorer.models.checkpoints.renaming import placed, renamed, without
from vitexplorer.models.checkpoints.usual import IMAGENET

_RULES = (
    (r"^blocks\.\d+\.(\d+)\.", r"blocks.\1."),
    (r"^register_tokens$", "reg_token"),
    (r"\.mlp\.w12\.", ".mlp.fc1."),
    (r"\.mlp\.w3\.", ".mlp.fc2."),
)


def rename(tensors: Tensors, config: Mapping[str, Any]) -> tuple[Tensors, Facts]:
    """Under timm's names; the mask token is read in pretraining alone."""
    kept, left_out = without(tensors, r"^mask_token$")
    facts = Facts("DINOv2", preprocessing={**IMAGENET, "interpolation": "bicubic", "crop_pct": 1.0}, left_out=left_out)
    kept = placed(renamed(kept, _RULES))
    return kept, facts.but(prefix_placed="reg_token" not in kept)


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
