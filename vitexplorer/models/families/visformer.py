"""Visformer (arXiv 2104.12533): convolutions first, then attention over the whole grid of a stage."""

from timm.models.visformer import Attention, Visformer

from vitexplorer.core.text import same
from vitexplorer.models.families.attention_only import AttentionOnlyFamily


class VisformerFamily(AttentionOnlyFamily):
    """Vision-friendly transformers; only the blocks with attention."""

    title = same("Visformer")
    of = (Visformer,)
    attends_by = Attention


FAMILY = VisformerFamily()
