"""Where did the logit come from, if every part hands back no more than it was given? AttnLRP, summed over each patch.

Achtibat et al. 2024 (arXiv 2402.05602): layer-wise relevance propagation with rules for the parts of a transformer,
stated in `quantities.backward_rules`. It is read at the pixels: x times the slope that the rules give, summed over the
channels of each patch. The implied baseline is the mean colour, as in input times gradient. Biases, position embeddings
and prefix tokens keep their contributions, and softmax keeps the remainder of its first-order expansion; the notes give
the part of the logit that arrives at the patches.
Misleading: products are shared evenly by decree, so queries and keys get equal credit.
"""

from __future__ import annotations

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import AnyTargetControl, SharpenControl
from vitexplorer.controls.explained import Target
from vitexplorer.core.format import signed
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.core.types import MapResult
from vitexplorer.quantities.gradients import gradients
from vitexplorer.quantities.perturbation import patch_sums
from vitexplorer.quantities.scores import score_of
from vitexplorer.quantities.targets import class_map, for_and_against, score_word
from vitexplorer.views.record import View

HELD = Text(
    "The patches receive {held} of the {score} {value}; biases, positions, prefix tokens and the softmax receive the "
    "rest.",
    "各图块合计 {held}，{score}为 {value}；其余留在偏置、位置编码、前缀标记和 softmax 中。",
)


def compute(capture: Capture, target: Target) -> MapResult:
    """Compute the relevance of the pixels summed over each patch, (rows, cols), signed, not rescaled."""
    grid = capture.grid(0)
    relevance = capture.input.tensor * gradients(capture, target, "attn_lrp").input
    values = patch_sums(relevance[0].sum(0), grid)
    return class_map(
        capture,
        target,
        values=values,
        grid=grid,
        formula=Text("Σ x · slope by LRP rules", "Σ x · 按 LRP 规则所得的斜率"),
        notes=(
            HELD.format(
                held=signed(float(values.sum())),
                score=score_word(capture, target),
                value=signed(float(score_of(capture, target))),
            ),
        ),
    )


VIEW = View(
    title=Text("AttnLRP", "AttnLRP"),
    question=Text(
        "Which patches does this logit come from, if every layer passes back exactly the relevance it received?",
        "如果每一层都把收到的相关性不多不少地传回，这个 logit 来自哪些图块？",
    ),
    misleads=Text(
        "By definition both factors of a product get equal shares. The contributions of biases and positions belong "
        "to no patch.",
        "按规定，乘积的两个因子平分相关性；偏置和位置编码的贡献不属于任何图块。",
    ),
    room="flow",
    group="gradient",
    compute=compute,
    reads=("stream",),
    reading=for_and_against,
    runs="once",
    controls=(AnyTargetControl(), SharpenControl()),
    paper=Paper("Achtibat et al. 2024", "https://arxiv.org/abs/2402.05602"),
)
