"""EfficientFormer (arXiv 2206.01191): pooling first, attention with a learned bias in the last blocks."""

from timm.models.efficientformer import Attention, EfficientFormer

from vitexplorer.core.text import same
from vitexplorer.models.families.attention_only import AttentionOnlyFamily


class EfficientformerFamily(AttentionOnlyFamily):
    """Hybrid networks; only the blocks with attention."""

    title = same("EfficientFormer")
    of = (EfficientFormer,)
    attends_by = Attention


FAMILY = EfficientformerFamily()
