"""LoRA: low-rank changes of the query and value projections (Hu et al. 2021, arXiv 2106.09685).

q += (alpha / r) B_q A_q x and v likewise, inside the fused projection if there is one; never the keys. 4 L D r
parameters. It merges into the weight.
"""

from __future__ import annotations

import torch
from torch import nn

from vitexplorer.controls import Number
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.finetune.method import PETL, Method
from vitexplorer.finetune.parts.hanging import hang, hung, take_down
from vitexplorer.finetune.parts.low_rank import LowRank, query_value_spans
from vitexplorer.models.anatomy import call_projection
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.outline import outline


def inject(model: LoadedModel, r: int, alpha: float) -> LoadedModel:
    """Add a low-rank change to every query and value projection."""
    for name in outline(model.module).blocks:
        call_projection(model.module, name)
    for layer, spans in query_value_spans(model.module).items():
        linear = model.module.get_submodule(layer)
        hang(linear, "lora", LowRank(linear.in_features, spans, linear.out_features, r, alpha))
    return model


@torch.no_grad()
def merge(module: nn.Module) -> None:
    """Add each change to its weight and remove its module."""
    for linear, part in hung(module, "lora"):
        linear.weight += part.delta()
        take_down(linear, "lora")


def changes(module: nn.Module) -> dict[str, LowRank]:
    """Return the change of each projection by name."""
    names = {id(part): name for name, part in module.named_modules()}
    return {names[id(linear)]: part for linear, part in hung(module, "lora")}


def decays(name: str, parameter: nn.Parameter) -> bool:
    """Return True for A and B, which are matrices of a layer although not named `weight`."""
    return parameter.ndim > 1


METHOD = Method(
    title=Text("LoRA", "LoRA（低秩适配）"),
    sentence=Text(
        "Adds a trained change of low rank to the projections of queries and values.",
        "给查询与值的投影加上一个可训练的低秩改变量。",
    ),
    inject=inject,
    recipe=PETL,
    controls=(
        Number("r", Text("Rank", "秩"), low=1, high=256, start=8, step=1, whole=True),
        Number(
            "alpha",
            Text("Alpha (the change is multiplied by alpha / rank)", "缩放系数 α（改变量乘以 α / 秩）"),
            0.01,
            1024,
            8,
        ),
    ),
    paper=Paper("Hu et al. 2021", "https://arxiv.org/abs/2106.09685"),
    merge=merge,
    exports=changes,
    decays=decays,
    is_usual=True,
)
