"""A model at another input size: `at_size` returns a new `LoadedModel` and leaves the shared one unchanged.

timm makes the new position tables. There are three cases:

resampled in each pass   ViT, DeiT, DINO, EVA, DINOv3 and all that timm builds with `dynamic_img_size`: the same
                         module, which resamples its position embeddings and rotates by the angles of the new grid
new tables, made once    Swin, whose windows keep their share of the grid, and models of a single size (BEiT, SigLIP
                         So400m, ...): a copy that shares every parameter except the tables `set_input_size` makes
nothing to do            networks without position tables (PVT v2, DaViT, ...): the same module

Misleading: the weights were learned at one size. At a larger size each object covers more tokens, and positions
between two learned ones were never trained.
"""

from __future__ import annotations

import copy
import re
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from vitexplorer.core.text import SPACE, SettingError, Text, UnsupportedError
from vitexplorer.core.types import Size
from vitexplorer.models.capture_memory import check_memory
from vitexplorer.models.weightless import weightless

if TYPE_CHECKING:
    from vitexplorer.models.loading import LoadedModel

LARGEST = 4096
"""Most pixels of a side"""

_NO_SIZE = Text(
    "{name} must be a number of pixels or (height, width), not {value}.",
    "{name} 应为像素数或（高，宽），而不是 {value}。",
)
_ONE_SIZE = Text(
    "{model} takes images of {height} × {width} pixels only; another size is not possible for this architecture.",
    "{model} 只接受 {height} × {width} 像素的图像；该结构不支持其他尺寸。",
)
_NO_MULTIPLE = Text(
    "{model} takes sides that are multiples of {step} pixels, up to {largest}; {given} is not. Nearest: {near}.",
    "{model} 的边长须为 {step} 像素的倍数，且不超过 {largest}，而 {given} 不是。最接近的是 {near}。",
)
_OTHER_BLOCKS = Text(
    "At {given} pixels {model} pools or resamples between its blocks in a way that cannot be placed in the image. "
    "Choose another size.",
    "在 {given} 像素下，{model} 在块之间的池化或重采样无法在图像中定位。请选择其他尺寸。",
)
_OTHER_SIZE = Text(
    "Shown at {height} × {width} pixels instead of the model's own {own_height} × {own_width}.",
    "以 {height} × {width} 像素运行，而模型自身的尺寸为 {own_height} × {own_width}。",
)
_RESAMPLED = Text(
    "Its position embeddings were resampled from {before} to {after} patches.",
    "位置编码已从 {before} 个图块重采样到 {after} 个。",
)
_TURNED = Text("Its rotary positions are those of {after} patches.", "旋转位置编码按 {after} 个图块计算。")
_WINDOWS = Text(
    "Its windows grew with the grid from {before} to {after} patches in block 0, and so did their relative positions.",
    "窗口随网格变化，块 0 由 {before} 个图块变为 {after} 个，其相对位置也随之重新计算。",
)
_RELATIVE = Text(
    "Its relative positions were resampled from {before} to {after} patches.",
    "相对位置已从 {before} 个图块重采样到 {after} 个。",
)


def sides(value: Any, name: str = "size") -> Size:
    """Parse a size into height and width.

    Args:
        value: a number of pixels, (height, width), "384", "384x512" or "384,512".
        name: name of the setting in the error message.

    Raises:
        SettingError: `value` is none of these.
    """
    given = re.split(r"[,x×]", value) if isinstance(value, str) else value
    parts = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    parts = parts * 2 if len(parts) == 1 else parts
    try:
        height, width = map(int, parts)
        if (height, width) != tuple(map(float, parts)):
            raise ValueError(value)
    except (TypeError, ValueError, OverflowError):
        raise SettingError(_NO_SIZE.format(name=name, value=repr(value))) from None
    return height, width


def at_size(model: LoadedModel, size: int | Size | str) -> LoadedModel:
    """Return `model` for images of another size, or the original model at its own size; `model` is not changed.

    Args:
        model: from `load_model`.
        size: pixels, see `sides`; multiples of `family.size_step`.

    Raises:
        SettingError: not a size, not a multiple (the message names the nearest), or more memory than is allowed.
        UnsupportedError: the architecture takes one size only.
    """
    own = model.unsized or model
    target = sides(size)
    if target == tuple(own.preprocessing.input_size):
        return own
    check_memory(shapes_at(own, target))
    sized = _sized(own, target)
    return replace(sized, notes=(*own.notes, _note(own, sized)), unsized=own)


