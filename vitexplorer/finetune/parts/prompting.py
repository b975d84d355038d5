"""Shared parts of both VPT methods: the number of prompts, and their placement by family."""

from __future__ import annotations

from vitexplorer.controls import Number
from vitexplorer.core.text import Text
from vitexplorer.finetune.parts.prompts import prompt_sequence
from vitexplorer.finetune.parts.window_prompts import prompt_windows
from vitexplorer.models.loading import LoadedModel

COUNT = Number("prompts", Text("Prompt tokens", "提示标记数"), low=1, high=200, start=10, step=1, whole=True)


def prompted(model: LoadedModel, count: int, *, deep: bool, dropout: float) -> LoadedModel:
    """Insert prompts into the sequence, or into every window for Swin; `deep` gives every block its own prompts."""
    insert = prompt_windows if model.family.key == "swin" else prompt_sequence
    return insert(model, count, deep=deep, dropout=dropout)
