"""From which patches did a token gather, over all blocks together? Attention multiplied through the network.

Rollout (Abnar & Zuidema 2020, arXiv 2005.00928): A^_l = rownorm(0.5 fuse(A_l) + 0.5 I), the half identity standing
for the residual connection, and R = A^_L ... A^_start. Shown is the query's row of R on the patches. Only that row is
computed: it is pushed down through the blocks as a vector, O(tokens^2) each, with no product of matrices.

`discard_ratio` r zeroes the lowest int(r N^2) of the N^2 entries of each fused A_l, except those in the row or column
of a prefix token, before the rows are normalised again.

Swin is ours and an approximation: windows are put back on the grid, and merging 2 x 2 patches into one counts each of
the four alike. What goes to the padding of a window is lost, so that rows add up to 1 where nothing is padded.
Misleading: it ignores values, MLPs and the sign of what is passed on, and it knows no class.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from vitexplorer.capture import AttentionCall, Capture
from vitexplorer.interfaces import BlockControl, Choice, Number, Paper, QueryControl, View
from vitexplorer.types import MapResult, PatchGrid, Query
from vitexplorer.words import Text

TITLE = Text("Attention rollout", "注意力展开 (rollout)")


def fuse(attention: Float[Tensor, "windows heads queries keys"], how: str) -> Float[Tensor, "windows queries keys"]:
    """Heads fused entry by entry, by mean, max or min."""
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


def push(
    shares: Float[Tensor, "rows windows tokens"],
    call: AttentionCall,
    head_fusion: str,
    discard_ratio: float,
    num_prefix: int,
) -> Float[Tensor, "rows windows tokens"]:
    """shares @ rownorm(0.5 fuse(A) + 0.5 I) for one block."""
    if discard_ratio == 0:
        pieces = ((queries, fuse(weights, head_fusion)) for queries, weights in call.in_pieces())
    else:
        fused = torch.cat([fuse(weights, head_fusion) for _, weights in call.in_pieces()], dim=1)
        protected = torch.arange(num_prefix, device=shares.device)
        pieces = [(slice(None), discard_lowest(fused, discard_ratio, protected))]
    pushed = torch.zeros_like(shares)
    for queries, fused in pieces:
        half = 0.5 * shares[..., queries] / (0.5 * fused.sum(-1) + 0.5)  # a row of 0.5 A + 0.5 I divided by its sum
        pushed += torch.einsum("rwq,wqk->rwk", half, fused)
        pushed[..., queries] += half
    return pushed


def unmerge(
    shares: Float[Tensor, "rows patches"], coarse: PatchGrid, fine: PatchGrid
) -> Float[Tensor, "rows finer_patches"]:
    """Each patch's share in equal quarters to the 2 x 2 patches it was merged from; quarters of padding are lost."""
    quarters = 0.25 * shares.reshape(-1, 1, coarse.rows, coarse.cols)
    return F.interpolate(quarters, scale_factor=2, mode="nearest")[:, 0, : fine.rows, : fine.cols].flatten(1)


def push_block(
    shares: Float[Tensor, "rows tokens"], capture: Capture, block: int, head_fusion: str, discard_ratio: float
) -> Float[Tensor, "rows tokens"]:
    """Shares of the tokens that leave a block -> shares of those that enter it; windows are cut and put back."""
    num_prefix, call = len(capture.prefix_tokens), capture.call(block)
    if capture.site(block).windows is None:
        return push(shares[:, None], call, head_fusion, discard_ratio, num_prefix)[:, 0]
    places = torch.from_numpy(capture.positions(block)).to(shares.device)
    real = places >= 0
    in_windows = torch.where(real, shares[:, places.clamp(min=0)], 0)
    pushed = push(in_windows, call, head_fusion, discard_ratio, num_prefix)
    return torch.zeros_like(shares).index_add_(1, places[real], pushed[:, real])


