"""Where does one token look? One row of a block's attention, drawn on the image.

softmax(q k^T / sqrt(d) + bias) of one query, for one head or fused over heads (Vaswani et al. 2017, arXiv 1706.03762;
as maps on an image: Caron et al. 2021, arXiv 2104.14294). Fusing the heads before or after taking a token's row gives
the same map. The query "mean" first averages the rows of each head, then fuses these averages.
The map is not rescaled: its sum is the attention that the query gives to patches; the rest goes to prefix tokens.
Misleading as an explanation of a class: attention knows no class, and later blocks mix the content of tokens.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import BlockControl, BlockQueryControl, HeadControl, SharpenControl
from vitexplorer.core.format import fine_percent, percent
from vitexplorer.core.paper import Paper
from vitexplorer.core.shares import ATTENTION_SHARE
from vitexplorer.core.text import Text
from vitexplorer.core.types import MapResult, Query, query_text
from vitexplorer.quantities.on_the_map import elsewhere, extreme, is_constant, tenth
from vitexplorer.quantities.reads import window_of
from vitexplorer.views.record import View

NEARLY_EVEN = 1.5
"""Largest share of a map that is called nearly even, in shares that each token would get; as on the canvas"""
NEARLY_ALL = 0.98
"""Share of the attention beside the patches from which hardly any goes to them"""
PAPER = Paper("Vaswani et al. 2017", "https://arxiv.org/abs/1706.03762")


def fuse_heads(attention: Float[Tensor, " heads *rest"], head: int | str) -> Float[Tensor, "*rest"]:
    """Return one head, or the mean, maximum or minimum over heads, entry by entry."""
    if isinstance(head, int):
        return attention[head]
    return {"mean": attention.mean, "max": attention.amax, "min": attention.amin}[head](0)


def compute(capture: Capture, block: int, head: int | str, query: Query) -> MapResult:
    """Compute the attention of one query to the patches, (rows, cols), and its mass on prefix and padding tokens."""
    grid = capture.key_grid(block)
    on_patches, on_prefix, on_padding = (fuse_heads(part, head) for part in capture.attention_from(query, block))
    return MapResult(
        values=on_patches.reshape(grid.rows, grid.cols).cpu().numpy(),
        axes=("rows", "cols"),
        unit=ATTENTION_SHARE,
        formula=capture.site(block).formula,
        notes=capture.site(block).notes,
        grid=grid,
        image=capture.input.pixels,
        query=query,
        prefix_names=capture.key_tokens(block),
        prefix_weights=on_prefix.cpu().numpy(),
        padding_mass=float(on_padding),
        window=window_of(query, capture.grid(block), capture.site(block).windows),
    )


def reading(result: MapResult) -> Text:
    """Name the patch that gets most attention, how narrow the map is, and the share that leaves the patches.

    For a maximum or minimum over heads: the patch where that fused attention is largest.
    """
    queried = {"query": query_text(result.query), "share": fine_percent(np.nanmax(result.values))}
    if is_constant(result.values):
        return Text(
            "The {query} gives every patch the same share of its attention: {share}{elsewhere}.",
            "{query}给每个图块的注意力份额都相同：{share}{elsewhere}。",
        ).format(**queried, elsewhere=elsewhere(result))
    queried["patch"] = extreme(result.values)
    seen = result.window[2] * result.window[3] if result.window else result.values.size
    even = 1 / (seen + len(result.prefix_weights))
    if result.settings["head"] not in ("max", "min") and np.nanmin(result.values) >= 0:
        if np.nansum(result.values) < 1 - NEARLY_ALL:
            return Text(
                "Hardly any attention of the {query} goes to patches: at most {share} to one{elsewhere}.",
                "{query}几乎不关注图块：单个图块最多占 {share}{elsewhere}。",
            ).format(**queried, elsewhere=elsewhere(result))
        if np.nanmax(result.values) < NEARLY_EVEN * even:
            return Text(
                "The attention of the {query} is nearly even: each token would get {even}, and no patch gets more than "
                "{share}{elsewhere}.",
                "{query}的注意力几乎均匀：若完全均匀，每个标记占 {even}；没有图块超过 {share}{elsewhere}。",
            ).format(**queried, even=fine_percent(even), elsewhere=elsewhere(result))
    if result.settings["head"] == "max":
        return Text(
            "The strongest look of any head goes to {patch}, with {share} of the attention of the {query}.",
            "各头之中，关注最强的是{patch}：在该头中占{query}注意力的 {share}。",
        ).format(**queried)
    if result.settings["head"] == "min":
        return Text(
            "All heads agree most on {patch}: each gives it at least {share} of the attention of the {query}.",
            "各头最一致的是{patch}：在每个头中，它都至少占{query}注意力的 {share}。",
        ).format(**queried)
    share, where = tenth(result.values)
    return Text(
        "The {query} looks most at {patch}, with {share} of its attention. The top tenth of the patches holds "
        "{tenth}{where}{elsewhere}.",
        "{query}最关注{patch}，占其注意力的 {share}。最受关注的十分之一图块共占 {tenth}{where}{elsewhere}。",
    ).format(**queried, tenth=percent(share), where=where, elsewhere=elsewhere(result))


VIEW = View(
    title=Text("Attention map", "注意力图"),
    question=Text("Where does this token look?", "这个标记在看哪里？"),
    misleads=Text(
        "Attention is the same for every class, and in late blocks a patch token contains more than its own patch.",
        "注意力与类别无关；在靠后的块里，图块标记也不再只代表它自己的图块。",
    ),
    room="attention",
    compute=compute,
    reads=("attention",),
    reading=reading,
    any_family=True,
    controls=(BlockControl(), HeadControl(), BlockQueryControl(), SharpenControl(block="block")),
    paper=PAPER,
)
