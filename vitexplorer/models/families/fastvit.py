"""FastViT (arXiv 2303.14189): convolutions, and in larger models attention over the grid of the last stage."""

from timm.models.fastvit import Attention, FastVit

from vitexplorer.core.text import same
from vitexplorer.models.families.attention_only import AttentionOnlyFamily


class FastvitFamily(AttentionOnlyFamily):
    """Hybrid networks; only the blocks with attention."""

    title = same("FastViT")
    of = (FastVit,)
    any_size = True
    attends_by = Attention


FAMILY = FastvitFamily()
