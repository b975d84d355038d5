"""What does each head of a block look at? The attention of one query, once for every head.

The maps of `attention_map` side by side (Caron et al. 2021, arXiv 2104.14294, figure 3), none of them rescaled.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import BlockControl, BlockQueryControl
from vitexplorer.core.format import fine_percent, percent
from vitexplorer.core.paper import Paper
from vitexplorer.core.shares import ATTENTION_SHARE
from vitexplorer.core.text import Text, same
from vitexplorer.core.types import GalleryResult, Query
from vitexplorer.quantities.on_the_map import extreme, is_constant
from vitexplorer.views.record import View


def compute(capture: Capture, block: int, query: Query) -> GalleryResult:
    """Compute the attention of one query for each head, (heads, rows, cols)."""
    grid = capture.key_grid(block)
    on_patches, on_prefix, on_padding = capture.attention_from(query, block)
    return GalleryResult(
        values=on_patches.reshape(-1, grid.rows, grid.cols).cpu().numpy(),
        axes=("heads", "rows", "cols"),
        unit=ATTENTION_SHARE,
        formula=capture.site(block).formula,
        notes=capture.site(block).notes,
        grid=grid,
        image=capture.input.pixels,
        query=query,
        prefix_names=capture.key_tokens(block),
        prefix_weights=on_prefix.cpu().numpy(),
        padding_mass=on_padding.cpu().numpy(),
    )


def reading(result: GalleryResult) -> Text:
    """Name the head with the sharpest look, the head that spreads most evenly, and heads that look off the patches."""
    peaks = np.nanmax(result.values, axis=(1, 2))
    sharp, even = int(np.nanargmax(peaks)), int(np.nanargmin(peaks))
    fields = {"sharp": sharp, "patch": extreme(result.values[sharp]), "high": fine_percent(peaks[sharp])}
    if is_constant(peaks):
        return Text(
            "No head is sharper than the others: a single patch gets at most {high} of the attention.",
            "没有哪个头看得更集中：单个图块最多得到 {high} 的注意力。",
        ).format(**fields)
    fields |= {"even": even, "low": fine_percent(peaks[even]), "elsewhere": _elsewhere(result)}
    return Text(
        "Head {sharp} is the sharpest, with {high} on {patch}. Head {even} is the most even, with at most {low} on "
        "one patch{elsewhere}.",
        "头 {sharp} 看得最集中，有 {high} 落在{patch}上。头 {even} 最分散，单个图块最多得到 {low}{elsewhere}。",
    ).format(**fields)


def _elsewhere(result: GalleryResult) -> Text:
    if not result.prefix_weights.size:
        return same("")
    head = int(np.nanargmax(result.prefix_mass))
    return Text("; head {head} gives the prefix tokens most, {share}", "；头 {head} 给前缀标记最多，为 {share}").format(
        head=head, share=percent(result.prefix_mass[head])
    )


VIEW = View(
    title=Text("All heads", "全部注意力头"),
    question=Text("What does each head look at?", "每个头分别在看什么？"),
    misleads=Text(
        "Heads have no order: head 3 of one block is unrelated to head 3 of the next.",
        "头的编号没有顺序可言：某一块的头 3 与下一块的头 3 毫无关系。",
    ),
    room="attention",
    compute=compute,
    reads=("attention",),
    reading=reading,
    any_family=True,
    controls=(BlockControl(), BlockQueryControl()),
    paper=Paper("Caron et al. 2021", "https://arxiv.org/abs/2104.14294"),
)
