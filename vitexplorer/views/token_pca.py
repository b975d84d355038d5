"""Which patches resemble each other? The three directions in which their tokens differ most, as colours.

First three principal components of one block's patch tokens as red, green, blue (Oquab et al. 2023, arXiv 2304.07193,
figure 1). Signs are fixed by making each component's largest loading positive, so the picture is reproducible. With
`foreground` the patches are split at the mean of the first component. The half that touches the border of the picture
less is taken for the object and gets components of its own; the other half is black.
Misleading: colours show how tokens differ within this picture; red here has nothing to do with red in another picture
unless both were projected on one `Basis`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import BlockControl, Switch
from vitexplorer.controls.spec import Fields
from vitexplorer.core.format import counted
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import SettingError, Text, present, same
from vitexplorer.core.types import ColoursResult, Result
from vitexplorer.quantities.on_the_map import extreme, is_constant, where_most
from vitexplorer.quantities.principal_components import principal_components
from vitexplorer.quantities.read_out import readable_blocks
from vitexplorer.views.record import View

TITLE = Text("PCA of the tokens", "标记的主成分")
COLOURS = 3
NO_PREFIX = Text("Prefix tokens are left out.", "不包含前缀标记。")
VISIBLE = Text(
    "{shown} of {patches:patch} {shown:~is/are} shown: those on the side of the first component that "
    "touches the border less.",
    "显示 {patches} 个图块中的 {shown} 个：第一主成分上较少接触边缘的一侧。",
)
SPANNED = Text(
    "The tokens span only {components} directions; the other colours are constant.",
    "这些标记只张成 {components} 个方向，其余颜色为常数。",
)
SHARED = Text(
    "One basis for {count} pictures: a colour means the same in all.", "{count} 幅图像共用一组基：颜色含义相同。"
)


@dataclass(frozen=True)
class Basis:
    """Components to project tokens on, and the scores that become black and full colour; pictures may share it."""

    mean: Float[np.ndarray, " dim"]
    components: Float[np.ndarray, "components dim"]
    low: Float[np.ndarray, " components"]
    high: Float[np.ndarray, " components"]

    def scores(self, tokens: Float[np.ndarray, "patches dim"]) -> Float[np.ndarray, "patches components"]:
        """Compute coordinates of tokens along the components."""
        return (tokens - self.mean) @ self.components.T

    def colours(self, tokens: Float[np.ndarray, "patches dim"]) -> Float[np.ndarray, "patches 3"]:
        """Map scores between `low` and `high` to 0-1, clipped; a colour without a component is a half."""
        spread = self.high - self.low
        share = (self.scores(tokens) - self.low) / np.where(spread > 0, spread, 1)
        colours = np.full((len(tokens), COLOURS), 0.5)
        colours[:, : len(spread)] = np.where(spread > 0, share.clip(0, 1), 0.5)
        return colours


def fit_basis(tokens: Float[np.ndarray, "patches dim"]) -> Basis:
    """Fit the first three principal components of tokens, of one or several pictures, and the range of their scores."""
    components, _ = principal_components(tokens, COLOURS)
    mean = tokens.mean(0)
    scores = (tokens - mean) @ components.T
    return Basis(mean, components, scores.min(0), scores.max(0))


def border_of(rows: int, cols: int) -> Bool[np.ndarray, " patches"]:
    """Return the patches at the edge of a grid."""
    border = np.ones((rows, cols), dtype=bool)
    border[1:-1, 1:-1] = False
    return border.flatten()


def inner_half(
    scores: Float[np.ndarray, " patches"], border: Bool[np.ndarray, " patches"]
) -> Bool[np.ndarray, " patches"]:
    """Return the half above or below zero with the smaller share of patches at a border."""
    above = scores > 0
    share_above, share_below = (border[half].mean() if half.any() else np.inf for half in (above, ~above))
    return above if share_above <= share_below else ~above


def norm_does_not_fit(capture: Capture, block: int) -> SettingError:
    """Make the error for a block whose tokens do not have the width that the final norm reads."""
    return SettingError(
        Text(
            "The final norm reads tokens of width {wanted}, and those of block {block} have {width}: set norm to off.",
            "最后的归一化要求标记宽度为 {wanted}，而块 {block} 的宽度为 {width}：请关闭最后的归一化（norm=off）。",
        ).format(wanted=capture.model.module.num_features, block=block, width=capture.residual_after(block).shape[-1])
    )


@dataclass(frozen=True)
class NormControl(Switch):
    """Switch of the final norm: on where it fits the tokens of the selected block, elsewhere always off.

    A model whose tokens cannot be shown has both values; the view refuses it.
    """

    name: str = "norm"
    label: Text = Text("Final norm", "最后的归一化")

    of_capture: ClassVar[bool] = True

    def default_after(self, capture: Capture, settings: Mapping[str, Any]) -> bool:
        """Return True where the norm fits."""
        block = settings.get("block", capture.depth - 1)
        return not capture.model.family.shows_tokens or block in readable_blocks(capture)

    def details(self, capture: Capture | None, settings: Mapping[str, Any], result: Result | None) -> Fields:
        """Return both values, or off alone."""
        fields = super().details(capture, settings, result)
        if capture is None or self.default_after(capture, settings):
            return fields
        return fields | {"options": tuple(option for option in self.offered(capture) if option[0] == "False")}

    def parse(self, value: Any, capture: Capture, settings: Mapping[str, Any]) -> bool:
        """Return True or False. Raises SettingError for True where the norm does not fit."""
        is_on = super().parse(value, capture, settings)
        if is_on and not self.default_after(capture, settings):
            raise norm_does_not_fit(capture, settings.get("block", capture.depth - 1))
        return is_on


@torch.no_grad()
def patch_tokens(capture: Capture, block: int, norm: bool) -> Float[np.ndarray, "patches dim"]:
    """Return patch tokens after a block, with or without the model's final norm, in float64.

    Raises:
        SettingError: the block's tokens do not have the width that the norm reads.
    """
    tokens, model = capture.residual_after(block)[None], capture.model
    if norm:
        if block not in readable_blocks(capture):
            raise norm_does_not_fit(capture, block)
        tokens = model.family.final_norm(model.module, tokens)
    return tokens[0, len(capture.prefix_tokens) :].double().cpu().numpy()


def compute(capture: Capture, block: int, norm: bool, foreground: bool) -> ColoursResult:
    """Compute a colour for each patch, (rows, cols, 3) in 0-1; black where a patch is left out."""
    return _in_one_basis((capture,), [patch_tokens(capture, block, norm)], block, foreground)[0]


def shared_token_pca(
    captures: Sequence[Capture], block: int | None = None, norm: bool = True, foreground: bool = False
) -> tuple[ColoursResult, ...]:
    """Compute the same colours for several pictures: one basis of all patch tokens gives red one meaning.

    As in DINOv2 (Oquab et al. 2023, arXiv 2304.07193, figure 1). With `foreground` one side of the first component is
    left out in all pictures, the side that touches the borders more; the rest has a basis of its own.

    Args:
        captures: one capture for each picture, all of one model.
        block: block after which the tokens are taken; the last if None.
        norm: True to apply the final norm.
        foreground: True to show only the objects.

    Raises:
        SettingError: there are no captures, or their tokens differ in width.
    """
    block = captures[0].depth - 1 if captures and block is None else block
    tokens = [patch_tokens(capture, block, norm) for capture in captures]
    if len({rows.shape[1] for rows in tokens}) != 1:
        raise SettingError(
            Text(
                "A basis is shared by pictures of one model: their tokens must have the same width.",
                "共同的基只能用于同一模型的多幅图像：各图像的标记宽度必须相同。",
            )
        )
    shared = {"view": "token_pca", "title": TITLE, "settings": {"block": block, "norm": norm, "foreground": foreground}}
    results = _in_one_basis(captures, tokens, block, foreground)
    note = SHARED.format(count=len(captures))
    return tuple(
        replace(result, provenance=capture.provenance, notes=(*result.notes, note), **shared)
        for capture, result in zip(captures, results, strict=True)
    )


def _in_one_basis(
    captures: Sequence[Capture], tokens: Sequence[Float[np.ndarray, "patches dim"]], block: int, foreground: bool
) -> list[ColoursResult]:
    stacked = np.concatenate(tokens)
    grids = [capture.grid(block) for capture in captures]
    basis = fit_basis(stacked)
    visible = np.ones(len(stacked), dtype=bool)
    if foreground and len(basis.components):
        border = np.concatenate([border_of(grid.rows, grid.cols) for grid in grids])
        visible = inner_half(basis.scores(stacked)[:, 0], border)
        basis = fit_basis(stacked[visible])
    spanned = SPANNED.format(components=len(basis.components))
    ends = np.cumsum([len(rows) for rows in tokens])[:-1]
    return [
        ColoursResult(
            values=(basis.colours(rows) * seen[:, None]).reshape(grid.rows, grid.cols, COLOURS),
            axes=("rows", "cols", "channels"),
            unit=Text("components 1, 2, 3 as red, green, blue", "第 1、2、3 主成分作为红、绿、蓝"),
            formula=Text(
                "(x − mean) · component, from its minimum to its maximum", "（x − 均值）· 主成分，从最小值到最大值"
            ),
            notes=present(
                NO_PREFIX,
                VISIBLE.format(shown=int(seen.sum()), patches=len(seen)) if foreground else None,
                spanned if len(basis.components) < COLOURS else None,
            ),
            grid=grid,
            image=capture.input.pixels,
            shown=seen.reshape(grid.rows, grid.cols),
        )
        for capture, grid, rows, seen in zip(captures, grids, tokens, np.split(visible, ends), strict=True)
    ]


def reading(result: ColoursResult) -> Text:
    """Name the patches at the two ends of the first component and, with `foreground`, the size of the object."""
    red = np.where(result.shown, result.values[..., 0], np.nan)
    patches = int(result.shown.sum())
    counts = {"shown": counted(patches), "total": counted(result.shown.size)}
    object_text = Text(
        "{shown} of {total:patch} {shown:~is/are} taken as the object{where}. ",
        "{total} 个图块中有 {shown} 个被当作物体{where}。",
    ).format(**counts, where=where_most(result.shown) if patches else same(""))
    if result.shown.all():
        object_text = same("")
    if is_constant(red):
        return Text("{found}All their tokens are equal.", "{found}它们的标记完全相同。").format(found=object_text)
    return Text(
        "{found}Where the tokens differ most, shown in red, {high} is at one end and {low} at the other; {near} of "
        "{shown:patch} {near:~lies/lie} nearer to the first.",
        "{found}在标记差别最大的方向上（红色），一端是{high}，另一端是{low}；{shown} 个图块中有 {near} 个更靠近前者。",
    ).format(
        found=object_text,
        high=extreme(red),
        low=extreme(red, -1),
        near=counted(int((red > 0.5).sum())),
        shown=counts["shown"],
    )


VIEW = View(
    title=TITLE,
    question=Text("Which patches have similar tokens?", "哪些图块的标记彼此相似？"),
    misleads=Text(
        "The colours belong to this picture: the same colour in two pictures means nothing unless they share a basis.",
        "颜色只对这幅图像有意义：除非使用同一组基，两幅图像中的相同颜色没有可比性。",
    ),
    room="tokens",
    compute=compute,
    reads=("stream",),
    reading=reading,
    controls=(BlockControl(), NormControl(), Switch("foreground", Text("Foreground only", "仅前景"))),
    paper=Paper("Oquab et al. 2023, figure 1", "https://arxiv.org/abs/2304.07193"),
)
