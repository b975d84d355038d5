"""Step: a decoder may not look ahead; the causal mask on this image's own sequence."""

from __future__ import annotations

from vitexplorer.core.text import Text
from vitexplorer.core.types import SequenceResult
from vitexplorer.learn.step import Numbers, Seen, Step

BLOCK, HEAD = 3, 1
"""Head of the step `query_key`"""


def numbers(seen: Seen) -> Numbers:
    """Return the number of masked weights, and the first patch's attention to later tokens without the mask.

    Raises UnsupportedError for a model whose tokens do not all see each other.
    """
    hidden: SequenceResult
    hidden, plain = (
        seen.compute("causal_attention", block=BLOCK, head=HEAD, query=(0, 0), mask=mask) for mask in (True, False)
    )
    tokens = len(hidden.values)
    first = hidden.at
    zeros = int((hidden.values == 0).sum())
    return {
        "tokens": tokens,
        "before": tokens - 1,
        "pairs": tokens**2,
        "zeros": zeros,
        "share": zeros / tokens**2,
        "sum": float(hidden.values[first].sum()),
        "first": first + 1,
        "later": float(plain.values[first, first + 1 :].sum()),
        "own": float(hidden.values[first, first]),
    }


STEP = Step(
    key="decoder",
    title=Text("The masked decoder", "带掩码的解码器"),
    state={
        "model": "scenes_dino_patch16_192",
        "room": "attention",
        "view": "causal_attention",
        "v.block": str(BLOCK),
        "v.head": str(HEAD),
    },
    light="panel",
    says=Text(
        "A decoder, as in language models, predicts the next element of a sequence. So it must not look ahead: before "
        "the softmax, the score of every key that comes after its query becomes −∞. A ViT has no such mask; this is a "
        "worked example on the sequence of this image, class token first, then the patches row by row.",
        "解码器（如语言模型）要预测序列的下一个元素，所以不能往后看：在 softmax 之前，凡排在查询之后的键，"
        "其分数都变为 −∞。ViT 没有这样的掩码；这里只是用本图像的序列作演示：类别标记在前，然后是逐行排列的图块。",
    ),
    formula=Text(
        "A = softmax(q kᵀ / √d + M), M_ij = −∞ for j > i: N (N − 1) / 2 = {tokens} · {before} / 2 = {zeros:,} "
        "weights are 0; Σ_j A_ij = {sum:.3f}",
        "A = softmax(q kᵀ / √d + M)，j > i 时 M_ij = −∞：N (N − 1) / 2 = {tokens} · {before} / 2 = {zeros:,} "
        "个权重为 0；Σ_j A_ij = {sum:.3f}",
    ),
    numbers=numbers,
    asks=Text(
        "{tokens} tokens make a table of {pairs:,} weights. How many of them does the mask make exactly 0?",
        "{tokens} 个标记构成 {pairs:,} 个权重的表格。掩码使其中多少个恰为 0？",
    ),
    choices=(
        Text("A little less than half", "略少于一半"),
        Text("A little more than half", "略多于一半"),
        Text("All but one in each row", "每行只剩一个不为 0"),
    ),
    right=lambda values: int(values["share"] > 0.5),
    reveal=Text(
        "{zeros:,} ({share:.1%}): all above the diagonal, for every token may look at itself. The last patch "
        "still sees all {tokens} tokens, the first patch only {first}. Without the mask it gives {later:.1%} of "
        "its attention to what comes later; with it, {own:.1%} go to itself.",
        "{zeros:,} 个（{share:.1%}）：对角线以上的全部，因为每个标记仍可看自己。"
        "最后一个图块仍看到全部 {tokens} 个标记，第一个图块只看到 {first} 个。"
        "没有掩码时，它把 {later:.1%} 的注意力分给后面的标记；有掩码时，{own:.1%} 给了它自己。",
    ),
    action=Text(
        "Switch the mask off in the settings and watch the triangle fill; then switch it on again.",
        "在“设置”中关掉掩码，看三角形被填满；然后再打开。",
    ),
    becomes={"v.mask": "False"},
)
