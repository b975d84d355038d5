"""Checked shapes of tensors, and the error for an impossible tensor or field of a configuration."""

from __future__ import annotations

from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.models.checkpoints.records import Facts, Tensors

MISSING = Text("there is no tensor {name}", "缺少张量 {name}")
_SHAPE = Text("{name} has the shape {shape}; expected {axes} axes", "{name} 的形状为 {shape}；应有 {axes} 个轴")
_PARTS = Text(
    "{name} has {rows} rows, which cannot be split into {parts} equal parts",
    "{name} 有 {rows} 行，无法等分为 {parts} 份",
)
_SQUARE = Text(
    "{name} has {rows} rows, which form no square grid of patches", "{name} 有 {rows} 行，不能排成正方形的图块网格"
)
_PLACES = Text(
    "{name} has {rows} rows, which do not match an image_size of {size} pixels",
    "{name} 有 {rows} 行，与 image_size（{size} 像素）不符",
)
_HEADS = Text("{heads} heads cannot share {width} numbers evenly", "{heads} 个头无法均分 {width} 维")
_STAGES = Text("{field} has {said} numbers for {stages} stages", "{field} 有 {said} 个数，而模型有 {stages} 个阶段")


class MisfitError(ExplainedError):
    """Raised for an impossible tensor or field; the text is half a sentence, without the file's name."""


def shape_of(tensors: Tensors, name: str, axes: int) -> tuple[int, ...]:
    """Return the shape of a tensor with `axes` axes, none of them empty.

    Raises:
        MisfitError: the tensor is missing or has another shape.
    """
    if name not in tensors:
        raise MisfitError(MISSING.format(name=name))
    shape = tuple(tensors[name].shape)
    if len(shape) != axes or not all(shape):
        raise MisfitError(_SHAPE.format(name=name, shape=" x ".join(map(str, shape)) or "0", axes=axes))
    return shape


def rows_of(tensors: Tensors, name: str, parts: int = 1) -> int:
    """Return the rows of a matrix or the numbers of a vector, divided by `parts`.

    Raises:
        MisfitError: the tensor is missing, has another number of axes, or cannot be divided evenly.
    """
    axes = 2 if name.endswith("weight") else 1
    rows = shape_of(tensors, name, axes)[0]
    if rows % parts:
        raise MisfitError(_PARTS.format(name=name, rows=rows, parts=parts))
    return rows // parts


def grid_error(name: str, rows: int, image_size: int | tuple[int, int] | None) -> MisfitError:
    """Make the error for a position table that fits neither the declared image size nor, without one, a square."""
    if image_size is None:
        return MisfitError(_SQUARE.format(name=name, rows=rows))
    size = (image_size, image_size) if isinstance(image_size, int) else image_size
    return MisfitError(_PLACES.format(name=name, rows=rows, size=f"{size[0]} x {size[1]}"))


def heads_of(facts: Facts, width: int) -> int | None:
    """Return the number of heads of every block; None if the configuration does not state it.

    Raises:
        MisfitError: the heads do not divide the width, or differ between blocks.
    """
    heads = facts.num_heads
    if heads is not None and (not isinstance(heads, int) or width % heads):
        some = heads if isinstance(heads, int) else ", ".join(map(str, heads))
        raise MisfitError(_HEADS.format(heads=some, width=width))
    return heads


def per_stage(field: str, numbers: tuple[int, ...] | int | None, stages: int) -> tuple[int, ...] | None:
    """Return one number for each stage; further ones are ignored, as in the library.

    Raises:
        MisfitError: there are fewer numbers than stages.
    """
    count = len(numbers) if isinstance(numbers, tuple) else 1
    if numbers is not None and (count < stages or not isinstance(numbers, tuple)):
        raise MisfitError(_STAGES.format(field=field, said=count, stages=stages))
    return None if numbers is None else numbers[:stages]