def shapes_at(model: LoadedModel, size: Size) -> LoadedModel:
    """Return `at_size` on the meta device: shapes without data, for any amount of memory.

    Raises:
        SettingError: `size` is not a multiple of `family.size_step`.
        UnsupportedError: the architecture does not take another size, or not this one.
    """
    own = model.unsized or model
    if size == tuple(own.preprocessing.input_size):
        return weightless(own)
    check_step(own, size)
    own = weightless(own)
    sized = _sized(own, size)
    if _names_of_blocks(sized) != _names_of_blocks(own):
        raise UnsupportedError(_OTHER_BLOCKS.format(model=model.name, given=by(size)))
    return sized


def _sized(model: LoadedModel, size: Size) -> LoadedModel:
    module = _with_new_tables(model.module, size) if _needs_tables(model) else model.module
    return replace(model, module=module, preprocessing=replace(model.preprocessing, input_size=size))


def check_step(model: LoadedModel, size: Size) -> None:
    """Check that the model takes this size.

    Raises:
        SettingError: it is not a multiple of the model's step; the message names the nearest sizes.
        UnsupportedError: the model takes one size only.
    """
    step = model.family.size_step(model.module)
    if step is None:
        height, width = model.preprocessing.input_size
        raise UnsupportedError(_ONE_SIZE.format(model=model.name, height=height, width=width))
    if all(side % multiple == 0 and 0 < side <= LARGEST for side, multiple in zip(size, step, strict=True)):
        return
    raise SettingError(
        _NO_MULTIPLE.format(
            model=model.name,
            step=step[0] if step[0] == step[1] else by(step),
            largest=LARGEST,
            given=by(size),
            near=Text(*(word.join(map(by, nearest(size, step))) for word in (" and ", " 和 "))),
        )
    )


def _names_of_blocks(model: LoadedModel) -> list[str]:
    return [site.name for site in model.blocks(model.preprocessing.input_size)]


def nearest(size: Size, step: Size) -> tuple[Size, ...]:
    """Return the possible sizes just below and just above `size`, each once."""
    largest = tuple(LARGEST // multiple * multiple for multiple in step)
    below = tuple(side // multiple * multiple for side, multiple in zip(size, step, strict=True))
    above = tuple(-(-side // multiple) * multiple for side, multiple in zip(size, step, strict=True))
    clipped = [
        tuple(min(max(side, low), high) for side, low, high in zip(near, step, largest, strict=True))
        for near in (below, above)
    ]
    return tuple(dict.fromkeys(clipped))


def by(size: Size) -> str:
    """Format a size as `384 × 512`, height first."""
    return f"{size[0]} × {size[1]}"


# ------------------------------------------------------------------------------------------------- tables


def _needs_tables(model: LoadedModel) -> bool:
    """Return True if timm has to make tables for another size, False if the module takes it unchanged.

    Swin would run unchanged too, but with windows of as many patches as before, and without shifts in the last stage.
    """
    if not hasattr(model.module, "set_input_size"):
        return False
    has_windows = any(site.windows for site in model.blocks(model.preprocessing.input_size))
    return has_windows or model.family.size_multiple(model.module) is None


def _with_new_tables(module: nn.Module, size: Size) -> nn.Module:
    """Copy `module` for another size; the copy shares every parameter that timm does not replace."""
    copied = copy.deepcopy(module, {id(parameter): parameter for parameter in module.parameters()})
    with warnings.catch_warnings(), torch.inference_mode(mode=False), torch.no_grad():
        warnings.filterwarnings("ignore", module=r"timm\.layers\.interpolate")  # torch warns of timm's indexing
        copied.set_input_size(img_size=size)
    return copied


# ------------------------------------------------------------------------------------------------- note


def _note(model: LoadedModel, sized: LoadedModel) -> Text:
    """Describe the other size, and the change of the position tables."""
    height, width = sized.preprocessing.input_size
    own_height, own_width = model.preprocessing.input_size
    sentences = [_OTHER_SIZE.format(height=height, width=width, own_height=own_height, own_width=own_width)]
    before = model.blocks(model.preprocessing.input_size)[0]
    after = sized.blocks(sized.preprocessing.input_size)[0]
    patches = {"before": by((before.grid.rows, before.grid.cols)), "after": by((after.grid.rows, after.grid.cols))}
    if model.family.learned_grid(model.module) is not None:
        sentences.append(_RESAMPLED.format(**patches))
    if sized.family.rotary_positions(sized.module, after.grid) is not None:
        sentences.append(_TURNED.format(**patches))
    if after.windows and before.windows and after.windows.window_size != before.windows.window_size:
        sizes = {"before": by(before.windows.window_size), "after": by(after.windows.window_size)}
        sentences.append(_WINDOWS.format(**sizes))
    elif sized.module is not model.module and not after.windows and _has_relative_tables(sized):
        sentences.append(_RELATIVE.format(**patches))
    return SPACE.join(sentences)


def _has_relative_tables(model: LoadedModel) -> bool:
    return any("rel_pos" in name or "relative_position" in name for name, _ in model.module.named_parameters())
