"""Linear probe: a new classifier on frozen features, the baseline that every other method must beat.

With `norm` a batch norm without parameters precedes it, as in MAE's linear probing (He et al. 2021, arXiv
2111.06377, appendix A.1); it merges into the classifier. Without one, features of MAE or DINO train badly.
"""

from __future__ import annotations

from torch import nn

from vitexplorer.controls import Switch
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.finetune.method import Method, Recipe
from vitexplorer.finetune.parts.heads import FeatureNorm, feature_width, fold_norms, replace_heads
from vitexplorer.models.loading import LoadedModel


def inject(model: LoadedModel, norm: bool) -> LoadedModel:
    """Add the batch norm before the classifier if `norm` is set."""
    if norm:
        replace_heads(model.module, lambda head: nn.Sequential(FeatureNorm(feature_width(head)), head))
    return model


METHOD = Method(
    title=Text("Linear probe", "线性探测"),
    sentence=Text(
        "Trains a new classifier on the frozen features and nothing else.", "只在冻结的特征上训练一个新的分类头。"
    ),
    inject=inject,
    recipe=Recipe(learning_rate=1e-2),
    controls=(Switch("norm", Text("Batch norm before the classifier", "分类头前加批归一化")),),
    families=None,
    paper=Paper("He et al. 2021, appendix A.1", "https://arxiv.org/abs/2111.06377"),
    merge=fold_norms,
    is_usual=True,
)
