"""Learned tokens in the sequence, from the first block to the last (VPT-shallow, Jia et al. 2022, arXiv 2203.12119).

p tokens behind the prefix tokens, p D parameters. In Swin they stand in every window and flow through the network
beside the patches (`parts/window_prompts.py`). They can be shown, but not merged; on features of MAE they collapse.
"""

from __future__ import annotations

from vitexplorer.finetune.method import PETL, Method
from vitexplorer.finetune.parts.prompts import prompt_sequence
from vitexplorer.finetune.parts.window_prompts import prompt_windows
from vitexplorer.interfaces import Number, Paper
from vitexplorer.models.loading import LoadedModel
from vitexplorer.words import Text


def inject(model: LoadedModel, prompts: int) -> LoadedModel:
    """Put the prompts in."""
    put_in = prompt_windows if model.family.key == "swin" else prompt_sequence
    return put_in(model, prompts, deep=False, dropout=0.0)


METHOD = Method(
    title=Text("VPT-shallow", "VPT-shallow（浅层提示）"),
    sentence=Text(
        "Puts a few learned tokens into the sequence before the first block and leaves the model as it is.",
        "在第一个块之前向序列插入若干可学习的提示标记，模型本身不变。",
    ),
    inject=inject,
    recipe=PETL,
    controls=(Number("prompts", Text("Prompt tokens", "提示标记数"), low=1, high=200, start=10, step=1, whole=True),),
    paper=Paper("Jia et al. 2022", "https://arxiv.org/abs/2203.12119"),
    changes_output=True,
)
