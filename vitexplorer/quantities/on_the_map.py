"""Sentences on the numbers of a map: its largest cell, its top tenth, and the part of the image where they lie.

A map may be constant, have ties, or lack finite numbers in places, and every sentence must stay true. "Most of them"
means more than half. If the top tenth ends among equal cells, its place is not named.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from vitexplorer.core.format import counted, percent
from vitexplorer.core.text import Text, same
from vitexplorer.core.types import MapResult, Query, prefix_text, query_text

ALIKE = 1e-5
"""Relative difference below which two numbers of a map count as equal"""
LEAST_PADDING = 1e-4
"""Share above what rounding leaves"""

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
    """Return True if all finite numbers are equal."""
    finite = values[np.isfinite(values)]
    return not finite.size or bool(np.ptp(finite) <= ALIKE * np.abs(finite).max())


def extreme(values: Float[np.ndarray, "rows cols"], sign: int = 1) -> Text:
    """Name the patch with the largest number, or with `sign` -1 the smallest; count equal ones instead."""
    signed = np.where(np.isfinite(values), sign * values, -np.inf)
    at = np.argwhere(np.isclose(signed, signed.max(), rtol=ALIKE, atol=0))
    if len(at) > 1:
        return Text("{count:equal patch}", "并列的 {count} 个图块").format(count=counted(len(at)))
    patch = query_text((int(at[0][0]), int(at[0][1])))
    return Text(f"the {patch.en}", patch.zh)


def tenth(values: Float[np.ndarray, "rows cols"]) -> tuple[float, Text]:
    """Return the sum over the top tenth of the patches, at least one, and the place of most of these.

    The words begin with a comma; they are empty if the tenth ends among equal patches.
    """
    finite = np.where(np.isfinite(values), values, 0.0)
    count = max(1, round(finite.size / 10))
    ranked = np.sort(finite, axis=None)[::-1]
    total = float(ranked[:count].sum())
    if count < 2 or (count < finite.size and ranked[count] == ranked[count - 1]):
        return total, same("")
    return total, where_most(finite >= ranked[count - 1])


def where_most(cells: Bool[np.ndarray, "rows cols"]) -> Text:
    """Name, after a comma, the part of the image with more than half of the marked cells, or call them scattered."""
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
    """State, after a semicolon, a query's attention to tokens that are not on the map; empty if there is none."""
    names, parts = result.prefix_names[: len(result.prefix_weights)], []
    if names:
        on = Text("{count:prefix token}", " {count} 个前缀标记").format(count=len(names))
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
    """Return a map with NaN at the query patch, which is always most similar to itself."""
    if not isinstance(query, tuple):
        return values
    others = values.astype(float)
    others[query] = np.nan
    return others
