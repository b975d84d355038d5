"""How does one query come to its weights? Scores, scaling, bias, softmax, weighted values, step by step.

softmax(q . k_j / sqrt(d) + bias_j) for one query of one head (Vaswani et al. 2017, arXiv 1706.03762, equation 1 and
its footnote: with components of variance 1, q . k has variance d). The histogram of q . k over all pairs of the head
shows what the scaling is for.

Read from the attention call itself, so rotations and normalisations are already in q and k. Swin V2 (arXiv 2111.09883,
section 3.2) multiplies the cosine of q and k by a learned temperature instead: there q and k are unit vectors and
`scale` is that temperature. The mask of a shifted window is in the bias.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import AttentionCall, Capture
from vitexplorer.controls import BlockControl, HeadControl, TokenControl
from vitexplorer.core.format import measured, percent
from vitexplorer.core.paper import Paper
from vitexplorer.core.shares import ATTENTION_SHARE
from vitexplorer.core.text import Text, present, same
from vitexplorer.core.types import PADDING, DotProductResult, Query, prefix_text, query_text
from vitexplorer.views.record import View

BINS = 40
LEARNED = Text(
    "q and k are unit vectors, q . k is their cosine, and the scale is a learned temperature.",
    "q 和 k 是单位向量，q·k 是它们的余弦，缩放系数是学到的温度。",
)
SCALED_BEFORE = Text(
    "The module scales q before the product; q is shown as it was before.",
    "该模块在求点积之前缩放 q；此处显示的是缩放前的 q。",
)
BIAS_IS_THE_REST = Text(
    "The bias is what the softmax read minus the scaled scores, masks of shifted windows included.",
    "偏置为 softmax 的输入减去缩放后的分数，包含移位窗口的掩码。",
)


class Head(NamedTuple):
    """Queries and keys of one head, with the scale between their products and the softmax."""

    query: Float[Tensor, "windows queries head_dim"]
    key: Float[Tensor, "windows keys head_dim"]
    scale: float
    learned: bool
    """True if the scale is a learned temperature"""


def head_of(call: AttentionCall, head: int, temperature: Float[Tensor, " heads"] | None) -> Head:
    """Undo the scaling if the module multiplied the queries before it called for the product."""
    query, key = call.query[:, head], call.key[:, head]
    if call.scores is None:
        return Head(query, key, call.scale, learned=False)
    if temperature is not None:
        return Head(query, key, float(temperature[head]), learned=True)
    scale = query.shape[-1] ** -0.5
    return Head(query / scale, key, scale, learned=False)


def bias_row(
    call: AttentionCall, head: int, window: int, token: int, scaled: Float[Tensor, " keys"]
) -> Float[Tensor, " keys"]:
    """Return what is added to one query's scaled scores: the call's bias, or the softmax's input minus the scores."""
    if call.scores is not None:
        return call.scores[window, head, token] - scaled
    if call.bias is None:
        return torch.zeros_like(scaled)
    windows, heads, queries, _ = call.query.shape
    return call.bias.expand(windows, heads, queries, call.num_tokens)[window, head, token]


def key_name(position: int, prefix_tokens: tuple[str, ...], cols: int) -> str:
    """Return the name of a key: a prefix token's name, "row,col" of a patch, or "padding"."""
    if position == PADDING:
        return "padding"
    if position < 0:
        return prefix_tokens[-1 - position]
    return f"{position // cols},{position % cols}"


def compute(capture: Capture, block: int, head: int, query: Query) -> DotProductResult:
    """Compute the weights of one query, (keys,), in the order of the sequence or its window, with every step."""
    call, positions = capture.call(block), capture.positions(block)
    if capture.site(block).windows is None:
        window, token = 0, capture.token(query, block)
    else:
        row, col = query
        window, token = (int(i[0]) for i in (positions == row * capture.grid(block).cols + col).nonzero())
    parts = head_of(call, head, capture.model.family.temperature(capture.model.module, block))
    q, k, v = parts.query[window, token], parts.key[window], call.value[window, head]
    scores = k @ q
    scaled = parts.scale * scores
    bias = bias_row(call, head, window, token, scaled)
    weights = call.weights(torch.tensor([token], device=q.device))[window, head, 0]
    all_scores = (parts.query @ parts.key.transpose(-2, -1)).flatten().cpu().double().numpy()
    counts, edges = np.histogram(all_scores, bins=BINS)
    return DotProductResult(
        values=weights.cpu().numpy(),
        axes=("keys",),
        unit=ATTENTION_SHARE,
        formula="softmax(τ cos(q, k) + bias)" if parts.learned else "softmax(q kᵀ / √d + bias)",
        notes=present(
            LEARNED if parts.learned else None,
            SCALED_BEFORE if call.scores is not None and not parts.learned else None,
            BIAS_IS_THE_REST if call.scores is not None else None,
        ),
        query=query,
        keys=tuple(
            key_name(int(position), capture.prefix_tokens, capture.grid(block).cols) for position in positions[window]
        ),
        scores=scores.cpu().numpy(),
        scale=parts.scale,
        scaled=scaled.cpu().numpy(),
        bias=bias.cpu().numpy(),
        query_vector=q.cpu().numpy(),
        key_vectors=k.cpu().numpy(),
        value_vectors=v.cpu().numpy(),
        output=(weights @ v).cpu().numpy(),
        all_scores=counts,
        bin_edges=edges,
        score_variance=float(all_scores.var()),
    )


def key_text(key: str) -> Text:
    """Return a key in words."""
    if key == "padding":
        return Text("padding", "填充")
    if "," in key:
        row, col = key.split(",")
        return query_text((int(row), int(col)))
    return prefix_text(key)


def reading(result: DotProductResult) -> Text:
    """Explain the largest weight, and state what it would be without the scaling."""
    top = int(np.nanargmax(result.values))
    plain = np.exp(result.scores + result.bias - (result.scores + result.bias).max(), dtype=float)
    bias = Text(" plus the bias {bias}", "，再加偏置 {bias}").format(bias=measured(result.bias[top]))
    return Text(
        "The {key} gets most, {weight} of the attention: its score {score} times {scale}{bias}. Without that factor "
        "the softmax would give it {plain}.",
        "得到最多的是{key}，占注意力的 {weight}：其分数 {score} 乘以 {scale}{bias}。若没有这一系数，softmax 会给它 "
        "{plain}。",
    ).format(
        key=key_text(result.keys[top]),
        weight=percent(result.values[top]),
        score=measured(result.scores[top]),
        scale=measured(result.scale),
        bias=bias if result.bias[top] else same(""),
        plain=percent(plain[top] / plain.sum()),
    )


VIEW = View(
    title=Text("Scaled dot product", "缩放点积"),
    question=Text("How does one query get its attention weights?", "一个查询的注意力权重是怎样算出来的？"),
    misleads=Text(
        "A large weight changes little if its value vector is short. Queries and keys differ from block to block.",
        "若值向量很短，再大的权重也影响甚微；而且各块的查询与键各不相同。",
    ),
    room="attention",
    compute=compute,
    reads=("attention", "values"),
    reading=reading,
    controls=(BlockControl(), HeadControl(fusions=()), TokenControl(name="query", label=Text("Query", "查询"))),
    paper=Paper("Vaswani et al. 2017", "https://arxiv.org/abs/1706.03762"),
)
