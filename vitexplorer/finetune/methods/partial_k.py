"""Training of the last k blocks and the final norm alone (Jia et al. 2022, arXiv 2203.12119: "Partial-k").

k (12 D^2 + 13 D) + 2D parameters in a plain ViT. In Swin the blocks count over the whole network, from the last
stage back, and the merging of patches trains with the first block of its stage. In a convolutional network a block is
a residual block or an inverted bottleneck, and what lies between the last one and the pooling trains too.
"""

from __future__ import annotations

from vitexplorer.controls import Number
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import SettingError, Text
from vitexplorer.finetune.method import BACKBONES, Method, Recipe, already_merged
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.outline import outline


def inject(model: LoadedModel, k: int) -> LoadedModel:
    """Unfreeze the last k blocks. Raises SettingError if there are fewer."""
    parts = outline(model.module)
    depth = len(parts.blocks)
    if k > depth:
        raise SettingError(
            Text(
                "k must be at most {depth}, the number of blocks of {model}, not {k}.",
                "k 不能超过 {model} 的块数 {depth}，而给出的是 {k}。",
            ).format(depth=depth, model=model.name, k=k)
        )
    trained = [
        name for block in range(depth - k, depth) for name in (parts.blocks[block], *parts.leading.get(block, ()))
    ]
    for name in (*trained, *parts.ending):
        model.module.get_submodule(name).requires_grad_(True)
    return model


METHOD = Method(
    title=Text("Last blocks", "末尾若干块"),
    sentence=Text(
        "Trains the last k blocks and the final norm; everything below them is frozen and runs once.",
        "训练最后 k 个块和最终归一化层；其下的部分冻结，只需运行一次。",
    ),
    inject=inject,
    recipe=Recipe(learning_rate=1e-4, head_learning_rate=1e-3),
    controls=(Number("k", Text("Blocks", "块数"), low=1, high=48, start=1, step=1, whole=True),),
    families=BACKBONES,
    paper=Paper("Jia et al. 2022, section 4.1", "https://arxiv.org/abs/2203.12119"),
    merge=already_merged,
)
