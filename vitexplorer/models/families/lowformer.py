"""LowFormer (arXiv 2409.03460): attention in the last two stages, on a grid that a convolution makes coarser first."""

from timm.models.lowformer import ConvAttention, LowFormer

from vitexplorer.core.text import same
from vitexplorer.models.families.attention_only import AttentionOnlyFamily


class LowformerFamily(AttentionOnlyFamily):
    """Mobile hybrid networks; only the blocks with attention."""

    title = same("LowFormer")
    of = (LowFormer,)
    any_size = True
    attends_by = ConvAttention
    formula = "softmax(q kᵀ / √d)"


FAMILY = LowformerFamily()
