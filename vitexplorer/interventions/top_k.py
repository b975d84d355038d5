"""Does a token need to look everywhere? Keep the k highest scores of each query; mask the rest before the softmax.

Explicit Sparse Transformer (Zhao et al. 2019, arXiv 1912.11637, equations 4-6): with t the k-th largest score of a
row, scores below t become minus infinity; all keys that tie with t stay. This applies to every block. A query with at
most k keys, as in small windows, is unchanged. Prefix tokens count as keys.
Misleading: the model was trained with all keys; trained with few, it might do as well.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Number
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.interventions.changed_pass import Effect, Intervention, attention_cannot_change


def keep_highest(
    scores: Float[Tensor, "*windows heads queries keys"], k: int
) -> Float[Tensor, "*windows heads queries keys"]:
    """Set all but the k highest scores of each row to minus infinity."""
    if k >= scores.shape[-1]:
        return scores
    threshold = scores.topk(k, dim=-1).values[..., -1:]
    return scores.masked_fill(scores < threshold, -torch.inf)


def effect(capture: Capture, k: int) -> Effect:
    """Return the edit that keeps the k highest scores of each query."""
    return Effect(scores=lambda block, scores: keep_highest(scores, k))


def says(capture: Capture, k: int) -> Text:
    """Describe the number of keys."""
    return Text("attention limited to the top {k} keys", "注意力仅保留前 {k} 个键").format(k=k)


INTERVENTION = Intervention(
    title=Text("Top-k attention", "稀疏注意力（前 k 个键）"),
    question=Text("Does a token need to look everywhere?", "一个标记需要看遍所有地方吗？"),
    misleads=Text(
        "The model was trained with all keys; trained with few keys, it might do equally well.",
        "模型训练时使用了所有的键；若训练时就只用少数键，效果也许同样好。",
    ),
    acts=5,
    effect=effect,
    says=says,
    controls=(Number("k", Text("Keys kept (k)", "保留的键数 k"), low=1, high=256, start=8, step=1, whole=True),),
    paper=Paper("Zhao et al. 2019", "https://arxiv.org/abs/1912.11637"),
    refuses=attention_cannot_change,
)
