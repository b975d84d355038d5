"""Pretrained files of MAE's own repository (arXiv 2111.06377): an encoder under timm's names, and a decoder.

The caller loads the decoder, for which it needs the module.
"""

from vitexplorer.models.checkpoints.default_preprocessing import BICUBIC
from vitexplorer.models.checkpoints.records import Facts, Reader
from vitexplorer.models.checkpoints.renaming import by_rules

READER = Reader(
    library="MAE",
    signs=(r"^mask_token$", r"^decoder_embed\.weight$", r"^blocks\.0\.attn\.qkv\.weight$"),
    rename=by_rules(
        Facts(preprocessing={**BICUBIC, "crop_pct": 224 / 256}, prefix_placed=True), unread=r"^mask_token$|^decoder_"
    ),
)
