"""A bottleneck beside the MLP of every block: x' + MLP(LN x') + s W_up ReLU(W_down x').

AdaptFormer (Chen et al. 2022, arXiv 2205.13535) and its code: s = 0.1, dropout 0.1 of the inner activations, and the
bottleneck reads the tokens x' before any norm. Its output is not scaled by the block's layer scale and not dropped with
the branch. L (2 D m + m + D) parameters.
"""

from __future__ import annotations

import threading
from typing import Any

from torch import Tensor, nn

from vitexplorer.controls import Number
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.finetune.method import PETL, Method
from vitexplorer.finetune.parts.bottleneck import Bottleneck
from vitexplorer.finetune.parts.hanging import hang
from vitexplorer.models.anatomy import block_parts
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.outline import outline

_PASS = threading.local()  # tokens of the running block, from the beginning of its MLP branch to its end


class Parallel(nn.Module):
    """Addition of scale * bottleneck(tokens) to the output of the MLP branch."""

    def __init__(self, width: int, bottleneck: int, scale: float):
        super().__init__()
        self.scale = scale
        self.bottleneck = Bottleneck(width, bottleneck, nn.ReLU(), dropout=0.1)

    def forward(self, made: Tensor, given: Tensor) -> Tensor:
        """Add the scaled bottleneck of the branch's input tokens to the branch's output."""
        tokens, _PASS.tokens = _PASS.tokens, None
        return made + self.scale * self.bottleneck(tokens)


def _remember(module: nn.Module, args: tuple[Any, ...]) -> None:
    _PASS.tokens = args[0]


def inject(model: LoadedModel, bottleneck: int, scale: float) -> LoadedModel:
    """Add a bottleneck at the end of every block's MLP branch."""
    for name in outline(model.module).blocks:
        parts = block_parts(model.module, name)
        begin = parts.norms[1] if parts.norm_first else parts.mlp
        model.module.get_submodule(begin).register_forward_pre_hook(_remember)
        hang(model.module.get_submodule(parts.end), "adaptformer", Parallel(parts.width, bottleneck, scale))
    return model


METHOD = Method(
    title=Text("AdaptFormer", "AdaptFormer（并行适配器）"),
    sentence=Text(
        "Adds a small trainable bottleneck in parallel with the MLP of every block, its output scaled by 0.1.",
        "在每个块的 MLP 旁并联一个可训练的小瓶颈层，其输出乘以 0.1 后相加。",
    ),
    inject=inject,
    recipe=PETL,
    controls=(
        Number("bottleneck", Text("Bottleneck width", "瓶颈宽度"), low=1, high=1024, start=64, step=1, whole=True),
        Number("scale", Text("Scale", "缩放系数"), low=0.01, high=10, start=0.1),
    ),
    paper=Paper("Chen et al. 2022", "https://arxiv.org/abs/2205.13535"),
    is_usual=True,
)
