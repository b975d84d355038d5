"""torchvision's swin_t to swin_v2_b, with the names of its `state_dict`: stages and patch merging alternate.

Version 2 stores a bias for keys and sets it to zero in each pass; timm has none.
"""

from __future__ import annotations

import re

from vitexplorer.models.checkpoints.default_preprocessing import torchvision_preprocessing
from vitexplorer.models.checkpoints.misfit import shape_of
from vitexplorer.models.checkpoints.records import Config, Facts, Reader, Tensors
from vitexplorer.models.checkpoints.renaming import count, renamed, without_key_biases

_RULES = (
    (r"^features\.0\.0\.", "patch_embed.proj."),
    (r"^features\.0\.2\.", "patch_embed.norm."),
    (r"\.mlp\.0\.", ".mlp.fc1."),
    (r"\.mlp\.3\.", ".mlp.fc2."),
    (r"^head\.", "head.fc."),
)
_SIZES = {(96, 6): "t", (96, 18): "s", (128, 18): "b"}
"""Size by width and blocks of the third stage"""


def rename(tensors: Tensors, config: Config) -> tuple[Tensors, Facts]:
    """Rename tensors to timm's names."""
    result = {re.sub(r"^features\.(\d+)\.", _stage, name): tensor for name, tensor in renamed(tensors, _RULES).items()}
    is_second = any(name.endswith(".attn.logit_scale") for name in result)
    if is_second:
        result = without_key_biases(result)
    width = shape_of(result, "patch_embed.proj.weight", 4)[0]
    size = _SIZES.get((width, count(result, r"layers\.2\.blocks\.(\d+)\.")), "")
    prepared = torchvision_preprocessing(f"swin_{'v2_' if is_second else ''}{size}")
    return result, Facts(norm_eps=1e-5, preprocessing=prepared)


def _stage(match: re.Match[str]) -> str:
    """Return timm's prefix: odd numbers are stages, even ones the patch merging before them."""
    number = int(match[1])
    return f"layers.{number // 2}.blocks." if number % 2 else f"layers.{number // 2}.downsample."


READER = Reader(
    library="torchvision", signs=(r"^features\.0\.0\.weight$", r"^features\.1\.0\.attn\.qkv\.weight$"), rename=rename
)
