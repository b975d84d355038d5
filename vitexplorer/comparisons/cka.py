"""Do the two represent the image in the same way? Linear CKA of their tokens, every block against every block.

Kornblith et al. 2019 (arXiv 1905.00414, equation 4), computed by `quantities/cka.py`: the samples are places of the
image, and differing grids are reduced to the coarser one.
Misleading: with fewer patches than dimensions, unrelated tokens look alike too; one image is a small sample.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.capturing.capture import Capture
from vitexplorer.comparisons.record import Comparison
from vitexplorer.comparisons.sides import names_of
from vitexplorer.core.format import measured
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.core.types import AlikeResult
from vitexplorer.quantities.cka import cka

AXIS = Text("block · {name}", "块 · {name}")


def compute(left: Capture, right: Capture) -> AlikeResult:
    """Compute linear CKA, (blocks of the left, blocks of the right), 0-1."""
    names = names_of(left, right)
    return AlikeResult(
        values=cka(left, right),
        axes=("blocks", "blocks"),
        unit=Text("linear CKA", "线性 CKA"),
        formula="‖Yᵀ X‖² / (‖Xᵀ X‖ ‖Yᵀ Y‖)",
        notes=(Text("Prefix tokens are left out.", "不包含前缀标记。"),),
        axis_names=(AXIS.format(name=names[0]), AXIS.format(name=names[1])),
    )


def refuses(left: Capture, right: Capture) -> Text | None:
    """Refuse captures of two images."""
    if left.input.image_hash == right.input.image_hash:
        return None
    return Text(
        "CKA compares tokens at the same places: use the same image on both sides.",
        "CKA 比较的是相同位置的标记：两侧请使用同一幅图像。",
    )


def reading(result: AlikeResult) -> Text:
    """Name the most similar pair of blocks, and the similarity of the last blocks."""
    values = result.values
    row, col = np.unravel_index(int(np.nanargmax(values)), values.shape)
    return Text(
        "The most similar blocks are {row} on the left and {col} on the right ({most}); the last blocks have {last}.",
        "最相似的是左侧的块 {row} 与右侧的块 {col}（{most}）；两侧最后一块之间为 {last}。",
    ).format(row=int(row), col=int(col), most=measured(values[row, col]), last=measured(values[-1, -1]))


COMPARISON = Comparison(
    title=Text("Token similarity (CKA)", "标记相似度（CKA）"),
    question=Text("Do the two represent the image in the same way?", "两者对图像的表示是否相似？"),
    misleads=Text(
        "With fewer patches than dimensions, even unrelated tokens look similar (0.5 and more).",
        "当图块数少于维度时，毫不相关的标记也会显得相似（0.5 或更高）。",
    ),
    compute=compute,
    reading=reading,
    refuses=refuses,
    paper=Paper("Kornblith et al. 2019, equation 4", "https://arxiv.org/abs/1905.00414"),
)
