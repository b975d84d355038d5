"""What has the model learned of place? Cosine between the position embeddings of all pairs of patches.

A board of R x C tiles, one for each patch, each an R x C map (Dosovitskiy et al. 2021, arXiv 2010.11929, figure 7
centre), or one tile for one patch. A table learned for another grid is resampled as in the forward pass (bicubic). Any
grid can be chosen: it shows what the model would add to an image with that many patches. References for comparison:
sine and cosine of the patch's number (1-D, Vaswani et al. 2017, arXiv 1706.03762, section 3.5), or half of the width
for its row and half for its column (2-D).

Rotary models (Su et al. 2021, arXiv 2104.09864) add nothing to the tokens: queries and keys are rotated by angles that
grow with the place. The effect of place alone on q . k is the mean over all angles of cos(angle_i - angle_j): the
product of two rotated unit vectors that have equal parts in every rotated plane. This is the cosine between the vectors
of all their cosines and sines, so the same formula applies.
Misleading: the embedding is added at the start; this picture does not show how much of it later blocks use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Choice, Control, QueryControl
from vitexplorer.core.capture_protocol import CaptureProtocol, refuse_if
from vitexplorer.core.format import counted, measured
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import SettingError, Text, present, same
from vitexplorer.core.types import BoardResult, MapResult, PatchGrid, Query, Result, query_text
from vitexplorer.quantities.on_the_map import extreme, without
from vitexplorer.views.record import View

TEMPERATURE = 10000.0
LARGEST = 32
"""Most rows or columns of a chosen grid: a board of that size has a million numbers"""
ALONE = Text(
    "There is only one patch, so there is no other position to compare with.", "只有一个图块，没有其他位置可比。"
)
RESAMPLED = Text(
    "Learned for {old_rows} x {old_cols} patches and resampled to {rows} x {cols} (bicubic), as in the model.",
    "该位置编码是在 {old_rows} x {old_cols} 个图块上学到的，按模型的做法重采样（双三次插值）为 {rows} x {cols}。",
)
ALSO_ROTARY = Text(
    "This model also has rotary positions: choose the kind rotary.",
    "该模型还有旋转位置编码：可将位置编码（kind）选为 rotary。",
)
ROTARY = Text(
    "Rotary: the effect of position alone on q . k, averaged over all distinct heads, blocks and frequencies.",
    "旋转位置编码：仅由位置决定的 q·k，对所有不同的头、块和频率取平均。",
)
REFERENCE = Text("A reference that depends only on the width of the model.", "这是一个参照，除宽度外与模型无关。")
KINDS = {
    "own": Text("the model's own", "模型自身的位置编码"),
    "rotary": Text("its rotary positions", "旋转位置编码"),
    "sincos_1d": Text("sine and cosine, 1-D", "正弦余弦（一维）"),
    "sincos_2d": Text("sine and cosine, 2-D", "正弦余弦（二维）"),
}
FORMULAS = {
    "learned": "e_i · e_j / (|e_i| |e_j|)",
    "rotary": "mean_f cos(θ_f(i) − θ_f(j))",
    "sincos_1d": "e_i · e_j / (|e_i| |e_j|), e = (sin, cos)(i / 10000^(2f/D))",
    "sincos_2d": "e_i · e_j / (|e_i| |e_j|), e = (sin, cos)(row / 10000^(4f/D)), (sin, cos)(col / 10000^(4f/D))",
}


class PatchOrAllControl(QueryControl):
    """Control for one patch (row, col), or all patches if none is given."""

    def default(self, capture: CaptureProtocol) -> None:
        """Return None, for all patches."""
        return None

    def offered(self, capture: CaptureProtocol) -> tuple[tuple[str, Text], ...]:
        """Return the choice of all patches."""
        return (("", Text("all patches", "全部图块")),)

    def parse(self, value: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> Query | None:
        """Return a patch of the first block's grid, or None for all."""
        if value is None or (isinstance(value, str) and value in ("", "all")):
            return None
        return super().parse(value, capture, settings)

    def named(self, name: str, capture: CaptureProtocol) -> Query:
        """Raise SettingError: prefix tokens have no place to compare."""
        raise SettingError(
            Text(
                "Positions are compared between patches: give (row, col), or nothing for all of them.",
                "位置只在图块之间比较：请给出（行，列），或留空以显示全部。",
            )
        )


class KindControl(Choice):
    """Control for the kind of positions; rotary ones are a choice only for models that have them."""

    def refusal(self, option: str, capture: CaptureProtocol, settings: Mapping[str, Any]) -> Text | None:
        """Return the reason why there are no rotary positions, or None for any other kind."""
        if option != "rotary" or _is_rotary(capture):
            return None
        return Text("{model} has no rotary positions.", "{model} 没有旋转位置编码。").format(model=capture.model.title)


