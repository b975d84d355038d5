"""Pretrained files of BEiT's own repository (arXiv 2106.08254, 2208.06366); fine-tuned files have timm's names."""

from vitexplorer.models.checkpoints.default_preprocessing import HALF
from vitexplorer.models.checkpoints.records import Facts, Reader
from vitexplorer.models.checkpoints.renaming import by_rules

READER = Reader(
    library="BEiT",
    signs=(r"^mask_token$", r"^lm_head\.weight$", r"^blocks\.0\.attn\.q_bias$"),
    rename=by_rules(Facts(preprocessing=HALF), unread=r"^mask_token$|^lm_head\.|^cls_pt_layers\."),
)
