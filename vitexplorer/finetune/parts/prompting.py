"""What both VPT methods share: how many prompts, and in which way a family takes them."""

from __future__ import annotations

from vitexplorer.controls import Number
from vitexplorer.core.text import Text
from vitexplorer.finetune.parts.prompts import prompt_sequence
from vitexplorer.finetune.parts.window_prompts import prompt_windows
from vitexplorer.models.loading import LoadedModel

COUNT = Number("prompts", Text("Prompt tokens", "提示标记数"), low=1, high=200, start=10, step=1, whole=True)


def prompted(model: LoadedModel, count: int, *, deep: bool, dropout: float) -> LoadedModel:
    """Prompts in the sequence, or where attention sees windows in each of them; `deep`: fresh ones at every block."""
    put_in = prompt_windows if model.family.key == "swin" else prompt_sequence
    return put_in(model, count, deep=deep, dropout=dropout)
