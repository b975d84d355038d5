"""Pretrained files of BEiT's own repository (arXiv 2106.08254, 2208.06366); fine-tuned files have timm's names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vitexplorer.models.checkpoints.default_preprocessing import HALF
from vitexplorer.models.checkpoints.facts import Facts, Tensors
from vitexplorer.models.checkpoints.reader import Reader
from vitexplorer.models.checkpoints.renaming import without


def rename(tensors: Tensors, config: Mapping[str, Any]) -> tuple[Tensors, Facts]:
    """Remove the parts that predict visual words."""
    encoder, left_out = without(tensors, r"^mask_token$|^lm_head\.|^cls_pt_layers\.")
    return encoder, Facts("BEiT", preprocessing=HALF, left_out=left_out)


READER = Reader(
    library="BEiT", signs=(r"^mask_token$", r"^lm_head\.weight$", r"^blocks\.0\.attn\.q_bias$"), rename=rename
)