def rollout(
    capture: Capture,
    shares: Float[Tensor, "rows tokens"],
    head_fusion: str = "mean",
    discard_ratio: float = 0.0,
    start_block: int = 0,
) -> Float[Tensor, "rows start_tokens"]:
    """shares @ R: mixtures of the last block's tokens -> shares of the tokens that enter `start_block`."""
    for block in range(capture.depth - 1, start_block - 1, -1):
        if block + 1 < capture.depth and capture.grid(block) != capture.grid(block + 1):
            shares = unmerge(shares, capture.grid(block + 1), capture.grid(block))
        shares = push_block(shares, capture, block, head_fusion, discard_ratio)
    return shares


def query_shares(capture: Capture, query: Query) -> Float[Tensor, " tokens"]:
    """What is pushed for a query: all of its token of the last block, or even shares of the patches for "mean"."""
    block, num_prefix = capture.depth - 1, len(capture.prefix_tokens)
    shares = torch.zeros(num_prefix + capture.grid(block).num_patches, device=capture.input.tensor.device)
    if query == "mean":
        shares[num_prefix:] = 1 / capture.grid(block).num_patches
    else:
        shares[capture.token(query, block)] = 1
    return shares


def compute(capture: Capture, query: Query, head_fusion: str, discard_ratio: float, start_block: int) -> MapResult:
    """The query's row of the rollout on the patches that enter `start_block`, (rows, cols), not rescaled."""
    grid, num_prefix = capture.grid(start_block), len(capture.prefix_tokens)
    shares = query_shares(capture, query)[None]
    row = rollout(capture, shares, head_fusion, discard_ratio, start_block)[0].cpu().numpy()
    notes = ()
    if capture.site(start_block).windows:
        notes = (
            Text(
                "An approximation for Swin: merging counts the four patches alike.",
                "对 Swin 只是近似:合并 2×2 图块时四个图块各算四分之一。",
            ),
        )
    return MapResult(
        view="attention_rollout",
        title=TITLE,
        values=row[num_prefix:].reshape(grid.rows, grid.cols),
        axes=("rows", "cols"),
        unit=Text("share of the query's rollout", "占该查询展开结果的份额"),
        formula="∏ rownorm(½ fuse(A) + ½ I)",
        provenance=capture.provenance,
        settings={
            "query": query,
            "head_fusion": head_fusion,
            "discard_ratio": discard_ratio,
            "start_block": start_block,
        },
        notes=notes,
        grid=grid,
        image=capture.input.pixels,
        query=query,
        prefix_names=capture.prefix_tokens,
        prefix_weights=row[:num_prefix],
        padding_mass=max(0.0, 1 - float(row.sum())) if capture.site(start_block).windows else 0.0,
    )


class FirstBlock(BlockControl):
    """The block that the product of attentions starts from."""

    def default(self, capture) -> int:
        """The first block: the whole network."""
        return 0


VIEW = View(
    title=TITLE,
    question=Text(
        "From which patches did this token gather, through all blocks?", "经过所有块,这个标记从哪些图块汇集了信息?"
    ),
    misleads=Text(
        "It multiplies attention only: values, MLPs and signs are left out, and it knows no class.",
        "它只把注意力相乘:忽略了值向量、MLP 和正负号,也与类别无关。",
    ),
    room="flow",
    compute=compute,
    controls=(
        QueryControl(),
        Choice(
            "head_fusion",
            Text("Heads fused by", "头的融合方式"),
            (("mean", Text("mean", "平均")), ("max", Text("maximum", "最大值")), ("min", Text("minimum", "最小值"))),
        ),
        Number("discard_ratio", Text("Discard the lowest", "丢弃最低比例"), low=0, high=1, open_above=True),
        FirstBlock("start_block", Text("First block", "起始块")),
    ),
    paper=Paper("Abnar & Zuidema 2020", "https://arxiv.org/abs/2005.00928"),
)
