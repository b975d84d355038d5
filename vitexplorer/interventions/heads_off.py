"""What does a head contribute? Chosen heads pass on nothing, or nothing that depends on who asks.

"zero" multiplies the values of a head by zero, so that A V, what it passes on, is zero (Michel et al. 2019, arXiv
1905.10650, equation 3). "mean" gives every query the mean of the head's rows of attention, in Swin of its window: the
head still passes something on, but the same to all tokens. Under "zero" the head's weights are computed as before and
are still in the maps of the changed run; they carry nothing.
Misleading: heads make up for each other, so that one which can be missed may still be used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Choice, HeadsControl
from vitexplorer.controls.heads import Head
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.interventions.changed_pass import Effect, Intervention, attention_cannot_change


def silenced(
    values: Float[Tensor, "*windows heads keys head_dim"], off: Bool[Tensor, " heads"]
) -> Float[Tensor, "*windows heads keys head_dim"]:
    """Values of the chosen heads as zeros."""
    return values * (~off)[:, None, None].to(values.dtype)


def averaged(
    scores: Float[Tensor, "*windows heads queries keys"], off: Bool[Tensor, " heads"]
) -> Float[Tensor, "*windows heads queries keys"]:
    """Scores with which every query of the chosen heads attends as the mean of their queries does."""
    mean = scores.log_softmax(-1).exp().mean(-2, keepdim=True)
    return torch.where(off[:, None, None], mean.clamp_min(torch.finfo(mean.dtype).tiny).log(), scores)


def effect(capture: Capture, heads: tuple[Head, ...], how: str) -> Effect:
    """Values or scores of the chosen heads changed in their blocks."""
    off = {
        block: torch.tensor(
            [(block, head) in heads for head in range(capture.num_heads(block))], device=capture.input.tensor.device
        )
        for block in {block for block, _ in heads}
    }
    if how == "zero":
        return Effect(values=lambda block, values: silenced(values, off[block]) if block in off else values)
    return Effect(scores=lambda block, scores: averaged(scores, off[block]) if block in off else scores)


NOTHING = Text("heads off: none", "关闭的头：无")
HOW = (("zero", Text("zero", "置零")), ("mean", Text("mean over queries", "取查询的平均")))


def says(capture: Capture, settings: Mapping[str, Any]) -> Text:
    """Which heads, whole blocks in one word, and how."""
    if not settings["heads"]:
        return NOTHING
    blocks = sorted({block for block, _ in settings["heads"]})
    parts = []
    for block in blocks:
        chosen = [head for of, head in settings["heads"] if of == block]
        whole = len(chosen) == capture.num_heads(block)
        parts.append(f"{block}.*" if whole else "+".join(f"{block}.{head}" for head in chosen))
    return Text("heads off ({how}): {heads}", "关闭的头（{how}）：{heads}").format(
        how=dict(HOW)[settings["how"]], heads="+".join(parts)
    )


INTERVENTION = Intervention(
    title=Text("Heads off", "关闭注意力头"),
    question=Text("What does a head contribute?", "一个注意力头有什么贡献？"),
    misleads=Text(
        "Heads make up for each other: one that can be missed may still be used.",
        "各个头会互相弥补：可以缺少的头未必没有被用到。",
    ),
    acts=6,
    effect=effect,
    says=says,
    controls=(HeadsControl(), Choice("how", Text("Instead", "替换为"), HOW)),
    paper=Paper("Michel et al. 2019", "https://arxiv.org/abs/1905.10650"),
    refuses=attention_cannot_change,
)
