"""Where does one token look? One row of a block's attention, drawn on the image.

softmax(q k^T / sqrt(d) + bias) of one query, for one head or fused over heads (Vaswani et al. 2017, arXiv 1706.03762;
as maps on an image: Caron et al. 2021, arXiv 2104.14294). Fusing the heads before or after taking a token's row is
the same; the query "mean" averages the rows of each head first and fuses then, as the heads' own maps would be.
The map is not rescaled: its sum is what the query gives to patches, the rest is the mass on prefix tokens.
Misleading as an explanation of a class: attention knows no class, and later blocks mix what tokens carry.
"""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from vitexplorer.capture import Capture
from vitexplorer.controls import BlockControl, HeadControl, QueryControl
from vitexplorer.interfaces import Paper, View
from vitexplorer.types import MapResult, PatchGrid, Query, WindowLayout
from vitexplorer.words import Text

TITLE = Text("Attention map", "注意力图")
UNIT = Text("share of the query's attention", "占该查询注意力的份额")
PAPER = Paper("Vaswani et al. 2017", "https://arxiv.org/abs/1706.03762")


def fuse_heads(attention: Float[Tensor, " heads *rest"], head: int | str) -> Float[Tensor, "*rest"]:
    """One head, or the mean, maximum or minimum over heads, entry by entry."""
    if isinstance(head, int):
        return attention[head]
    return {"mean": attention.mean, "max": attention.amax, "min": attention.amin}[head](0)


def window_of(query: Query, grid: PatchGrid, windows: WindowLayout | None) -> tuple[int, int, int, int] | None:
    """Top, left, height, width in cells of the window that a patch attends in; it wraps around a shifted grid."""
    if windows is None or isinstance(query, str):
        return None
    positions = windows.positions(grid)
    (cells,) = (row for row in positions if query[0] * grid.cols + query[1] in row)
    cells = cells[-windows.window_size[0] * windows.window_size[1] :]  # prompts stand before the window
    square = cells.reshape(windows.window_size) >= 0
    top, left = divmod(int(cells[0]), grid.cols)
    return top, left, int(square[:, 0].sum()), int(square[0].sum())


def compute(capture: Capture, block: int, head: int | str, query: Query) -> MapResult:
    """Attention of one query on the patches, (rows, cols), with the mass on prefix and padding tokens beside it."""
    grid = capture.key_grid(block)
    on_patches, on_prefix, on_padding = (fuse_heads(part, head) for part in capture.attention_from(query, block))
    return MapResult(
        view="attention_map",
        title=TITLE,
        values=on_patches.reshape(grid.rows, grid.cols).cpu().numpy(),
        axes=("rows", "cols"),
        unit=UNIT,
        formula=capture.site(block).formula,
        provenance=capture.provenance,
        settings={"block": block, "head": head, "query": query},
        notes=capture.site(block).notes,
        grid=grid,
        image=capture.input.pixels,
        query=query,
        prefix_names=capture.key_tokens(block),
        prefix_weights=on_prefix.cpu().numpy(),
        padding_mass=float(on_padding),
        window=window_of(query, capture.grid(block), capture.site(block).windows),
    )


VIEW = View(
    title=TITLE,
    question=Text("Where does this token look?", "这个标记在看哪里？"),
    misleads=Text(
        "Attention knows no class, and in late blocks a patch token no longer stands for its patch alone.",
        "注意力与类别无关；在靠后的块里，图块标记也不再只代表它自己的图块。",
    ),
    room="attention",
    compute=compute,
    any_family=True,
    controls=(BlockControl(), HeadControl(), QueryControl()),
    paper=PAPER,
)
