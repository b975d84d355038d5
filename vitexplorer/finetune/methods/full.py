"""Full fine-tuning: every parameter trains. Needs the most memory and forgets the most with few images."""

from __future__ import annotations

from vitexplorer.core.text import Text
from vitexplorer.finetune.method import Method, Recipe, already_merged
from vitexplorer.models.loading import LoadedModel


def inject(model: LoadedModel) -> LoadedModel:
    """Unfreeze every parameter."""
    model.module.requires_grad_(True)
    return model


METHOD = Method(
    title=Text("Full fine-tuning", "全量微调"),
    sentence=Text("Trains every parameter of the model.", "训练模型的全部参数。"),
    inject=inject,
    recipe=Recipe(learning_rate=1e-4, head_learning_rate=1e-3),
    families=None,
    merge=already_merged,
)
