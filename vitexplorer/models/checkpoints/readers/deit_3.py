"""Files of DeiT III's own repository (arXiv 2204.07118), where layer scale is called gamma."""

from vitexplorer.models.checkpoints.default_preprocessing import BICUBIC
from vitexplorer.models.checkpoints.records import Facts, Reader
from vitexplorer.models.checkpoints.renaming import by_rules

READER = Reader(
    library="DeiT III",
    signs=(r"^pos_embed$", r"^blocks\.0\.gamma_1$", r"^blocks\.0\.attn\.qkv\.bias$", r"^cls_token$"),
    rename=by_rules(Facts(preprocessing={**BICUBIC, "crop_pct": 1.0}), rules=((r"\.gamma_([12])$", r".ls\1.gamma"),)),
)
