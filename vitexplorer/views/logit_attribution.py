"""What do attention and MLP of each block add to a class's logit? Direct logit attribution, an exact sum.

The residual stream is a sum: the input of the first block (patches, positions, prefix tokens, a norm before the blocks)
and, block by block, the outputs of attention and MLP, layer scale included. With the last norm's divisor held at its
value for this image, the way from the stream x (tokens, dim) to a logit is affine, f(x) = w . x + c. It passes through
LayerNorm's mean subtraction and gain, the pooling (one token, the mean over patches, in a distilled DeiT the mean of
two classifiers) and the classifier. The bars are w . x for every term of the sum, and c, the biases of norm and
classifier; together they are the logit. Elhage et al. 2021 (https://transformer-circuits.pub/2021/framework,
"Zero-Layer Transformers", "Handling Layer Normalization"), after the logit lens (nostalgebraist 2020). Blocks that
compute attention and MLP side by side and add them once (ViT-22B, arXiv 2302.05442) have one bar for both.
Misleading: a bar is a part's direct effect on the classifier; its effect through later blocks counts as theirs.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import TargetControl
from vitexplorer.core.format import measured, signed
from vitexplorer.core.paper import Paper
from vitexplorer.core.part_names import part_text
from vitexplorer.core.text import Text, present
from vitexplorer.core.types import ContributionsResult, Output
from vitexplorer.quantities.logit_contributions import contributions, is_no_sum
from vitexplorer.quantities.targets import class_text, explained, target_text, unit_of
from vitexplorer.views.record import View

FORMULA = Text("{score} = Σ w · Δx + c, norm held fixed", "{score} = Σ w · Δx + c，归一化的尺度固定")
FROZEN = Text(
    "The last norm divides every part by the same value: the one for the whole image.",
    "最后的归一化把每一部分都除以同一个值，即它对整幅图像所用的值。",
)
TOGETHER = Text(
    "These blocks compute attention and MLP side by side and add them once: one bar for both.",
    "这些块并行计算注意力和 MLP，只相加一次：两者共用一个条形。",
)


def compute(capture: Capture, target: int) -> ContributionsResult:
    """Compute the contribution of each part to a class's logit, (parts,); they sum to it."""
    terms = contributions(capture, target)
    parts, values = tuple(terms), np.array([*terms.values()])
    described = explained(capture, target)
    are_together = any(part.endswith("attn + mlp") for part in parts)
    return ContributionsResult(
        values=values,
        axes=("parts",),
        unit=unit_of(capture, target),
        formula=FORMULA.format(score=unit_of(capture, target)),
        notes=present(class_text(described), FROZEN, TOGETHER if are_together else None),
        target=described,
        parts=parts,
        logit=float(values.sum()),
    )


def reading(result: ContributionsResult) -> Text:
    """Name the block branches that add and take away most, and give the sums of attention and of MLPs."""
    named = [(part, value) for part, value in zip(result.parts, result.values.tolist(), strict=True) if "block" in part]
    most, least = (choose(named, key=lambda part_and_value: part_and_value[1]) for choose in (max, min))
    whole = (
        Text("{named}, {logit},", "{named}（{logit}）")
        if isinstance(result.target, Output)
        else Text("the logit {logit} of {named},", "{named}的 logit（{logit}）")
    )
    words = {
        "whole": whole.format(named=target_text(result), logit=measured(result.logit)),
        "part": branch_text(most[0]),
        "most": signed(most[1]),
        "other": branch_text(least[0]),
        "least": signed(least[1]),
    }
    if any(part.endswith("attn + mlp") for part, _ in named):
        return Text(
            "Of {whole} {part} add the most ({most}) and {other} the least ({least}).",
            "在{whole}中，{part}贡献最大（{most}），{other}最小（{least}）。",
        ).format(**words)
    attention, mlp = (sum(value for part, value in named if part.endswith(branch)) for branch in ("attn", "mlp"))
    return Text(
        "Of {whole} {part} adds the most ({most}) and {other} the least ({least}). All attention together adds "
        "{attention}, all MLPs {mlp}.",
        "在{whole}中，{part}贡献最大（{most}），{other}最小（{least}）。所有注意力合计 {attention}，"
        "所有 MLP 合计 {mlp}。",
    ).format(**words, attention=signed(attention), mlp=signed(mlp))


def branch_text(part: str) -> Text:
    """Return the name of a block's branch as part of a sentence."""
    _, number, branch = part.split(" ", 2)
    block = part_text(f"block {number}")
    if branch == "attn":
        return Text("attention of {block}", "{block} 的注意力").format(block=block)
    if branch == "mlp":
        return Text("the MLP of {block}", "{block} 的 MLP ").format(block=block)
    return Text("both branches of {block}", "{block} 的两个分支").format(block=block)


VIEW = View(
    title=Text("Logit attribution", "logit 的逐块归因"),
    question=Text(
        "What do attention and MLP of each block add to this class's logit?",
        "每个块的注意力和 MLP 为这个类别的 logit 增加了多少？",
    ),
    misleads=Text(
        "A bar shows only the direct contribution to the classifier: what later blocks compute from it counts as "
        "theirs. The bars do not show that a part also lengthens the residual stream, which the last norm divides by.",
        "每个条形只表示该部分对分类头的直接贡献：后面的块由它算出的结果计入后面的块。"
        "某一部分还会增大残差流的长度（最后的归一化要除以它），这在图中看不出来。",
    ),
    room="outputs",
    compute=compute,
    reads=("stream",),
    reading=reading,
    runs="once",
    controls=(TargetControl(),),
    paper=Paper("Elhage et al. 2021", "https://transformer-circuits.pub/2021/framework/index.html"),
    refuses=is_no_sum,
)
