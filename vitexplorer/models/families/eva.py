"""EVA, EVA-02 (arXiv 2303.11331) and DINOv3 (arXiv 2508.10104): rotary positions, class token and registers.

The rotation is applied to q and k of the patch tokens before the attention call, so a capture sees it done.
"""

from __future__ import annotations

from timm.models.eva import Eva
from torch import nn

from vitexplorer.models.families.columnar import ColumnarFamily
from vitexplorer.words import same


class EvaFamily(ColumnarFamily):
    """Vision transformers with rotary position embeddings."""

    key = "eva"
    title = same("EVA / DINOv3")

    def claims(self, module: nn.Module) -> bool:
        """timm's Eva."""
        return isinstance(module, Eva)

    def prefix_tokens(self, module: nn.Module) -> tuple[str, ...]:
        """The class token where there is one, then the registers."""
        names = ["cls"] if module.cls_token is not None else []
        registers = module.num_prefix_tokens - len(names)
        return (*names, *(f"reg{n}" for n in range(1, registers + 1)))


FAMILY = EvaFamily()
