"""Names of the two sides of a comparison, and the result made of a picture of each."""

from __future__ import annotations

import numpy as np

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Choice
from vitexplorer.core.text import Text
from vitexplorer.core.types import ColoursResult, MapResult, PairResult, Provenance
from vitexplorer.models.catalog import title_of
from vitexplorer.quantities.places import read_at, same_places

LEFT, RIGHT = Text("left", "左"), Text("right", "右")
LARGE = Choice(
    "large",
    Text("Large map", "大图"),
    (("difference", Text("right − left", "右 − 左")), ("left", Text("left", "左")), ("right", Text("right", "右"))),
)
"""Map that is drawn large where there is a difference"""
_NAMED = Text("{side}: {name}", "{side}：{name}")


def names_of(left: Capture, right: Capture) -> tuple[Text, Text]:
    """Name left and right by the first property in which they differ: model, weights, size or change."""
    for of_left, of_right in zip(_properties(left.provenance), _properties(right.provenance), strict=True):
        if of_left.en != of_right.en:
            return _NAMED.format(side=LEFT, name=of_left), _NAMED.format(side=RIGHT, name=of_right)
    return LEFT, RIGHT


def _properties(provenance: Provenance) -> tuple[Text, Text, Text, Text]:
    height, width = provenance.input_size
    return (
        title_of(provenance.model),
        provenance.weights_text,
        Text("{height} × {width} px", "{height} × {width} 像素").format(height=height, width=width),
        Text("changed run", "更改后") if provenance.changes else Text("plain run", "原始运行"),
    )


def pair_of(
    captures: tuple[Capture, Capture],
    pictures: tuple[MapResult, MapResult] | tuple[ColoursResult, ColoursResult],
    notes: tuple[Text, ...] = (),
) -> PairResult:
    """Make one result of a picture of each side, both of one kind; their notes follow those of the comparison."""
    left, right = captures
    of_left, of_right = pictures
    picture_notes = [
        note
        for capture, picture in zip(captures, pictures, strict=True)
        for note in picture.notes
        if note not in (*capture.model.notes, *capture.input.notes)
    ]
    return PairResult(
        values=np.stack([of_left.values, read_at(of_right.values, _place(right, of_right), _place(left, of_left))]),
        axes=("sides", *of_left.axes),
        unit=of_left.unit,
        formula=of_left.formula,
        notes=tuple(dict.fromkeys([*notes, *picture_notes])),
        target=of_left.target,
        grid=of_left.grid,
        image=of_left.image,
        other_grid=of_right.grid,
        other_image=of_right.image,
        other=of_right.values,
        names=names_of(left, right),
        agree=same_places(left, right) and of_left.values.shape == of_right.values.shape,
    )


def _place(capture: Capture, picture: MapResult | ColoursResult) -> tuple[Capture, int]:
    """Return the capture and its first block with the grid of the picture."""
    shape = picture.grid.rows, picture.grid.cols
    blocks = range(capture.depth)
    return capture, next(block for block in blocks if (capture.grid(block).rows, capture.grid(block).cols) == shape)
