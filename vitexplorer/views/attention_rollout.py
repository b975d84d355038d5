"""From which patches did a token gather, over all blocks together? Attention multiplied through the network.

Rollout (Abnar & Zuidema 2020, arXiv 2005.00928): A^_l = rownorm(0.5 fuse(A_l) + 0.5 I), where half the identity stands
for the residual connection, and R = A^_L ... A^_start. The map is the query's row of R on the patches. Only this row is
computed: it is pushed down through the blocks as a vector, O(tokens^2) per block, without matrix products.

Prompts that every block inserts anew (VPT-deep) end the path: the attention that a block pays to its own prompts comes
from no block below, and counts as a share of the prompt.

`discard_ratio` r zeroes the lowest int(r N^2) of the N^2 entries of each fused A_l, except those in the row or column
of a prefix token, before the rows are normalised again.

For Swin this is our own approximation: windows are put back on the grid, and a 2 x 2 merge splits its share evenly
among the four patches. The share of window padding is lost, so rows add up to 1 only where nothing is padded.
Misleading: it ignores values, MLPs and the sign of what is passed on, and it knows no class.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from vitexplorer.capturing.capture import AttentionCall, Capture
from vitexplorer.controls import BlockControl, Choice, Number, QueryControl, SharpenControl
from vitexplorer.controls.head import FUSIONS
from vitexplorer.core.format import fine_percent, percent
from vitexplorer.core.paper import Paper
from vitexplorer.core.shares import ROLLOUT_SHARE, SWIN_NOTE
from vitexplorer.core.text import Text
from vitexplorer.core.types import MapResult, Query, query_text
from vitexplorer.quantities.on_the_map import elsewhere, extreme, is_constant, tenth
from vitexplorer.quantities.rollout import Pieces, push_through, query_shares
from vitexplorer.views.record import View


def fuse(attention: Float[Tensor, "windows heads queries keys"], how: str) -> Float[Tensor, "windows queries keys"]:
    """Fuse heads entry by entry, by mean, max or min."""
    return {"mean": attention.mean, "max": attention.amax, "min": attention.amin}[how](1)


def discard_lowest(
    fused: Float[Tensor, "windows tokens tokens"], ratio: float, protected: Int[Tensor, " prefix"]
) -> Float[Tensor, "windows tokens tokens"]:
    """Zero the lowest int(ratio * entries) entries, except in the rows and columns of the protected tokens."""
    count = int(ratio * fused.numel())
    lowest = fused.flatten().topk(count, largest=False).indices
    keep = torch.ones(fused.numel(), dtype=torch.bool, device=fused.device).index_fill_(0, lowest, False)
    keep = keep.view_as(fused).index_fill_(1, protected, True).index_fill_(2, protected, True)
    return fused * keep


def fused_pieces(call: AttentionCall, head_fusion: str, discard_ratio: float, num_prefix: int) -> Pieces:
    """Yield query rows of a block's fused attention; the whole matrix at once if its lowest entries are discarded."""
    pieces = ((queries, fuse(weights, head_fusion)) for queries, weights in call.in_pieces())
    if discard_ratio == 0:
        return pieces
    fused = torch.cat([rows for _, rows in pieces], dim=1)
    protected = torch.arange(num_prefix, device=fused.device)
    return [(slice(None), discard_lowest(fused, discard_ratio, protected))]


def rollout(
    capture: Capture,
    shares: Float[Tensor, "rows tokens"],
    head_fusion: str = "mean",
    discard_ratio: float = 0.0,
    start_block: int = 0,
) -> Float[Tensor, "rows start_tokens"]:
    """Compute shares @ R: mixtures of the last block's tokens become shares of the tokens that enter `start_block`."""

    def pieces_of(block: int) -> Pieces:
        return fused_pieces(capture.call(block), head_fusion, discard_ratio, len(capture.prefix_tokens))

    return push_through(capture, shares, pieces_of, start_block)


def compute(capture: Capture, query: Query, head_fusion: str, discard_ratio: float, start_block: int) -> MapResult:
    """Compute the query's row of the rollout on the patches that enter `start_block`, (rows, cols), not rescaled."""
    grid, num_prefix = capture.grid(start_block), len(capture.prefix_tokens)
    shares = query_shares(capture, query)[None]
    row = rollout(capture, shares, head_fusion, discard_ratio, start_block)[0].cpu().numpy()
    windows = capture.site(start_block).windows
    return MapResult(
        values=row[num_prefix:].reshape(grid.rows, grid.cols),
        axes=("rows", "cols"),
        unit=ROLLOUT_SHARE,
        formula="∏ rownorm(½ fuse(A) + ½ I)",
        notes=(SWIN_NOTE,) if windows else (),
        grid=grid,
        image=capture.input.pixels,
        query=query,
        prefix_names=capture.prefix_tokens,
        prefix_weights=row[:num_prefix],
        padding_mass=max(0.0, 1 - float(row.sum())) if windows else 0.0,
    )


def reading(result: MapResult) -> Text:
    """Name the patch that contributes most, how narrow the map is, and the share that stays elsewhere."""
    gathered = {"query": query_text(result.query), "share": fine_percent(np.nanmax(result.values))}
    if is_constant(result.values):
        return Text(
            "The {query} gathered the same from every patch: {share}{elsewhere}.",
            "{query}从每个图块汇集的份额都相同：{share}{elsewhere}。",
        ).format(**gathered, elsewhere=elsewhere(result))
    share, where = tenth(result.values)
    return Text(
        "Through all these blocks the {query} gathered most from {patch}: {share}. The top tenth of the patches "
        "holds {tenth}{where}{elsewhere}.",
        "经过所有这些块，{query}从{patch}汇集的信息最多：{share}。贡献最大的十分之一图块共占 "
        "{tenth}{where}{elsewhere}。",
    ).format(**gathered, patch=extreme(result.values), tenth=percent(share), where=where, elsewhere=elsewhere(result))


VIEW = View(
    title=Text("Attention rollout", "注意力展开（rollout）"),
    question=Text(
        "From which patches did this token gather, through all blocks?", "经过所有块，这个标记从哪些图块汇集了信息？"
    ),
    misleads=Text(
        "It multiplies attention only. It ignores values, MLPs and signs, and is the same for every class.",
        "它只把注意力相乘：忽略了值向量、MLP 和正负号，也与类别无关。",
    ),
    room="flow",
    group="attention",
    compute=compute,
    reads=("attention",),
    reading=reading,
    controls=(
        QueryControl(),
        Choice("head_fusion", Text("Heads fused by", "头的融合方式"), tuple(FUSIONS.items())),
        Number("discard_ratio", Text("Discard the lowest", "丢弃最低权重的比例"), low=0, high=1, open_above=True),
        BlockControl("start_block", Text("First block", "起始块"), first=True),
        SharpenControl(block="start_block"),
    ),
    paper=Paper("Abnar & Zuidema 2020", "https://arxiv.org/abs/2005.00928"),
)
