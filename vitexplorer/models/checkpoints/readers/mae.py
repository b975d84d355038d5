"""Pretrained files of MAE's own repository (arXiv 2111.06377): an encoder under timm's names, and a decoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitexplorer.models.checkpoints.default_preprocessing import IMAGENET
from vitexplorer.models.checkpoints.facts import Facts, Tensors
from vitexplorer.models.checkpoints.reader import Reader
from vitexplorer.models.checkpoints.renaming import without


def rename(tensors: Tensors, config: Mapping[str, Any]) -> tuple[Tensors, Facts]:
    """Return the encoder; the caller loads the decoder, for which it needs the module."""
    encoder, left_out = without(tensors, r"^mask_token$|^decoder_")
    prepared = {**IMAGENET, "interpolation": "bicubic", "crop_pct": 224 / 256}
    return encoder, Facts("MAE", preprocessing=prepared, left_out=left_out, prefix_placed=True)


READER = Reader(
    library="MAE", signs=(r"^mask_token$", r"^decoder_embed\.weight$", r"^blocks\.0\.attn\.qkv\.weight$"), rename=rename
)
