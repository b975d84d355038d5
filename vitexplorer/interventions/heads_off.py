"""Head ablation: a head's output becomes zero or its mean over queries, which shows what the head contributes.

"zero" multiplies the values of a head by zero, so its output A V is zero (Michel et al. 2019, arXiv 1905.10650,
equation 3). Its attention weights are computed as before and still appear in the maps of the changed run, without
effect. "mean" gives every query the mean of the head's attention rows (in Swin, of its window): the head writes the
same into all tokens.
Misleading: heads compensate for each other, so a head that can be removed may still be used.
"""

from __future__ import annotations

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
    """Set the values of the chosen heads to zero."""
    return values * (~off)[:, None, None].to(values.dtype)


def averaged(
    scores: Float[Tensor, "*windows heads queries keys"], off: Bool[Tensor, " heads"]
) -> Float[Tensor, "*windows heads queries keys"]:
    """Return scores with which every query of a chosen head attends as the mean of its queries."""
    mean = scores.log_softmax(-1).exp().mean(-2, keepdim=True)
    return torch.where(off[:, None, None], mean.clamp_min(torch.finfo(mean.dtype).tiny).log(), scores)


def effect(capture: Capture, heads: tuple[Head, ...], how: str) -> Effect:
    """Return the edit of values ("zero") or scores ("mean") of the chosen heads."""
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
HOW = (("zero", Text("zero", "置零")), ("mean", Text("mean over queries", "对查询取平均")))


def says(capture: Capture, heads: tuple[Head, ...], how: str) -> Text:
    """Describe the chosen heads, a whole block as `5.*`, and the ablation."""
    if not heads:
        return NOTHING
    parts = []
    for block in sorted({block for block, _ in heads}):
        chosen = [head for in_block, head in heads if in_block == block]
        whole = len(chosen) == capture.num_heads(block)
        parts.append(f"{block}.*" if whole else "+".join(f"{block}.{head}" for head in chosen))
    return Text("heads off ({how}): {heads}", "关闭的头（{how}）：{heads}").format(
        how=dict(HOW)[how], heads="+".join(parts)
    )


INTERVENTION = Intervention(
    title=Text("Heads off", "关闭注意力头"),
    question=Text("What does a head contribute?", "一个注意力头有什么贡献？"),
    misleads=Text(
        "Heads compensate for each other: a head whose removal has no effect may still be used.",
        "各个头会互相弥补：关闭后没有影响的头，也可能仍在被使用。",
    ),
    acts=6,
    effect=effect,
    says=says,
    controls=(HeadsControl(), Choice("how", Text("Instead", "替换为"), HOW)),
    paper=Paper("Michel et al. 2019", "https://arxiv.org/abs/1905.10650"),
    refuses=attention_cannot_change,
)
