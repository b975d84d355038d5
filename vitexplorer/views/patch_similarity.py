"""Which patches are like this one? Cosine between one token and every patch token after a block.

cos(x_q, x_i) of the residual stream after the block, before any norm (as maps: Amir et al. 2021, arXiv 2112.05814).
`cosines` takes any tokens, so a patch of one picture can be compared with another picture.
Misleading: all tokens of a block share a large common part, so that even unlike patches may have a high cosine.
"""

from __future__ import annotations

import numpy as np
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import BlockControl, SharpenControl, TokenControl
from vitexplorer.core.format import measured
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.core.types import MapResult, Query, query_text
from vitexplorer.quantities.on_the_map import extreme, without
from vitexplorer.views.record import View


def cosines(token: Float[Tensor, " dim"], tokens: Float[Tensor, "patches dim"]) -> Float[Tensor, " patches"]:
    """Compute the cosine between one token and each of the others."""
    return F.cosine_similarity(token[None], tokens, dim=-1)


def compute(capture: Capture, block: int, query: Query) -> MapResult:
    """Compute the cosine of one token with every patch token, (rows, cols) in -1 to 1."""
    grid, tokens = capture.grid(block), capture.residual_after(block)
    similarities = cosines(tokens[capture.token(query, block)], tokens[len(capture.prefix_tokens) :])
    return MapResult(
        values=similarities.reshape(grid.rows, grid.cols).cpu().numpy(),
        axes=("rows", "cols"),
        unit=Text("cosine", "余弦"),
        formula="x_q · x_i / (|x_q| |x_i|)",
        notes=(Text("After the block, before any norm.", "取块的输出，未经归一化。"),),
        grid=grid,
        image=capture.input.pixels,
        query=query,
    )


def reading(result: MapResult) -> Text:
    """Name the patches that are most and least like the query, and give the median."""
    others = without(result.values, result.query)
    if not np.isfinite(others).any():
        return Text("There is no other patch to compare with.", "没有其他图块可以比较。")
    return Text(
        "The patch most similar to the {query} is {patch}, with cosine {high}; the least similar is {other}, with "
        "{low}. The median is {median}.",
        "与{query}最相似的是{patch}，余弦 {high}；最不相似的是{other}，为 {low}。中位数为 {median}。",
    ).format(
        query=query_text(result.query),
        patch=extreme(others),
        high=measured(np.nanmax(others)),
        other=extreme(others, -1),
        low=measured(np.nanmin(others)),
        median=measured(np.nanmedian(others)),
    )


VIEW = View(
    title=Text("Patch similarity", "图块相似度"),
    question=Text("Which patches are like this one?", "哪些图块与这个图块相似？"),
    misleads=Text(
        "Tokens of one block share a large common part: compare cosines with each other, not with zero.",
        "同一块的标记有很大的共同成分：应相互比较余弦值，而不是与零比较。",
    ),
    room="tokens",
    compute=compute,
    reads=("stream",),
    reading=reading,
    controls=(BlockControl(), TokenControl(patch_first=True), SharpenControl(block="block")),
    paper=Paper("Amir et al. 2021", "https://arxiv.org/abs/2112.05814"),
)
