"""Files of DINOv2's own repository (arXiv 2304.07193, 2309.16588), released or saved in training.

Models with registers are included; their position table has a row for the class token. Training stores blocks in
chunks, `blocks.1.7.` for block 7.
"""

from __future__ import annotations

from vitexplorer.models.checkpoints.default_preprocessing import BICUBIC
from vitexplorer.models.checkpoints.records import Config, Facts, Reader, Tensors
from vitexplorer.models.checkpoints.renaming import fold_class_position, renamed, without

_RULES = (
    (r"^blocks\.\d+\.(\d+)\.", r"blocks.\1."),
    (r"^register_tokens$", "reg_token"),
    (r"\.mlp\.w12\.", ".mlp.fc1."),
    (r"\.mlp\.w3\.", ".mlp.fc2."),
)


def rename(tensors: Tensors, config: Config) -> tuple[Tensors, Facts]:
    """Rename tensors to timm's names, without the mask token of pretraining."""
    encoder, left_out = without(tensors, r"^mask_token$")
    result = fold_class_position(renamed(encoder, _RULES))
    prepared = {**BICUBIC, "crop_pct": 1.0}
    return result, Facts(preprocessing=prepared, left_out=left_out, prefix_placed="reg_token" not in result)


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