def _is_rotary(capture: CaptureProtocol) -> bool:
    return capture.model.family.rotary_positions(capture.model.module, capture.grid(0)) is not None


class GridControl(Control):
    """Control for the grid that positions are resampled to, (rows, cols); by default the grid of the captured run."""

    kind: ClassVar[str] = "choice"

    def default(self, capture: CaptureProtocol) -> None:
        """Return None, for the captured run's own grid."""
        return None

    def offered(self, capture: CaptureProtocol) -> tuple[tuple[str, Text], ...]:
        """Return the run's own grid, half of it, one and a half and twice as many rows and columns."""
        grid = capture.grid(0)
        sizes = [(grid.rows * n // 2, grid.cols * n // 2) for n in (1, 3, 4)]
        others = [(f"{rows},{cols}", same(f"{rows} × {cols}")) for rows, cols in sizes if _fits(rows, cols)]
        own = Text("as here, {rows} × {cols}", "与此处相同，{rows} × {cols}").format(rows=grid.rows, cols=grid.cols)
        return (("", own), *others)

    def parse(self, value: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> tuple[int, int] | None:
        """Return rows and columns, 1 to 32 each; also reads "7x7", "7,7" and one number for both."""
        if value is None or value == "":
            return None
        parts = re.split("[,x×]", value) if isinstance(value, str) else value
        try:
            sides = [int(side) for side in (parts if isinstance(parts, tuple | list) else [parts])]
        except (TypeError, ValueError, OverflowError):
            sides = []
        rows, cols = sides * 2 if len(sides) == 1 else sides if len(sides) == 2 else (0, 0)
        if not _fits(rows, cols):
            raise SettingError(
                Text(
                    "{name} is (rows, cols), each from 1 to {largest}, not {value}.",
                    "{name} 是（行，列），各为 1 到 {largest}，而不是 {value}。",
                ).format(name=self.name, largest=LARGEST, value=repr(value))
            )
        return rows, cols


def _fits(rows: int, cols: int) -> bool:
    return min(rows, cols) >= 1 and max(rows, cols) <= LARGEST


# ---------------------------------------------------------------------------------------------- position vectors


def sinusoids(places: Float[Tensor, " patches"], dim: int) -> Float[Tensor, "patches dim"]:
    """Return sines, then cosines, of place / 10000^(2f / dim), f = 0 ... dim / 2 - 1; `dim` is even."""
    rates = TEMPERATURE ** (-torch.arange(0, dim, 2, dtype=places.dtype, device=places.device) / dim)
    angles = places[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def sincos_1d(grid: PatchGrid, dim: int) -> Float[Tensor, "patches dim"]:
    """Return sinusoids of the patch's number, row by row."""
    return sinusoids(torch.arange(grid.num_patches, dtype=torch.float64), dim)


def sincos_2d(grid: PatchGrid, dim: int) -> Float[Tensor, "patches dim"]:
    """Return sinusoids of the row in one half of the width, of the column in the other; `dim` is a multiple of 4."""
    numbers = torch.arange(grid.num_patches)
    rows, cols = numbers // grid.cols, numbers % grid.cols
    return torch.cat([sinusoids(part.double(), dim // 2) for part in (rows, cols)], dim=1)


def cosine_board(vectors: Float[Tensor, "patches dim"], grid: PatchGrid) -> Float[Tensor, "rows cols rows cols"]:
    """Compute the cosine of each pair of patches: two axes for the first patch, two for the second."""
    unit = torch.nn.functional.normalize(vectors.double(), dim=-1)
    return (unit @ unit.T).float().reshape(grid.rows, grid.cols, grid.rows, grid.cols)


def vectors_of(capture: Capture, kind: str, grid: PatchGrid) -> tuple[Float[Tensor, "patches dim"], str]:
    """Return the position vectors on a grid and their kind: "learned", "rotary", "sincos_1d" or "sincos_2d"."""
    model = capture.model
    if kind in ("sincos_1d", "sincos_2d"):
        width = capture.residual(0).shape[-1] // 4 * 4
        return (sincos_1d if kind == "sincos_1d" else sincos_2d)(grid, width), kind
    learned = model.family.learned_positions(model.module, grid) if kind == "own" else None
    if learned is not None:
        return learned, "learned"
    return model.family.rotary_positions(model.module, grid), "rotary"


# ---------------------------------------------------------------------------------------------- the view


def compute(capture: Capture, query: Query | None, kind: str, grid: tuple[int, int] | None) -> Result:
    """Compute cosines of all pairs, (rows, cols, rows, cols), or of one patch with all, (rows, cols).

    `query` is a patch of the captured run; on another grid it stands for the cell that contains its centre.
    """
    own = capture.grid(0)
    chosen = own if grid is None else replace(own, rows=grid[0], cols=grid[1])
    vectors, found_kind = vectors_of(capture, kind, chosen)
    board = cosine_board(vectors, chosen).cpu().numpy()
    common = {
        "unit": Text("cosine", "余弦"),
        "formula": FORMULAS[found_kind],
        "notes": _notes(capture, found_kind, chosen),
        "grid": chosen,
    }
    if query is None:
        return BoardResult(values=board, axes=("rows", "cols", "rows", "cols"), **common)
    cell = same_place(query, own, chosen)
    image = capture.input.pixels if grid is None else resized(capture.input.pixels, chosen)
    return MapResult(values=board[cell], axes=("rows", "cols"), image=image, query=cell, **common)


def same_place(patch: tuple[int, int], old: PatchGrid, new: PatchGrid) -> tuple[int, int]:
    """Return the cell of a new grid that contains the centre of an old grid's patch, over the same image."""
    return (2 * patch[0] + 1) * new.rows // (2 * old.rows), (2 * patch[1] + 1) * new.cols // (2 * old.cols)


def resized(pixels: np.ndarray, grid: PatchGrid) -> np.ndarray:
    """Resize the image to the size of a grid, uint8 (rows x P, cols x P, 3)."""
    size = (grid.rows * grid.patch_size, grid.cols * grid.patch_size)
    image = torch.from_numpy(pixels.copy()).permute(2, 0, 1)[None].float()
    stretched = F.interpolate(image, size=size, mode="bilinear", antialias=True)
    return stretched[0].permute(1, 2, 0).round().clamp(0, 255).byte().numpy()


def _notes(capture: Capture, kind: str, grid: PatchGrid) -> tuple[Text, ...]:
    if kind != "learned":
        return (ROTARY if kind == "rotary" else REFERENCE,)
    family, module = capture.model.family, capture.model.module
    learned = family.learned_grid(module)
    resampled = RESAMPLED.format(old_rows=learned[0], old_cols=learned[1], rows=grid.rows, cols=grid.cols)
    return present(
        None if learned == (grid.rows, grid.cols) else resampled, ALSO_ROTARY if _is_rotary(capture) else None
    )


def reading(result: MapResult | BoardResult) -> Text:
    """Say whether neighbours are similar and distant places are not."""
    if isinstance(result, BoardResult):
        return _of_all(result)
    others = without(result.values, result.query)
    if not np.isfinite(others).any():
        return ALONE
    return Text(
        "The position most similar to that of the {query} is {patch}, with cosine {high}; the least similar is "
        "{other}, with {low}.",
        "与{query}的位置最相似的是{patch}，余弦 {high}；最不相似的是{other}，为 {low}。",
    ).format(
        query=query_text(result.query),
        patch=extreme(others),
        high=measured(np.nanmax(others)),
        other=extreme(others, -1),
        low=measured(np.nanmin(others)),
    )


def _of_all(result: BoardResult) -> Text:
    rows, cols = result.values.shape[:2]
    patches = rows * cols
    if patches == 1:
        return ALONE
    places = np.indices((rows, cols)).reshape(2, -1)
    apart = np.abs(places[:, :, None] - places[:, None, :]).sum(0)
    others = np.where(apart == 0, -np.inf, result.values.reshape(patches, patches))
    beside = np.where(apart == 1, others, -np.inf).max(1) >= others.max(1)
    return Text(
        "For {near} of {patches} patches the most similar position is a neighbour; the cosine of two opposite "
        "corners is {corners}.",
        "{patches} 个图块中，有 {near} 个的最相似位置就在旁边；对角线两端的余弦为 {corners}。",
    ).format(near=counted(int(beside.sum())), patches=counted(patches), corners=measured(result.values[0, 0, -1, -1]))


VIEW = View(
    title=Text("Similarity of position embeddings", "位置编码的相似度"),
    question=Text("What does the model know about where a patch is?", "模型对图块的位置知道些什么？"),
    misleads=Text(
        "These are the inputs of the first block; how much of them later blocks use is not shown.",
        "这是在输入端加入的信息，并不说明后面的块用了多少。",
    ),
    room="positions",
    compute=compute,
    reads=("stream",),
    names_of_timm=True,
    reading=reading,
    controls=(
        PatchOrAllControl("query", Text("Patch", "图块"), first=True),
        KindControl("kind", Text("Positions", "位置编码"), tuple(KINDS.items())),
        GridControl("grid", Text("Resampled to", "重采样到")),
    ),
    paper=Paper("Dosovitskiy et al. 2021, figure 7", "https://arxiv.org/abs/2010.11929"),
    refuses=refuse_if(
        lambda capture: capture.model.family.learned_grid(capture.model.module) is None and not _is_rotary(capture),
        Text("{model} has no position embeddings, only offsets.", "{model} 没有位置编码，只有相对偏移。"),
    ),
)
