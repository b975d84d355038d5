"""Training of the biases alone (Ben Zaken et al. 2021, arXiv 2106.10199): 11 L D + 2D parameters in a plain ViT.

The separate query and value biases of BEiT, EVA and Swin V2 are included. Tables of relative positions are
added to the scores but are no biases of a layer; a switch includes them.
"""

from __future__ import annotations

from vitexplorer.controls import Switch
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.finetune.method import PETL, Method, already_merged
from vitexplorer.models.anatomy import biases, position_tables
from vitexplorer.models.loading import LoadedModel


def inject(model: LoadedModel, position_bias: bool) -> LoadedModel:
    """Unfreeze the biases and, with `position_bias`, the tables of relative positions."""
    tables = position_tables(model.module) if position_bias else {}
    for parameter in (*biases(model.module).values(), *tables.values()):
        parameter.requires_grad_(True)
    return model


METHOD = Method(
    title=Text("BitFit", "BitFit（只调偏置）"),
    sentence=Text(
        "Trains the biases of all layers and leaves every weight as it is.", "只训练各层的偏置，所有权重保持不变。"
    ),
    inject=inject,
    recipe=PETL,
    controls=(Switch("position_bias", Text("Relative position tables too", "同时训练相对位置偏置表")),),
    families=None,
    paper=Paper("Ben Zaken et al. 2021", "https://arxiv.org/abs/2106.10199"),
    merge=already_merged,
)
