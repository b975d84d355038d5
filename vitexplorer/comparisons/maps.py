"""Where does attention go in the one and in the other? An attention map of each, and their difference.

Attention rollout through all blocks (Abnar & Zuidema 2020, arXiv 2005.00928) or the attention of one block, computed by
the views of these names. For networks of different depth, the right block is the one at the same relative depth. A
query patch is matched by its place in the image; a query token that the right model lacks becomes the mean over its
patches. The difference is shown if both saw the same image on the same grid.
Misleading: attention is divided among the patches, so finer grids have smaller shares.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.capturing.capture import Capture
from vitexplorer.comparisons.record import Comparison
from vitexplorer.comparisons.sides import LARGE, pair_of
from vitexplorer.controls import BlockControl, Choice
from vitexplorer.core.format import fine_percent, measured, percent
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.core.types import PairResult, Query, query_text
from vitexplorer.quantities.on_the_map import ALIKE, extreme
from vitexplorer.quantities.places import matched, placed
from vitexplorer.views.before_after import MAPS, QueryOfMap, map_of

LOOKS = Text("{side}: {query} → patches.", "{side}：{query} → 图块。")
BLOCKS = Text("Block {one} on the left, {other} on the right.", "左侧为块 {one}，右侧为块 {other}。")


def compute(left: Capture, right: Capture, map: str, attention_block: int, query: Query, large: str) -> PairResult:
    """Compute both maps, (sides, rows, cols) on the left grid, not rescaled; `large` is for their figure."""
    block = attention_block
    other = matched(block, left.depth, right.depth)
    # The query of the rollout is a token of the last block, its map is of the patches of the first.
    left_block, right_block = (left.depth - 1, right.depth - 1) if map == "rollout" else (block, other)
    right_query = placed(query, (left, left_block), (right, right_block))
    pictures = map_of(left, map, block, query), map_of(right, map, other, right_query)
    notes = [
        LOOKS.format(side=side, query=query_text(token))
        for side, token in ((Text("Left", "左"), query), (Text("Right", "右"), right_query))
    ]
    if map == "attention":
        notes.append(BLOCKS.format(one=block, other=other))
    return pair_of((left, right), pictures, tuple(notes))


def reading(result: PairResult) -> Text:
    """State how much of the attention lies on other patches, and the patch that differs most.

    Without a difference, state where each map is strongest, and their correlation.
    """
    left, right = result.values
    if result.difference is not None:
        return how_different(left, right)
    sentence = Text(
        "The left map is strongest at {one}; the right one, resampled to the left grid, at {other}{more}",
        "左图在{one}最强；右图重采样到左图的网格后，在{other}最强{more}",
    )
    return sentence.format(one=extreme(left), other=extreme(right), more=alike(left, right))


def how_different(left: np.ndarray, right: np.ndarray) -> Text:
    """State the share of the attention that two maps have on different patches, and the patch that differs most.

    The share is the total variation distance of the two, each divided by its sum: 0 % for equal ones, 100 % where no
    patch has attention in both. Patches with equal differences are counted.
    """
    sizes = np.abs(right - left)
    if not sizes.any():
        return Text("Both maps are the same.", "两幅图相同。")
    first = Text("", "")
    if left.sum() and right.sum():
        share = percent(np.abs(right / right.sum() - left / left.sum()).sum() / 2)
        first = Text(
            "Of the attention on patches, {share} lies elsewhere on the right than on the left. ",
            "落在图块上的注意力中，有 {share} 在左右两侧位置不同。",
        ).format(share=share)
    most = np.isclose(sizes, sizes.max(), rtol=ALIKE, atol=0)
    here = Text(" (by {size})", "（相差 {size}）").format(size=fine_percent(sizes.max()))
    if most.sum() == 1:
        values = {"one": fine_percent(left[most][0]), "other": fine_percent(right[most][0])}
        here = Text(" ({one} on the left, {other} on the right)", "（左侧 {one}，右侧 {other}）").format(**values)
    return Text(
        "{first}The two maps differ most at {patch}{here}{more}", "{first}两幅图在{patch}差别最大{here}{more}"
    ).format(first=first, patch=extreme(sizes), here=here, more=alike(left, right))


def alike(left: np.ndarray, right: np.ndarray) -> Text:
    """Return the correlation of two maps as the end of a sentence."""
    if not (np.ptp(left) and np.ptp(right)):
        return Text(".", "。")
    share = measured(float(np.corrcoef(left.ravel(), right.ravel())[0, 1]))
    return Text(", and their correlation is {share}.", "，两者的相关系数为 {share}。").format(share=share)


COMPARISON = Comparison(
    title=Text("Maps side by side", "注意力图对比"),
    question=Text("Where does attention go on each side?", "两侧的注意力各落在哪里？"),
    misleads=Text(
        "Shares are divided among the patches: a finer grid has smaller shares. Only maps on the same grid can be "
        "subtracted.",
        "份额分摊到各图块：网格越细，每个图块的份额越小；只有同一网格上的图才能相减。",
    ),
    compute=compute,
    reading=reading,
    overview=True,
    controls=(
        Choice("map", Text("Map", "图"), MAPS),
        BlockControl("attention_block", Text("Block of the attention, left", "左侧注意力所在的块")),
        QueryOfMap(),
        LARGE,
    ),
    paper=Paper("Abnar & Zuidema 2020", "https://arxiv.org/abs/2005.00928"),
)
