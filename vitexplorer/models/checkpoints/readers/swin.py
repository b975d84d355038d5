"""Files of Swin's and Swin V2's own repository (arXiv 2103.14030, 2111.09883).

Patch merging comes at the end of a stage there, and at the start of the next in timm.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitexplorer.models.checkpoints.default_preprocessing import IMAGENET
from vitexplorer.models.checkpoints.facts import Facts, Tensors
from vitexplorer.models.checkpoints.reader import Reader
from vitexplorer.models.checkpoints.renaming import merged_at_the_start, renamed


def rename(tensors: Tensors, config: Mapping[str, Any]) -> tuple[Tensors, Facts]:
    """Rename tensors to timm's names."""
    result = merged_at_the_start(renamed(tensors, ((r"^head\.", "head.fc."),)))
    return result, Facts("Swin", preprocessing={**IMAGENET, "interpolation": "bicubic", "crop_pct": 224 / 256})


READER = Reader(
    library="Swin",
    signs=(r"^layers\.0\.downsample\.reduction\.weight$", r"^layers\.0\.blocks\.0\.attn\.qkv\.weight$"),
    rename=rename,
)
