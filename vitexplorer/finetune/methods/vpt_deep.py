"""VPT-deep: learned tokens at every block, which replace those of the block before (arXiv 2203.12119).

p tokens after the prefix tokens at every block, L p D parameters, dropout 0.1 of their values. In Swin they are in
every window (`parts/window_prompts.py`). They can be visualised but not merged; on features of MAE they collapse.
"""

from __future__ import annotations

from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.finetune.method import PETL, Method
from vitexplorer.finetune.parts.prompting import COUNT, prompted
from vitexplorer.models.loading import LoadedModel


def inject(model: LoadedModel, prompts: int) -> LoadedModel:
    """Insert prompts at every block."""
    return prompted(model, prompts, deep=True, dropout=0.1)


METHOD = Method(
    title=Text("VPT-deep", "VPT-deep（深层提示）"),
    sentence=Text(
        "Puts fresh learned tokens into the sequence at every block and leaves the model as it is.",
        "在每个块都向序列插入新的可学习提示标记，模型本身不变。",
    ),
    inject=inject,
    recipe=PETL,
    controls=(COUNT,),
    paper=Paper("Jia et al. 2022", "https://arxiv.org/abs/2203.12119"),
    adds_tokens=True,
    changes_output=True,
)
