"""GCViT (arXiv 2206.09959): windows with their own queries alternate with windows that share global queries."""

from __future__ import annotations

from timm.models.gcvit import GlobalContextVit, GlobalContextVitBlock
from torch import nn

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import PatchGrid
from vitexplorer.models.families.attention_only import AttentionOnlyFamily, Sites, in_windows

SHARED = Text(
    "All windows ask the same queries, made of the whole image; each is shown where its answer goes.",
    "所有窗口使用同一组由整幅图像得到的查询；每个查询显示在其输出所在的位置。",
)


class GcvitFamily(AttentionOnlyFamily):
    """Global context vision transformers."""

    title = same("GCViT")
    of = (GlobalContextVit,)
    attends_by = GlobalContextVitBlock

    def attention_of(self, name: str, part: nn.Module, grid: PatchGrid) -> Sites:
        """Yield a block; a shared query is drawn at the position of its output."""
        yield in_windows(f"{name}.attn", grid, part.window_size, notes=(SHARED,) if part.attn.use_global else ())


FAMILY = GcvitFamily()
