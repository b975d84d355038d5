"""Names of the two sides of a comparison, and the result made of a picture of each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.text import Text
from vitexplorer.core.types import ColoursResult, MapResult, PairResult, Provenance
from vitexplorer.quantities.places import read_at, same_places

LEFT, RIGHT = Text("left", "左"), Text("right", "右")
_NAMED = Text("{side}: {name}", "{side}：{name}")


def names_of(left: Capture, right: Capture) -> tuple[Text, Text]:
    """Name left and right by the first property in which they differ: model, weights, size or change."""
    for property_of in (_model, _weights, _pixels, _changed):
        one = property_of(left.provenance)
        other = property_of(right.provenance)
        if one.en != other.en:
            return _NAMED.format(side=LEFT, name=one), _NAMED.format(side=RIGHT, name=other)
    return LEFT, RIGHT


def _model(provenance: Provenance) -> Text:
    return Text(provenance.model, provenance.model)


def _weights(provenance: Provenance) -> Text:
    return provenance.weights_text


def _pixels(provenance: Provenance) -> Text:
    height, width = provenance.input_size
    return Text("{height} × {width} px", "{height} × {width} 像素").format(height=height, width=width)


def _changed(provenance: Provenance) -> Text:
    return Text("changed run", "更改后") if provenance.changes else Text("plain run", "原始运行")


def pair_of(
    view: str,
    title: Text,
    sides: tuple[tuple[Capture, int], tuple[Capture, int]],
    pictures: tuple[MapResult, MapResult] | tuple[ColoursResult, ColoursResult],
    settings: Mapping[str, object],
    notes: tuple[Text, ...] = (),
) -> PairResult:
    """Make one result of a picture of each side.

    Args:
        view: key of the comparison.
        title: title of the figure.
        sides: each capture with a block whose grid its picture has.
        pictures: the two pictures, of the same kind.
        settings: settings of the comparison.
        notes: notes of the comparison; those of the pictures follow.
    """
    (left, block), (right, to) = sides
    one, other = pictures
    picture_notes = [
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
        notes=tuple(dict.fromkeys([*notes, *picture_notes])),
        target=one.target,
        grid=one.grid,
        image=one.image,
        other_grid=other.grid,
        other_image=other.image,
        other=other.values,
        names=names_of(left, right),
        agree=same_places(left, right) and one.values.shape == other.values.shape,
    )
