"""Multiply-accumulates of a ViT by its shape, and the counts that common tools print for it.

Projections and MLP grow with N D^2, attention with N^2 D (Vaswani et al. 2017, arXiv 1706.03762, table 1), attention
in windows with N (Swin, arXiv 2103.14030, equations 1 and 2). ViT-B/16 at 224 pixels takes 17.56 G; tools that leave
something out print 16.9, 12.0 or 0.2 G for the same model.
"""

from __future__ import annotations

from vitexplorer.core.text import Text, same
from vitexplorer.core.types import Term
from vitexplorer.quantities.parameter_formulas import ViTShape, total

WINDOW = 7
"""Tokens on each side of Swin's windows"""

PATCHES = Text("Patch embedding", "图块嵌入")
PROJECTIONS = Text("Projections q, k, v and output", "q、k、v 与输出的投影")
ATTENTION = Text("Attention: q kᵀ and weights · v", "注意力：q kᵀ 与权重 · v")
MLP = same("MLP")
CLASSIFIER = Text("Classifier", "分类头")


def vit_macs(shape: ViTShape) -> tuple[Term, ...]:
    """Return the multiply-accumulates of one image by kind; the T tokens are N patches and the prefix tokens."""
    L, D, M, K = shape.depth, shape.dim, shape.hidden, shape.classes
    N, P, C = shape.num_patches, shape.patch_size, shape.channels
    T = N + shape.num_prefix_tokens
    terms = [
        Term(PATCHES, "N · P² · C · D", f"{N} · {P}² · {C} · {D}", N * P**2 * C * D),
        Term(PROJECTIONS, "L · 4 · T · D²", f"{L} · 4 · {T} · {D}²", L * 4 * T * D**2),
        Term(ATTENTION, "L · 2 · T² · D", f"{L} · 2 · {T}² · {D}", L * 2 * T**2 * D),
        Term(MLP, "L · 2 · T · D · M", f"{L} · 2 · {T} · {D} · {M}", L * 2 * T * D * M),
    ]
    return (*terms, Term(CLASSIFIER, "D · K", f"{D} · {K}", D * K)) if K else tuple(terms)


def windowed_attention(shape: ViTShape) -> int:
    """Count the multiply-accumulates of attention if each patch attended in its window alone; linear in N."""
    return shape.depth * 2 * shape.num_patches * WINDOW**2 * shape.dim


def as_counted(shape: ViTShape) -> tuple[tuple[Text, int], ...]:
    """Return the counts of several tools for one model: what each tool counts, and its result."""
    counts = {term.name: term.count for term in vit_macs(shape)}
    everything = total(vit_macs(shape))
    weights_once = shape.depth * (4 * shape.dim**2 + 2 * shape.dim * shape.hidden) + counts.get(CLASSIFIER, 0)
    return (
        (Text("every product, also inside fused attention", "所有乘法，包括融合注意力内部的"), everything),
        (
            Text(
                "modules only: the two matrix products of attention are not modules",
                "只统计模块：注意力中的两次矩阵乘法不是模块",
            ),
            everything - counts[ATTENTION],
        ),
        (
            Text(
                "attention by rule, without the projections inside a fused function",
                "按规则统计注意力，但漏掉融合函数内部的投影",
            ),
            everything - counts[PROJECTIONS],
        ),
        (
            Text("each weight once, as for a sequence of one token", "每个权重只计一次，如同序列只有一个标记"),
            weights_once + counts[PATCHES],
        ),
    )
