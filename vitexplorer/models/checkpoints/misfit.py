"""The error for a tensor or a field of a configuration that no model can have, and shapes that are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vitexplorer.core.text import ExplainedError, Text

if TYPE_CHECKING:
    from vitexplorer.models.checkpoints.facts import Facts, Tensors

MISSING = Text("there is no tensor {name}", "缺少张量 {name}")
_SHAPE = Text("{name} has the shape {shape}; expected {axes} axes", "{name} 的形状为 {shape}；应有 {axes} 个轴")
_PARTS = Text("{name} has {rows} rows, which are not {parts} equal parts", "{name} 有 {rows} 行，无法等分为 {parts} 份")
_SQUARE = Text(
    "{name} has {rows} rows, which are no square of patches", "{name} 有 {rows} 行，不能排成正方形的图块网格"
)
_PLACES = Text(
    "{name} has {rows} rows, which are not those of an image_size of {size} pixels",
    "{name} 有 {rows} 行，与 image_size（{size} 像素）不符",
)
_HEADS = Text("{heads} heads cannot share {width} numbers evenly", "{heads} 个头无法均分 {width} 维")
_STAGES = Text(
    "{field} has {said} numbers for {stages} stages",
    "{field} 有 {said} 个数，而模型有 {stages} 个阶段",
)


class MisfitError(ExplainedError):
    """Half a sentence, without the file's name: which tensor or field, what it says, what was expected."""


def shape_of(tensors: Tensors, name: str, axes: int) -> tuple[int, ...]:
    """The shape of a tensor with so many axes, none of them empty. Raises MisfitError."""
    if name not in tensors:
        raise MisfitError(MISSING.format(name=name))
    shape = tuple(tensors[name].shape)
    if len(shape) != axes or not all(shape):
        raise MisfitError(_SHAPE.format(name=name, shape=" x ".join(map(str, shape)) or "0", axes=axes))
    return shape


def rows_of(tensors: Tensors, name: str, parts: int = 1) -> int:
    """Rows of a matrix or numbers of a vector, in each of so many parts. Raises MisfitError."""
    axes = 2 if name.endswith("weight") else 1
    rows = shape_of(tensors, name, axes)[0]
    if rows % parts:
        raise MisfitError(_PARTS.format(name=name, rows=rows, parts=parts))
    return rows // parts


def no_grid(name: str, rows: int, image_size: int | tuple[int, int] | None) -> MisfitError:
    """The error for a table of positions that is not of the images that are declared, or where none are of a square."""
    if image_size is None:
        return MisfitError(_SQUARE.format(name=name, rows=rows))
    size = (image_size, image_size) if isinstance(image_size, int) else image_size
    return MisfitError(_PLACES.format(name=name, rows=rows, size=f"{size[0]} x {size[1]}"))


def heads_of(facts: Facts, width: int) -> int | None:
    """What the library says of the heads of every block; None where it says nothing. Raises MisfitError."""
    heads = facts.num_heads
    if heads is not None and (not isinstance(heads, int) or width % heads):
        some = heads if isinstance(heads, int) else ", ".join(map(str, heads))
        raise MisfitError(_HEADS.format(heads=some, width=width))
    return heads


def of_stages(field: str, said: tuple[int, ...] | int | None, stages: int) -> tuple[int, ...] | None:
    """One number for each stage; a library reads no further in a longer list. Raises MisfitError for a shorter one."""
    count = len(said) if isinstance(said, tuple) else 1
    if said is not None and (count < stages or not isinstance(said, tuple)):
        raise MisfitError(_STAGES.format(field=field, said=count, stages=stages))
    return None if said is None else said[:stages]
