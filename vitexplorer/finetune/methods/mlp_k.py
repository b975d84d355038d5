"""MLP probe: k linear layers (the output layer included) with ReLU on frozen features, of the features' width.

(k - 1)(D^2 + D) parameters beside the output layer (Jia et al. 2022, arXiv 2203.12119, section 4.1: "Mlp-k").
"""

from __future__ import annotations

from functools import partial

from torch import nn

from vitexplorer.controls import Number
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.finetune.method import Method, Recipe
from vitexplorer.finetune.parts.heads import feature_width, replace_heads
from vitexplorer.models.loading import LoadedModel


def inject(model: LoadedModel, k: int) -> LoadedModel:
    """Put k - 1 hidden layers between the features and the classifier."""
    replace_heads(model.module, partial(_deepened, k=k))
    return model


def _deepened(head: nn.Module, k: int) -> nn.Sequential:
    width = feature_width(head)
    hidden = [part for _ in range(k - 1) for part in (nn.Linear(width, width), nn.ReLU())]
    layers = nn.Sequential(*hidden, head)
    for layer in layers:
        if isinstance(layer, nn.Linear):
            nn.init.kaiming_normal_(layer.weight, nonlinearity="linear" if layer is head else "relu")
            nn.init.zeros_(layer.bias)
    return layers


METHOD = Method(
    title=Text("MLP probe", "MLP 探测"),
    sentence=Text(
        "Trains a small network of k linear layers on the frozen features.",
        "在冻结的特征上训练一个由 k 个线性层组成的小网络。",
    ),
    inject=inject,
    recipe=Recipe(learning_rate=1e-2),
    controls=(Number("k", Text("Linear layers", "线性层数"), low=2, high=9, start=3, step=1, whole=True),),
    families=None,
    paper=Paper("Jia et al. 2022, section 4.1", "https://arxiv.org/abs/2203.12119"),
)
