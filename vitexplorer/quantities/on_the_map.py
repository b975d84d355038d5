"""Where the numbers of a map lie, in words: its largest cell, its top tenth, the part of the image that they are in.

A map may be constant, have ties or lack finite numbers in places: what is said must hold of all of them. "Most of
them" is more than half; where cells that are alike are cut off at a tenth, nobody can say where the tenth lies.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from vitexplorer.core.format import counted, percent
from vitexplorer.core.text import Text, same
from vitexplorer.core.types import MapResult, Query, prefix_text, query_text

ALIKE = 1e-5
"""relative difference below which two numbers of a map are one"""
LEAST_PADDING = 1e-4
"""share that is more than what rounding leaves"""

_NINTHS = (
    (Text("in the upper left", "左上方"), Text("at the top", "上方"), Text("in the upper right", "右上方")),
    (Text("at the left", "左侧"), Text("in the middle", "中央"), Text("at the right", "右侧")),
    (Text("in the lower left", "左下方"), Text("at the bottom", "下方"), Text("in the lower right", "右下方")),
)
_BANDS = (
    Text("in the upper third", "上部三分之一"),
    Text("halfway down", "中间高度"),
    Text("in the lower third", "下部三分之一"),
)
_STRIPES = (
    Text("in the left third", "左侧三分之一"),
    Text("halfway across", "左右居中处"),
    Text("in the right third", "右侧三分之一"),
)
_MOST = Text(", most of them {where}", "，多数位于{where}")
_SCATTERED = Text(", scattered over the image", "，散布在整幅图像中")


def is_constant(values: Float[np.ndarray, "*shape"]) -> bool:
    """Whether all finite numbers are one."""
    found = values[np.isfinite(values)]
    return not found.size or bool(np.ptp(found) <= ALIKE * np.abs(found).max())


def extreme(values: Float[np.ndarray, "rows cols"], sign: int = 1) -> Text:
    """The patch with the largest number, or with `sign` -1 the smallest; how many where several are alike."""
    signed = np.where(np.isfinite(values), sign * values, -np.inf)
    at = np.argwhere(np.isclose(signed, signed.max(), rtol=ALIKE, atol=0))
    if len(at) > 1:
        return Text("{count} patches alike", "并列的 {count} 个图块").format(count=counted(len(at)))
    patch = query_text((int(at[0][0]), int(at[0][1])))
    return Text(f"the {patch.en}", patch.zh)


def tenth(values: Float[np.ndarray, "rows cols"]) -> tuple[float, Text]:
    """The sum over the tenth of the patches that have most, one at least, and where most of these lie.

    The words begin with a comma; they are empty where the tenth ends among patches that are alike.
    """
    found = np.where(np.isfinite(values), values, 0.0)
    count = max(1, round(found.size / 10))
    ranked = np.sort(found, axis=None)[::-1]
    total = float(ranked[:count].sum())
    if count < 2 or (count < found.size and ranked[count] == ranked[count - 1]):
        return total, same("")
    return total, where_most(found >= ranked[count - 1])


def where_most(cells: Bool[np.ndarray, "rows cols"]) -> Text:
    """In which part of the image more than half of the marked cells lie, after a comma; or that they are scattered."""
    thirds = [(3 * (2 * np.arange(side) + 1) // (2 * side)).clip(0, 2) for side in cells.shape]
    inside = np.zeros((3, 3), dtype=int)
    np.add.at(inside, (thirds[0][:, None], thirds[1][None, :]), cells)
    half = cells.sum() / 2
    for parts, names in (
        (inside.ravel(), [name for row in _NINTHS for name in row]),
        (inside.sum(1), _BANDS),
        (inside.sum(0), _STRIPES),
    ):
        if parts.max() > half:
            return _MOST.format(where=names[int(parts.argmax())])
    return _SCATTERED


def elsewhere(result: MapResult) -> Text:
    """What a query gives to tokens that are not on the map, after a semicolon; empty where that is nothing."""
    names, parts = result.prefix_names[: len(result.prefix_weights)], []
    if names:
        on = Text("{count} prefix tokens", " {count} 个前缀标记").format(count=len(names))
        if len(names) == 1:
            on = prefix_text(names[0])
        parts.append(
            Text("{share} goes to the {on}", "{share} 给了{on}").format(share=percent(result.prefix_mass), on=on)
        )
    if result.padding_mass > LEAST_PADDING:
        parts.append(
            Text("{share} is lost in padding", "{share} 落在填充上").format(share=percent(result.padding_mass))
        )
    if not parts:
        return same("")
    listed = Text(" and ".join(part.en for part in parts), "，".join(part.zh for part in parts))
    return Text("; {listed}", "；另有 {listed}").format(listed=listed)


def without(values: Float[np.ndarray, "rows cols"], query: Query | None) -> Float[np.ndarray, "rows cols"]:
    """A map with nothing at the patch that asks, which is always like itself."""
    if not isinstance(query, tuple):
        return values
    others = values.astype(float)
    others[query] = np.nan
    return others
