"""CPUBone (arXiv 2603.26425): attention in the last two stages, on a grid that a convolution makes coarser first.

Kernels of 2 x 2 are not centred: if they keep the grid, a token depends on its own cell and those left and above.
"""

from timm.models.cpubone import ConvAttention, CPUBone

from vitexplorer.core.text import same
from vitexplorer.models.families.attention_only import AttentionOnlyFamily


class CpuboneFamily(AttentionOnlyFamily):
    """Mobile hybrid networks; only the blocks with attention."""

    title = same("CPUBone")
    of = (CPUBone,)
    any_size = True
    attends_by = ConvAttention
    formula = "softmax(q kᵀ / √d)"


FAMILY = CpuboneFamily()
