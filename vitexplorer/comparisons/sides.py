"""What the two sides are called, and how a picture of each becomes one result."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.text import Text
from vitexplorer.core.types import ColoursResult, MapResult, PairResult, Provenance
from vitexplorer.quantities.places import read_at, same_places

LEFT, RIGHT = Text("left", "左"), Text("right", "右")
_NAMED = Text("{side}: {name}", "{side}：{name}")


def names_of(left: Capture, right: Capture) -> tuple[Text, Text]:
    """Left and right with what tells them apart: the model, or what else of weights, size and changes is another."""
    one, other = left.provenance, right.provenance
    for tell in _TELLS:
        if tell(one).en != tell(other).en:
            return _NAMED.format(side=LEFT, name=tell(one)), _NAMED.format(side=RIGHT, name=tell(other))
    return LEFT, RIGHT


def _pixels(provenance: Provenance) -> Text:
    height, width = provenance.input_size
    return Text("{height} × {width} px", "{height} × {width} 像素").format(height=height, width=width)


def _changed(provenance: Provenance) -> Text:
    return Text("changed run", "更改后") if provenance.changes else Text("plain run", "原始运行")


_TELLS: tuple[Callable[[Provenance], Text], ...] = (
    lambda provenance: Text(provenance.model, provenance.model),
    lambda provenance: provenance.weights_text,
    _pixels,
    _changed,
)


def pair_of(
    view: str,
    title: Text,
    sides: tuple[tuple[Capture, int], tuple[Capture, int]],
    pictures: tuple[MapResult, MapResult] | tuple[ColoursResult, ColoursResult],
    settings: Mapping[str, object],
    notes: tuple[Text, ...] = (),
) -> PairResult:
    """One picture of each as a result.

    Args:
        view: key of the comparison.
        title: of the figure.
        sides: each capture with a block on whose grid its picture lies.
        pictures: of the same kind.
        settings: of the comparison.
        notes: what it has to say; those that a picture brings of its own follow.
    """
    (left, block), (right, to) = sides
    one, other = pictures
    said = [
        note
        for capture, picture in zip((left, right), pictures, strict=True)
        for note in picture.notes
        if note not in (*capture.model.notes, *capture.input.notes)
    ]

    return PairResult(
        view=view,
        title=title,
        values=np.stack([one.values, read_at(other.values, (right, to), (left, block))]),
        axes=("sides", *one.axes),
        unit=one.unit,
        formula=one.formula,
        provenance=left.provenance,
        settings=dict(settings),
        notes=tuple(dict.fromkeys([*notes, *said])),
        target=one.target,
        grid=one.grid,
        image=one.image,
        other_grid=other.grid,
        other_image=other.image,
        other=other.values,
        names=names_of(left, right),
        agree=same_places(left, right) and one.values.shape == other.values.shape,
    )
