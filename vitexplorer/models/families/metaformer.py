"""CAFormer (arXiv 2210.13452): convolutions in two stages, attention over the whole grid in the other two.

PoolFormer and ConvFormer share its class and have no attention.
"""

from timm.models.metaformer import Attention, MetaFormer

from vitexplorer.core.text import same
from vitexplorer.models.families.attention_only import AttentionOnlyFamily


class MetaformerFamily(AttentionOnlyFamily):
    """MetaFormers with attention."""

    title = same("MetaFormer")
    of = (MetaFormer,)
    any_size = True
    attends_by = Attention


FAMILY = MetaformerFamily()
