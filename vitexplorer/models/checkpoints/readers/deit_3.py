"""Files of DeiT III's own repository (arXiv 2204.07118), where layer scale is called gamma."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitexplorer.models.checkpoints.default_preprocessing import IMAGENET
from vitexplorer.models.checkpoints.facts import Facts, Tensors
from vitexplorer.models.checkpoints.reader import Reader
from vitexplorer.models.checkpoints.renaming import renamed


def rename(tensors: Tensors, config: Mapping[str, Any]) -> tuple[Tensors, Facts]:
    """Rename tensors to timm's names."""
    prepared = {**IMAGENET, "interpolation": "bicubic", "crop_pct": 1.0}
    return renamed(tensors, ((r"\.gamma_([12])$", r".ls\1.gamma"),)), Facts("DeiT III", preprocessing=prepared)


READER = Reader(
    library="DeiT III",
    signs=(r"^pos_embed$", r"^blocks\.0\.gamma_1$", r"^blocks\.0\.attn\.qkv\.bias$", r"^cls_token$"),
    rename=rename,
)
