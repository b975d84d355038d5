"""GCViT (arXiv 2206.09959): windows with their own queries alternate with windows that share global queries."""

from __future__ import annotations

from timm.models.gcvit import GlobalContextVit, GlobalContextVitBlock
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import BlockSite, WindowLayout
from vitexplorer.models.families.attention_only import (
    AttentionOnlyFamily,
    numbered,
    parts,
    stage_grid,
)

SHARED = Text(
    "All windows ask the same queries, made of the whole image; each is shown where its answer goes.",
    "所有窗口使用同一组由整幅图像得到的查询；每个查询显示在其输出所在的位置。",
)


class GcvitFamily(AttentionOnlyFamily):
    """Global context vision transformers."""

    key = "gcvit"
    title = same("GCViT")
    of = (GlobalContextVit,)

    def blocks(self, module: nn.Module, input_size: tuple[int, int]) -> tuple[BlockSite, ...]:
        """List all blocks; a shared query is drawn at the position of its output."""
        return numbered(
            BlockSite(
                name=f"{name}.attn",
                grid=stage_grid(module, name, input_size),
                windows=WindowLayout(tuple(block.window_size), (0, 0)),
                notes=(SHARED,) if block.attn.use_global else (),
            )
            for name, block in parts(module, GlobalContextVitBlock)
        )


FAMILY = GcvitFamily()
