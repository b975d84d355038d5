"""Files of Swin's and Swin V2's own repository (arXiv 2103.14030, 2111.09883).

Patch merging comes at the end of a stage there, and at the start of the next in timm.
"""

from vitexplorer.models.checkpoints.default_preprocessing import BICUBIC
from vitexplorer.models.checkpoints.records import Facts, Reader
from vitexplorer.models.checkpoints.renaming import by_rules, merged_at_the_start

READER = Reader(
    library="Swin",
    signs=(r"^layers\.0\.downsample\.reduction\.weight$", r"^layers\.0\.blocks\.0\.attn\.qkv\.weight$"),
    rename=by_rules(
        Facts(preprocessing={**BICUBIC, "crop_pct": 224 / 256}),
        rules=((r"^head\.", "head.fc."),),
        then=merged_at_the_start,
    ),
)
