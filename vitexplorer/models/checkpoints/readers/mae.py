"""MAE's own repository (arXiv 2111.06377), as pretraining saves it: an encoder under timm's names, a decoder beside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitexplorer.models.checkpoints.facts import Facts, Tensors
from vitexplorer.models.checkpoints.reader import Reader
from vitexplorer.models.checkpoints.renaming import without
from vitexplorer.models.checkpoints.usual import IMAGENET


def rename(tensors: Tensors, config: Mapping[str, Any]) -> tuple[Tensors, Facts]:
    """The encoder; whether the decoder can draw is tried by whoever has the module."""
    kept, left_out = without(tensors, r"^mask_token$|^decoder_")
    prepared = {**IMAGENET, "interpolation": "bicubic", "crop_pct": 224 / 256}
    return kept, Facts("MAE", preprocessing=prepared, left_out=left_out, prefix_placed=True)


READER = Reader(
    library="MAE", signs=(r"^mask_token$", r"^decoder_embed\.weight$", r"^blocks\.0\.attn\.qkv\.weight$"), rename=rename
)
