"""What if this were a decoder? One head's scores with everything that comes later in the sequence hidden.

softmax(q kᵀ / √d + M) with M_ij = −∞ for j > i (Vaswani et al. 2017, arXiv 1706.03762, section 3.2.3): a decoder
predicts the next element of a sequence, so no token may look at later ones. The order is that of the model's own
sequence: prefix tokens, then the patches row by row. The scores are those that the model's own softmax reads.
Misleading: a vision transformer has no such mask and was trained without one; its later blocks would read other tokens.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import AttentionCall, Capture
from vitexplorer.controls import BlockControl, HeadControl, Switch, TokenControl
from vitexplorer.core.capture_protocol import refuse_if
from vitexplorer.core.format import counted, percent
from vitexplorer.core.paper import Paper
from vitexplorer.core.shares import ATTENTION_SHARE
from vitexplorer.core.text import Text
from vitexplorer.core.types import Query, SequenceResult, prefix_text, query_text
from vitexplorer.views.record import View

FORMULA = "softmax(q kᵀ / √d + bias)"
MASKED = "softmax(q kᵀ / √d + bias + M), M_ij = −∞ (j > i)"
NOTES = (
    Text(
        "A worked example: this model has no mask and was trained without one. A decoder has it, because it predicts "
        "the next element of a sequence.",
        "这只是一个演示：该模型没有掩码，训练时也没有。解码器才有，因为它要预测序列的下一个元素。",
    ),
    Text(
        "The order of the sequence: prefix tokens first, then the patches row by row.",
        "这里的先后就是序列的顺序：前缀标记在前，然后是逐行排列的图块。",
    ),
)


def scores_of(call: AttentionCall, head: int) -> Float[Tensor, "queries keys"]:
    """Return the inputs of one head's softmax, for a call without windows."""
    if call.scores is not None:
        return call.scores[0, head]
    scores = call.query[0, head] @ call.key[0, head].T * call.scale
    return scores if call.bias is None else scores + call.bias.expand(1, call.num_heads, *scores.shape)[0, head]


def masked(scores: Float[Tensor, "queries keys"]) -> Float[Tensor, "queries keys"]:
    """Set the score of every key that comes after its query to minus infinity."""
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -torch.inf)


def compute(capture: Capture, block: int, head: int, query: Query, mask: bool) -> SequenceResult:
    """Compute the attention weights of one head, (queries, keys) in sequence order; exactly 0 where hidden."""
    scores, grid = scores_of(capture.call(block), head), capture.grid(block)
    patches = tuple(divmod(patch, grid.cols) for patch in range(grid.num_patches))
    return SequenceResult(
        values=(masked(scores) if mask else scores).softmax(-1).cpu().numpy(),
        axes=("queries", "keys"),
        unit=ATTENTION_SHARE,
        formula=MASKED if mask else FORMULA,
        notes=NOTES,
        query=query,
        at=capture.token(query, block),
        sequence=(*capture.prefix_tokens, *patches),
        masked=mask,
        grid=grid,
        image=capture.input.pixels,
    )


def token_text(token: str | tuple[int, int]) -> Text:
    """Return a token of the sequence in words."""
    return prefix_text(token) if isinstance(token, str) else query_text(token)


def reading(result: SequenceResult) -> Text:
    """Count the tokens that the query sees and the weights of 0; without the mask, its attention to later tokens."""
    tokens, row = len(result.values), result.values[result.at]
    fields = {"query": query_text(result.query), "seen": counted(result.at + 1), "tokens": counted(tokens)}
    if not result.masked:
        return Text(
            "Without the mask the {query} gives {share} of its attention to tokens that come after it; as a decoder it "
            "would see {seen} of {tokens}.",
            "没有掩码时，{query}把 {share} 的注意力分给在它之后的标记；"
            "若是解码器，它只能看到 {tokens} 个中的 {seen} 个。",
        ).format(share=percent(row[result.at + 1 :].sum()), **fields)
    return Text(
        "The {query} sees {seen} of {tokens} tokens and gives the most, {share}, to the {key}; {hidden} of {pairs} "
        "weights are masked and exactly 0.",
        "{query}看到 {tokens} 个标记中的 {seen} 个，最多的 {share} 给了{key}；"
        "{pairs} 个权重中有 {hidden} 个被遮住，恰为 0。",
    ).format(
        share=percent(row.max()),
        key=token_text(result.sequence[int(np.nanargmax(row))]),
        hidden=counted(tokens * (tokens - 1) // 2),
        pairs=counted(tokens**2),
        **fields,
    )


VIEW = View(
    title=Text("If it were a decoder", "如果它是解码器"),
    question=Text("What would each token see if it could not look ahead?", "如果不能往后看，每个标记能看到什么？"),
    misleads=Text(
        "This model has no mask and was trained without one: the triangle shows how a decoder works, not how this "
        "model works.",
        "该模型没有掩码，训练时也没有：这个三角形说明的是解码器怎样工作，而不是该模型怎样工作。",
    ),
    room="attention",
    compute=compute,
    reads=("attention",),
    reading=reading,
    controls=(
        BlockControl(),
        HeadControl(fusions=()),
        TokenControl(name="query", label=Text("Query", "查询"), patch_first=True),
        Switch("mask", Text("Mask", "掩码"), start=True),
    ),
    paper=Paper("Vaswani et al. 2017, section 3.2.3", "https://arxiv.org/abs/1706.03762"),
    refuses=refuse_if(
        lambda capture: any(site.windows or site.layout or site.mixes for site in capture.sites),
        Text(
            "In {model} no token sees the whole sequence, so no order of tokens can be imposed. Choose a model in "
            "which every token attends to every other.",
            "在 {model} 中没有标记能看到整个序列，因此无法规定标记的先后顺序。请选择每个标记都关注所有标记的模型。",
        ),
    ),
)
