"""Hidden patches: masked as attention keys, or painted over.

"attention" masks the chosen patches as keys in every block, for every query but themselves, so nothing of them reaches
another token. Their own tokens remain: a model that pools patch tokens for its answer still includes them. "paint"
sets their pixels to the mean colour of the training data. A patch is a cell of the last block's grid. Swin merges
patches between its stages and convolutions before the first block mix neighbours; a mask of keys stops neither, so
such models allow "paint" only.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Bool, UInt8
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Choice, PatchesControl
from vitexplorer.controls.patches import Cell
from vitexplorer.core.capture_protocol import merges_tokens
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.core.types import PatchGrid
from vitexplorer.interventions.changed_pass import Effect, Intervention, attention_cannot_change

HOW = (("paint", Text("painted over", "涂上颜色")), ("attention", Text("not attended to", "不被关注")))


def painted(
    pixels: UInt8[np.ndarray, "height width 3"],
    patches: tuple[Cell, ...],
    grid: PatchGrid,
    mean: tuple[float, float, float],
) -> UInt8[np.ndarray, "height width 3"]:
    """Return the image with the patches in one colour, `mean` in 0-1."""
    out, side = pixels.copy(), grid.patch_size
    for row, col in patches:
        out[row * side : (row + 1) * side, col * side : (col + 1) * side] = np.rint(255 * np.array(mean))
    return out


def hidden_from_others(
    tokens: int, num_prefix: int, patches: tuple[Cell, ...], grid: PatchGrid
) -> Bool[Tensor, "queries keys"]:
    """Return a mask, True where a query may not attend to a key: the chosen patches, except by themselves."""
    hidden = torch.zeros(tokens, dtype=torch.bool)
    hidden[[num_prefix + row * grid.cols + col for row, col in patches]] = True
    return hidden[None, :] & ~torch.eye(tokens, dtype=torch.bool)


def effect(capture: Capture, patches: tuple[Cell, ...], how: str) -> Effect:
    """Return painted pixels or masked keys. Raises UnsupportedError if masking keys would not hide a patch."""
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
    if merges_tokens(capture):
        return Text(
            "{model} merges patches between its stages, so that a mask of keys hides none. Use how=paint.",
            "{model} 在阶段之间合并图块，仅屏蔽键无法隐藏图块。请改为涂上颜色（how=paint）。",
        ).format(model=capture.model.title)
    if not capture.model.embeds_pixels:
        return Text(
            "The tokens of {model} are cut from features of convolutions, which pass a patch on to its neighbours, so "
            "that a mask of keys hides none. Use how=paint.",
            "{model} 的标记取自卷积特征，卷积会把图块的信息传给相邻图块，仅屏蔽键无法隐藏图块。"
            "请改为涂上颜色（how=paint）。",
        ).format(model=capture.model.title)
    return attention_cannot_change(capture)


def says(capture: Capture, patches: tuple[Cell, ...], how: str) -> Text:
    """Describe the number of patches and how they are hidden."""
    grid = capture.grid(capture.depth - 1)
    own = capture.model.family.own_reading(capture.model.module)
    still = Text("", "")
    if how == "attention" and own == "mean":
        still = Text(", still in the mean that the classifier reads", "，但仍参与分类头所读的平均")
    elif how == "attention" and own == "own" and "dist" not in capture.prefix_tokens:
        still = Text(", still in what the model pools for its classifier", "，但仍参与模型为分类头所做的池化")
    return Text("{count} of {total} patches {how}{still}", "{total} 个图块中有 {count} 个{how}{still}").format(
        count=len(patches), total=grid.num_patches, how=dict(HOW)[how], still=still
    )


INTERVENTION = Intervention(
    title=Text("Patches hidden", "遮住图块"),
    question=Text("What if these patches were not there?", "如果没有这些图块，会怎样？"),
    misleads=Text(
        "A patch of one colour is visible to the model, and missing content is itself a clue.",
        "单色的图块模型也看得见；内容缺失本身就是一种线索。",
    ),
    acts=2,
    effect=effect,
    says=says,
    controls=(PatchesControl(), Choice("how", Text("Hidden by", "方式"), HOW)),
    paper=Paper("Naseer et al. 2021", "https://arxiv.org/abs/2105.10497"),
)
