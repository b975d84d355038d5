"""The nouns of the project and the glossary of its axes.

Axis words, used in every shape of every signature and in no other meaning:

==========  =====================================================================================
batch       images; a capture holds one and its tensors have no batch axis
heads       attention heads of one block
queries     tokens that look, the rows of an attention matrix
keys        tokens that are looked at, the columns
tokens      rows of the sequence, prefix tokens first
patches     tokens that have a place in the image, row by row
rows cols   the patch grid of one block
windows     windows of a windowed block (Swin), row by row
blocks      attention + MLP, counted from 0 over the whole network
classes     outputs of the classifier
dim         width of a token
height width  pixels
==========  =====================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from vitexplorer.words import Text, same

Query = Literal["cls", "dist", "mean"] | tuple[int, int]
Reading = Literal["cls", "dist", "mean", "own"]
"""how the last tokens become the logits: one token, the mean over patches, or the model's own pooling"""
Fit = Literal["crop", "squash", "pad", "native"]
Weights = Literal["pretrained", "bundled", "random", "file", "fine-tuned"]

PADDING = -32768  # the position of a token that timm added to fill a window


@dataclass(frozen=True)
class PatchGrid:
    """Where the patch tokens of one block lie in the image."""

    rows: int
    cols: int
    patch_size: int
    """side of one cell in pixels of the model's input (grows from stage to stage in Swin)"""
    num_prefix_tokens: int = 0

    @property
    def num_patches(self) -> int:
        """Patch tokens, rows x cols."""
        return self.rows * self.cols


@dataclass(frozen=True)
class WindowLayout:
    """How one windowed block cuts its patch grid: cyclic shift, padding at the lower right, then windows."""

    window_size: tuple[int, int]
    shift_size: tuple[int, int]

    def positions(self, grid: PatchGrid) -> np.ndarray:
        """Int (windows, tokens of a window): index in the patch grid of every token, `PADDING` for added ones.

        Undoes, in this order, window partition, padding and cyclic shift (Swin, arXiv 2103.14030, section 3.2).
        """
        index = np.arange(grid.num_patches).reshape(grid.rows, grid.cols)
        index = np.roll(index, (-self.shift_size[0], -self.shift_size[1]), axis=(0, 1))
        height, width = self.window_size
        padding = ((0, -grid.rows % height), (0, -grid.cols % width))
        index = np.pad(index, padding, constant_values=PADDING)
        windows = index.reshape(index.shape[0] // height, height, index.shape[1] // width, width).swapaxes(1, 2)
        return np.ascontiguousarray(windows.reshape(-1, height * width))


@dataclass(frozen=True)
class Provenance:
    """What a figure is a figure of. It travels from the model to every result, caption and file."""

    model: str
    weights: Weights
    weights_source: str
    """seed, hub id, file name or recipe"""
    image_hash: str = ""
    fit: str = ""
    input_size: tuple[int, int] = (0, 0)

    @property
    def is_random(self) -> bool:
        """True when nothing was ever learned: such a picture needs a visible warning."""
        return self.weights == "random"

    @property
    def weights_text(self) -> Text:
        """The weights in words, for captions."""
        words = {
            "pretrained": Text("pretrained weights ({source})", "预训练权重({source})"),
            "bundled": Text("bundled weights, trained on drawn scenes", "内置权重(在绘制场景上训练)"),
            "random": Text("RANDOM weights ({source}), nothing learned", "随机权重({source}),未经训练"),
            "file": Text("weights from {source}", "权重来自 {source}"),
            "fine-tuned": Text("fine-tuned weights ({source})", "微调权重({source})"),
        }
        return words[self.weights].format(source=self.weights_source)


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a view returns: numbers, how to read them and where they come from. No torch, no drawing."""

    view: str
    title: Text
    values: np.ndarray
    axes: tuple[str, ...]
    """one word of the glossary for each axis of `values`"""
    unit: Text
    formula: str
    provenance: Provenance
    settings: Mapping[str, object] = field(default_factory=dict)
    """the controls' values that gave this result"""
    notes: tuple[Text, ...] = ()
    """what was dropped, normalised or approximated"""


@dataclass(frozen=True, kw_only=True)
class PatchesResult(Result):
    """Image patches, (patches, patch_size, patch_size, 3) uint8, and the grid they were cut from."""

    grid: PatchGrid
    image: np.ndarray


@dataclass(frozen=True, kw_only=True)
class MapResult(Result):
    """One map over the patch grid, values (rows, cols), and the mass that is not on patches."""

    grid: PatchGrid
    image: np.ndarray
    """(height, width, 3) uint8: the pixels the model saw"""
    query: Query | None = None
    prefix_names: tuple[str, ...] = ()
    prefix_weights: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(prefix tokens,) share of the query's attention on each prefix token"""
    padding_mass: float = 0.0
    """share on tokens that only fill a window"""
    window: tuple[int, int, int, int] | None = None
    """top, left, height, width in cells: where a windowed query can look; wraps around the grid when it is shifted"""

    @property
    def prefix_mass(self) -> float:
        """Share of the query's attention on all prefix tokens together, 0-1."""
        return float(self.prefix_weights.sum())


@dataclass(frozen=True, kw_only=True)
class GalleryResult(Result):
    """The same map once for each head, values (heads, rows, cols)."""

    grid: PatchGrid
    image: np.ndarray
    query: Query | None = None
    prefix_names: tuple[str, ...] = ()
    prefix_weights: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """(heads, prefix tokens)"""
    padding_mass: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(heads,)"""

    @property
    def prefix_mass(self) -> np.ndarray:
        """(heads,) share of each head's attention on all prefix tokens together, 0-1."""
        return self.prefix_weights.sum(-1)


@dataclass(frozen=True)
class Term:
    """One term of a closed formula: a name, its symbols, the same with numbers, the value."""

    name: Text
    symbols: str
    numbers: str
    count: int


@dataclass(frozen=True, kw_only=True)
class CountResult(Result):
    """A count for each part of a model, values (parts,) int, and the closed formula beside it."""

    parts: tuple[str, ...]
    terms: tuple[Term, ...] = ()
    """terms of the closed formula; empty where none is stated for the family"""
    total: int = 0


PREFIX_WORDS = {
    "cls": Text("class token", "类别标记"),
    "dist": Text("distillation token", "蒸馏标记"),
    "mean": Text("mean over patches", "图块平均"),
}


def query_text(query: Query) -> Text:
    """A query in words: the class token, the mean over patches, or the patch in row 3, column 5 (counted from 0)."""
    if isinstance(query, str):
        return PREFIX_WORDS[query]
    return Text("patch in row {row}, column {col}", "第 {row} 行第 {col} 列的图块").format(row=query[0], col=query[1])


def prefix_text(name: str) -> Text:
    """A prefix token in words; registers are numbered from 1."""
    if name.startswith("reg"):
        return Text("register {n}", "寄存器标记 {n}").format(n=name[3:])
    return PREFIX_WORDS.get(name, same(name))
