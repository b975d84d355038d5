"""VPT-shallow: learned tokens in the sequence from the first block to the last (Jia et al. 2022, arXiv 2203.12119).

p tokens after the prefix tokens, p D parameters. In Swin they are in every window and pass through the network beside
the patches (`parts/window_prompts.py`). They can be visualised but not merged; on features of MAE they collapse.
"""

from __future__ import annotations

from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.finetune.method import PETL, Method
from vitexplorer.finetune.parts.prompting import COUNT, prompted
from vitexplorer.models.loading import LoadedModel


def inject(model: LoadedModel, prompts: int) -> LoadedModel:
    """Insert prompts before the first block."""
    return prompted(model, prompts, deep=False, dropout=0.0)


METHOD = Method(
    title=Text("VPT-shallow", "VPT-shallow（浅层提示）"),
    sentence=Text(
        "Puts a few learned tokens into the sequence before the first block and leaves the model as it is.",
        "在第一个块之前向序列插入若干可学习的提示标记，模型本身不变。",
    ),
    inject=inject,
    recipe=PETL,
    controls=(COUNT,),
    paper=Paper("Jia et al. 2022", "https://arxiv.org/abs/2203.12119"),
    adds_tokens=True,
    changes_output=True,
)
