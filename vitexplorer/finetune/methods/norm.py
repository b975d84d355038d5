"""Training of the norms' weights and biases alone: 2D (2L + 1) parameters in a plain ViT.

See Basu et al. 2023 (arXiv 2304.01933, "LayerNorm tuning") for transformers, Frankle et al. 2020 (arXiv 2003.00152)
for convolutional networks, whose batch norms then also adopt the statistics of the new images.
"""

from __future__ import annotations

from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.finetune.method import PETL, Method, already_merged
from vitexplorer.models.anatomy import norms
from vitexplorer.models.loading import LoadedModel


def inject(model: LoadedModel) -> LoadedModel:
    """Unfreeze every norm."""
    for part in norms(model.module).values():
        for parameter in part.parameters(recurse=False):
            parameter.requires_grad_(True)
    return model


METHOD = Method(
    title=Text("Norm tuning", "归一化层微调"),
    sentence=Text(
        "Trains the scale and shift of every norm and nothing else inside the model.",
        "在模型内部只训练各归一化层的缩放与平移。",
    ),
    inject=inject,
    recipe=PETL,
    families=None,
    paper=Paper("Basu et al. 2023", "https://arxiv.org/abs/2304.01933"),
    merge=already_merged,
)
