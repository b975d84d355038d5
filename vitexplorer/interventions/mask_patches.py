"""What if these patches were not there? No token may look at them, or they are painted over.

"attention": in every block the chosen patches are masked as keys for every query but themselves, so that nothing of
them reaches another token. The patch tokens run on: a model that averages patch tokens for its answer, or attends to
them once more, still has them in it. "paint": their pixels become the mean colour of the training data, and the model
sees patches of that colour. A patch is a cell of the last block's grid. Swin merges patches between its stages, which
no mask of keys can stop, so that only painting is offered for it; the same holds where convolutions come before the
first block.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, UInt8
from torch import Tensor

from vitexplorer.capture import Capture
from vitexplorer.controls import Choice, Control
from vitexplorer.errors import SettingError, UnsupportedError
from vitexplorer.explored import Explored
from vitexplorer.interfaces import Paper
from vitexplorer.intervening import Effect, Intervention, attention_cannot_change
from vitexplorer.types import PatchGrid
from vitexplorer.words import Text

Cell = tuple[int, int]
"""row, col"""
HOW = (("paint", Text("painted over", "涂上颜色")), ("attention", Text("not attended to", "不被关注")))


@dataclass(frozen=True)
class PatchesControl(Control):
    """Any patches of the last block's grid, as (row, col) or as text: 3.4+3.5."""

    name: str = "patches"
    label: Text = Text("Patches (row.col)", "图块（行.列）")

    def default(self, capture: Explored) -> tuple[Cell, ...]:
        """The middle third of the image in each direction."""
        grid = capture.grid(capture.depth - 1)
        rows, cols = (range(side // 3, max(side - side // 3, side // 3 + 1)) for side in (grid.rows, grid.cols))
        return tuple((row, col) for row in rows for col in cols)

    def parse(self, value: Any, capture: Explored, settings: Mapping[str, Any]) -> tuple[Cell, ...]:
        """Patches that the grid has, each once, row by row."""
        pairs = [part.split(".") for part in value.split("+") if part] if isinstance(value, str) else value
        try:
            cells = {(int(row), int(col)) for row, col in pairs}
        except (TypeError, ValueError):
            raise SettingError(
                Text(
                    "A patch is row.col, such as 3.4, not {value}.", "图块写作“行.列”，如 3.4，而不是 {value}。"
                ).format(value=repr(value))
            ) from None
        grid = capture.grid(capture.depth - 1)
        for row, col in sorted(cells):
            if not (0 <= row < grid.rows and 0 <= col < grid.cols):
                raise SettingError(
                    Text(
                        "There is no patch ({row}, {col}): the grid has rows 0 to {rows} and columns 0 to {cols}.",
                        "没有图块 ({row}, {col})：网格的行为 0 到 {rows}，列为 0 到 {cols}。",
                    ).format(row=row, col=col, rows=grid.rows - 1, cols=grid.cols - 1)
                )
        return tuple(sorted(cells))


def painted(
    pixels: UInt8[np.ndarray, "height width 3"],
    patches: tuple[Cell, ...],
    grid: PatchGrid,
    mean: tuple[float, float, float],
) -> UInt8[np.ndarray, "height width 3"]:
    """The image with the patches in one colour, `mean` in 0-1."""
    out, side = pixels.copy(), grid.patch_size
    for row, col in patches:
        out[row * side : (row + 1) * side, col * side : (col + 1) * side] = np.rint(255 * np.array(mean))
    return out


def hidden_from_others(
    tokens: int, num_prefix: int, patches: tuple[Cell, ...], grid: PatchGrid
) -> Bool[Tensor, "queries keys"]:
    """True where a query may not look at a key: the chosen patches, but for themselves."""
    hidden = torch.zeros(tokens, dtype=torch.bool)
    hidden[[num_prefix + row * grid.cols + col for row, col in patches]] = True
    return hidden[None, :] & ~torch.eye(tokens, dtype=torch.bool)


def effect(capture: Capture, patches: tuple[Cell, ...], how: str) -> Effect:
    """Other pixels or masked keys. Raises UnsupportedError where masking keys would not hide a patch."""
    grid = capture.grid(capture.depth - 1)
    if not patches:
        return Effect()
    if how == "paint":
        return Effect(pixels=lambda pixels: painted(pixels, patches, grid, capture.model.preprocessing.mean))
    reason = _cannot_hide(capture)
    if reason is not None:
        raise UnsupportedError(reason)
    num_prefix = len(capture.prefix_tokens)
    hidden = hidden_from_others(num_prefix + grid.num_patches, num_prefix, patches, grid)
    hidden = hidden.to(capture.input.tensor.device)
    return Effect(scores=lambda block, scores: scores.masked_fill(hidden, -torch.inf))


def _cannot_hide(capture: Capture) -> Text | None:
    if any(site.windows for site in capture.sites):
        return Text(
            "{model} merges patches between its stages, so that a mask of keys hides none. Use how=paint.",
            "{model} 在阶段之间合并图块，仅屏蔽键无法隐藏图块。请用 how=paint。",
        ).format(model=capture.model.name)
    if not capture.model.embeds_pixels:
        return Text(
            "The tokens of {model} are cut from features of convolutions, which pass a patch on to its neighbours, so "
            "that a mask of keys hides none. Use how=paint.",
            "{model} 的标记取自卷积特征，卷积会把图块的信息传给相邻图块，仅屏蔽键无法隐藏图块。请用 how=paint。",
        ).format(model=capture.model.name)
    return attention_cannot_change(capture)


def says(capture: Capture, settings: Mapping[str, Any]) -> Text:
    """How many patches, and how they are hidden."""
    grid, own = capture.grid(capture.depth - 1), capture.model.family.own_reading(capture.model.module)
    still = Text("", "")
    if settings["how"] == "attention" and own == "mean":
        still = Text(", still in the mean that the classifier reads", "，但仍参与分类头所读的平均")
    elif settings["how"] == "attention" and own == "own" and "dist" not in capture.prefix_tokens:
        still = Text(", still in what the model pools for its classifier", "，但仍参与模型为分类头所做的池化")
    return Text("{count} of {total} patches {how}{still}", "{total} 个图块中有 {count} 个{how}{still}").format(
        count=len(settings["patches"]), total=grid.num_patches, how=dict(HOW)[settings["how"]], still=still
    )


INTERVENTION = Intervention(
    title=Text("Patches hidden", "遮住图块"),
    question=Text("What if these patches were not there?", "如果没有这些图块，会怎样？"),
    misleads=Text(
        "A patch of one colour is something to see; and what is missing is itself a hint.",
        "单色的图块本身也是内容；缺失也会成为一种线索。",
    ),
    acts=2,
    effect=effect,
    says=says,
    controls=(PatchesControl(), Choice("how", Text("Hidden by", "方式"), HOW)),
    paper=Paper("Naseer et al. 2021", "https://arxiv.org/abs/2105.10497"),
)
