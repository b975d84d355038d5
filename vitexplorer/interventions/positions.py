"""Does the model need to know where a patch lies? Switch position embeddings off, or shuffle them.

"off" sets added embeddings (of prefix tokens too) and rotary angles to zero, and makes relative biases equal for all
offsets. Self-attention is then blind to the order of the patches: permuting them leaves the class token unchanged
(Vaswani et al. 2017, arXiv 1706.03762, section 3.5). Windows, merging and convolutions still depend on position.
"shuffled" gives each patch the embedding of another place; this works for added embeddings only, others stay.
Misleading: the model was trained with positions; without them its tokens are out of distribution.
"""

from __future__ import annotations

import torch

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Choice, Number
from vitexplorer.core.capture_protocol import OTHER_NAMES
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import SettingError, Text, UnsupportedError
from vitexplorer.interventions.changed_pass import Effect, Intervention

HOW = (("off", Text("off", "关闭")), ("shuffled", Text("shuffled", "打乱")))


def effect(capture: Capture, how: str, seed: int) -> Effect:
    """Return replacements for the tensors that hold positions.

    Raises:
        UnsupportedError: "shuffled" for a model that adds no position embedding.
        SettingError: "shuffled" at another size than the model's own.
    """
    family, module = capture.model.family, capture.model.module
    if how == "off":
        return Effect(tensors=family.without_positions(module))
    learned, grid = family.learned_grid(module), capture.grid(0)
    if learned is None:
        raise UnsupportedError(
            Text(
                "{model} adds no position embedding to its tokens, so there is none to shuffle. Use how=off.",
                "{model} 不在标记上加位置编码，因此没有可打乱的编码。请改为关闭（how=off）。",
            ).format(model=capture.model.title)
        )
    if learned != (grid.rows, grid.cols):
        raise SettingError(
            Text(
                "Positions can be shuffled at the model's own size only. Choose fit crop, squash or pad.",
                "只有在模型自身的尺寸下才能打乱位置编码。请把适配方式选为裁剪、拉伸或填充。",
            )
        )
    order = torch.randperm(grid.num_patches, generator=torch.Generator().manual_seed(seed))
    return Effect(tensors=(family.shuffled_positions(module, order),))


def says(capture: Capture, how: str, seed: int) -> Text:
    """Describe the change: off, or shuffled with its seed."""
    if how == "off":
        return Text("position embeddings off", "位置编码关闭")
    return Text("position embeddings shuffled (seed {seed})", "位置编码打乱（种子 {seed}）").format(seed=seed)


def refuses(capture: Capture) -> Text | None:
    """Refuse a model in which no tensor is known to hold positions."""
    if not capture.model.family.names_of_timm:
        return OTHER_NAMES.format(model=capture.model.title)
    if capture.model.family.without_positions(capture.model.module):
        return None
    return Text("{model} has no position embedding to switch off.", "{model} 没有可以关闭的位置编码。").format(
        model=capture.model.title
    )


INTERVENTION = Intervention(
    title=Text("Position embeddings", "位置编码"),
    question=Text("Does the model need to know where a patch is?", "模型需要知道图块在哪里吗？"),
    misleads=Text(
        "The model was trained with positions: without them its tokens are unlike any in training.",
        "模型训练时带有位置编码：去掉之后，它的标记与训练时的都不一样。",
    ),
    acts=3,
    effect=effect,
    says=says,
    controls=(
        Choice("how", Text("Positions", "位置编码"), HOW),
        Number("seed", Text("Seed", "随机种子"), low=0, high=999, step=1, whole=True),
    ),
    paper=Paper("Vaswani et al. 2017", "https://arxiv.org/abs/1706.03762"),
    refuses=refuses,
)
