"""To which patches would more attention raise a class, in every block? The gradient of attention alone.

LeGrad (Bousselham et al. 2024, arXiv 2404.03214). Each block l gets its own score of the class: the average of its
tokens, prefix tokens included, goes through the model's final norm and classifier. Then relu(ds_l / dA_l), averaged
over heads and queries, gives each key a number; the map is the mean over blocks. This is torch-cam's reading of the
paper: only the gradient of the attention enters, not the attention itself. With `sign` "both" there is no relu; with
`backward` "libra" the gradients are LibraGrad's (`quantities.backward_rules`).
Misleading: the classifier was never trained on tokens of early blocks, and no model pools all of its tokens.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import AnyTargetControl, SharpenControl
from vitexplorer.controls.explained import Target
from vitexplorer.core.capture_protocol import merges_tokens, refuse_if
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.core.types import OUTPUT, MapResult
from vitexplorer.quantities.backward_rules import BACKWARD_PASS
from vitexplorer.quantities.both_signs import SIGN, reading
from vitexplorer.quantities.gradients import block_gradients, mean_gradient
from vitexplorer.quantities.scores import score_of_block
from vitexplorer.quantities.targets import COSINE, LOGIT, class_map, unit_of
from vitexplorer.views.record import View

PER_ATTENTION = {
    LOGIT: Text("logit per unit of attention", "单位注意力引起的 logit 变化"),
    OUTPUT: Text("output per unit of attention", "单位注意力引起的输出值变化"),
    COSINE: Text("cosine per unit of attention", "单位注意力引起的余弦变化"),
}


def compute(capture: Capture, target: Target, sign: str, backward: str) -> MapResult:
    """Compute the mean over blocks of the gradient or its positive part, on the patches, (rows, cols), not rescaled."""
    grid = capture.grid(0)

    def score(tokens: Float[Tensor, "tokens dim"]) -> Float[Tensor, ""]:
        return score_of_block(capture, target, tokens)

    maps = [
        mean_gradient(capture.call(block), slope, sign)
        for block, slope in enumerate(block_gradients(capture, score, backward))
    ]
    return class_map(
        capture,
        target,
        values=torch.stack(maps).mean(0)[grid.num_prefix_tokens :],
        grid=grid,
        unit=PER_ATTENTION[unit_of(capture, target)],
        formula=Text("mean over blocks, heads, queries of {slope}", "{slope}，对块、头、查询取平均").format(
            slope="relu(∂s/∂A)" if sign == "positive" else "∂s/∂A"
        ),
    )


VIEW = View(
    title=Text("LeGrad", "LeGrad"),
    question=Text("To which patches would more attention raise this score?", "更多地关注哪些图块会使这个得分升高？"),
    misleads=Text(
        "The classifier never saw the tokens of early blocks in training, and the model itself never averages tokens "
        "in this way.",
        "分类头在训练中从未见过前面各块的标记，模型本身也从不这样对标记取平均。",
    ),
    room="flow",
    group="gradient",
    compute=compute,
    reading=reading,
    runs="once",
    goes_back=True,
    controls=(AnyTargetControl(), SIGN, BACKWARD_PASS, SharpenControl()),
    paper=Paper("Bousselham et al. 2024", "https://arxiv.org/abs/2404.03214"),
    refuses=refuse_if(
        merges_tokens,
        Text(
            "LeGrad reads the tokens of every block with the classifier, and in {model} those of earlier stages are "
            "too narrow for it. Use Grad-CAM.",
            "LeGrad 要用分类头读取每个块的标记，而 {model} 前面阶段的标记维度与分类头不符。请改用 Grad-CAM。",
        ),
    ),
)
