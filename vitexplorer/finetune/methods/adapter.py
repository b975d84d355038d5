"""Adapter: a sequential bottleneck inside the branches of every block, h += W_up GELU(W_down h).

Houlsby et al. 2019 (arXiv 1902.00751) put one after attention and one after the MLP, 2 L (2 D m + m + D) parameters;
Pfeiffer et al. 2020 (arXiv 2005.00247) one after the MLP, half of that. Both act before the branch is scaled and
added to the tokens.
"""

from __future__ import annotations

from torch import nn

from vitexplorer.controls import Choice, Number
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.finetune.method import PETL, Method
from vitexplorer.finetune.parts.bottleneck import Bottleneck
from vitexplorer.finetune.parts.hanging import hang
from vitexplorer.models.anatomy import block_parts
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.outline import outline


class Sequential(nn.Module):
    """Residual bottleneck, h + bottleneck(h)."""

    def __init__(self, width: int, bottleneck: int):
        super().__init__()
        self.bottleneck = Bottleneck(width, bottleneck, nn.GELU())

    def forward(self, made, given):
        """Return made + bottleneck(made)."""
        return made + self.bottleneck(made)


def inject(model: LoadedModel, placement: str, bottleneck: int) -> LoadedModel:
    """Add an adapter to every MLP and, for "houlsby", to every attention."""
    for name in outline(model.module).blocks:
        parts = block_parts(model.module, name)
        for place in (parts.attention, parts.mlp) if placement == "houlsby" else (parts.mlp,):
            hang(model.module.get_submodule(place), "adapter", Sequential(parts.width, bottleneck))
    return model


METHOD = Method(
    title=Text("Adapter", "适配器（adapter）"),
    sentence=Text(
        "Puts a small trained bottleneck after the MLP of every block, or after attention and MLP.",
        "在每个块的 MLP 之后（或注意力与 MLP 之后）插入一个可训练的小瓶颈层。",
    ),
    inject=inject,
    recipe=PETL,
    controls=(
        Choice(
            "placement",
            Text("Placement", "位置"),
            options=(
                ("pfeiffer", Text("after the MLP (Pfeiffer)", "MLP 之后（Pfeiffer）")),
                ("houlsby", Text("after attention and MLP (Houlsby)", "注意力和 MLP 之后（Houlsby）")),
            ),
        ),
        Number("bottleneck", Text("Bottleneck width", "瓶颈宽度"), low=1, high=1024, start=64, step=1, whole=True),
    ),
    paper=Paper("Houlsby et al. 2019", "https://arxiv.org/abs/1902.00751"),
)
