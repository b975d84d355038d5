"""From an opened picture to what the model gets: fitted pixels, kept for overlays, and the normalised tensor.

The fits (`types.Fit`):

crop    timm's evaluation transform, made by timm itself: short side to floor(input size / crop_pct), centre crop;
        the crop modes "squash" and "border" of some models included
squash  straight to the input size, the aspect is lost; a picture of that size stays untouched
pad     the aspect is kept, the whole picture is fitted inside and centred on the model's mean colour
native  the aspect and, up to `max_pixels`, the size are kept; each side goes to the nearest multiple of a patch

Resizing is Pillow's, antialiased, as in timm's transform of a PIL image.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from PIL import Image
from timm.data import IMAGENET_DEFAULT_MEAN, create_transform
from timm.data.transforms import str_to_pil_interp
from torch import Tensor
from torchvision.transforms import functional

from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import SettingError, Text
from vitexplorer.core.types import Fit
from vitexplorer.models.images import ImageError

MAX_ASPECT = 50  # beyond it hardly a pixel is left of the short side, and a crop would enlarge the long one without end


@dataclass(frozen=True)
class FittedImage:
    """The pixels a model sees and where they come from."""

    pixels: np.ndarray
    """uint8 RGB (height, width, 3)"""
    content_box: tuple[int, int, int, int]
    """left, top, right, bottom of the picture inside `pixels`; the rest was padded"""
    source_box: tuple[float, float, float, float]
    """left, top, right, bottom of the part of the original that is shown, in its own pixels; the rest was cut off"""
    notes: tuple[Text, ...] = ()
    """what was done beyond what the fit's name says"""


def fit_image(
    pixels: np.ndarray,
    *,
    input_size: tuple[int, int],
    fit: Fit = "crop",
    interpolation: str = "bicubic",
    crop_pct: float = 0.875,
    crop_mode: str = "center",
    mean: Sequence[float] = IMAGENET_DEFAULT_MEAN,
    multiple_of: int | tuple[int, int] | None = None,
    max_pixels: int = 1024 * 1024,
) -> FittedImage:
    """A picture, uint8 RGB (height, width, 3), fitted to the (height, width) that a model takes.

    `interpolation`, `crop_pct`, `crop_mode` and `mean` are those of timm's data config; `multiple_of` is one patch,
    or its (height, width), for "native", where `input_size` has no meaning.
    Raises UnknownNameError for another fit, SettingError for "native" without `multiple_of`, ImageError for a
    picture so elongated that it can only be squashed.
    """
    height, width = pixels.shape[:2]
    if fit not in ("crop", "squash", "pad", "native"):
        raise unknown_name("fit", fit, ("crop", "squash", "pad", "native"))
    if fit == "squash":
        return _whole(pixels, input_size, interpolation)
    if max(height, width) > MAX_ASPECT * min(height, width):
        raise ImageError(_ELONGATED.format(width=width, height=height, most=MAX_ASPECT))
    if fit == "native":
        size = _native_size((height, width), multiple_of, max_pixels)
        notes = (_REDUCED.format(width=width, height=height, to_width=size[1], to_height=size[0], most=max_pixels),)
        return _whole(pixels, size, interpolation, notes if height * width > max_pixels else ())
    if fit == "pad":
        crop_mode, crop_pct = "border", 1.0  # timm's name for it
    return _timm_eval(pixels, input_size, interpolation, crop_pct, crop_mode, mean)


def normalise(pixels: np.ndarray, mean: Sequence[float], std: Sequence[float]) -> Tensor:
    """Float32 (1, 3, height, width): (pixels / 255 - mean) / std, bit for bit timm's ToTensor and Normalize."""
    mean, std = (torch.tensor(values, dtype=torch.float32) for values in (mean, std))
    return functional.normalize(functional.to_tensor(pixels).float(), mean, std)[None]


# ------------------------------------------------------------------------------------------------- the fits

_ELONGATED = Text(
    "The image has {width} x {height} pixels; with one side more than {most} times the other, only squashing it shows "
    'anything. Choose fit "squash" or cut out a part.',
    "该图像为 {width} x {height} 像素；一边超过另一边的 {most} 倍时，只有压缩才能显示内容。"
    '请选择 fit "squash"，或先裁剪。',
)
_REDUCED = Text(
    "The image was scaled down from {width} x {height} to {to_width} x {to_height} pixels, to have at most {most}.",
    "图像已从 {width} x {height} 缩小到 {to_width} x {to_height} 像素，使像素总数不超过 {most}。",
)
_ONE_SIZE = Text(
    'This model takes one input size only. Choose fit "crop", "squash" or "pad".',
    '该模型只接受一种输入尺寸。请选择 fit "crop"、"squash" 或 "pad"。',
)


def _whole(pixels: np.ndarray, size: tuple[int, int], interpolation: str, notes: tuple[Text, ...] = ()) -> FittedImage:
    """All of the picture, resized to `size`; untouched where it has that size."""
    height, width = pixels.shape[:2]
    if (height, width) != tuple(size):
        pixels = np.array(Image.fromarray(pixels).resize((size[1], size[0]), str_to_pil_interp(interpolation)))
    return FittedImage(pixels, (0, 0, size[1], size[0]), (0, 0, width, height), notes)


def _timm_eval(
    pixels: np.ndarray,
    size: tuple[int, int],
    interpolation: str,
    crop_pct: float,
    crop_mode: str,
    mean: Sequence[float],
) -> FittedImage:
    """timm's evaluation transform, without the normalisation, and the geometry of its two steps."""
    resize, cut, _ = create_transform(
        (3, *size),
        interpolation=interpolation,
        crop_pct=crop_pct,
        crop_mode=crop_mode,
        mean=tuple(mean),
        normalize=False,
    ).transforms
    resized = resize(Image.fromarray(pixels))
    height, width = pixels.shape[:2]
    left, right, source_left, source_right = _span(width, resized.width, size[1])
    top, bottom, source_top, source_bottom = _span(height, resized.height, size[0])
    return FittedImage(
        np.array(cut(resized)),
        (left, top, right, bottom),
        (source_left, source_top, source_right, source_bottom),
    )


def _span(original: int, resized: int, target: int) -> tuple[int, int, float, float]:
    """One axis of torchvision's centre crop or pad: (start, stop) in the target, then in the original."""
    start, length = max(target - resized, 0) // 2, min(target, resized)
    cut, per_pixel = round(max(resized - target, 0) / 2), original / resized
    return start, start + length, cut * per_pixel, (cut + length) * per_pixel


def _native_size(size: tuple[int, int], multiple_of: int | tuple[int, int] | None, max_pixels: int) -> tuple[int, int]:
    """Each side at the nearest multiple, at least one; rounded down instead where that would exceed `max_pixels`."""
    if multiple_of is None:
        raise SettingError(_ONE_SIZE)
    steps = (multiple_of, multiple_of) if isinstance(multiple_of, int) else multiple_of
    height, width = (max(step, math.floor(side / step + 0.5) * step) for side, step in zip(size, steps, strict=True))
    if height * width <= max_pixels:
        return height, width
    shrink = min(1.0, math.sqrt(max_pixels / math.prod(size)))
    height, width = (max(step, math.floor(side * shrink / step) * step) for side, step in zip(size, steps, strict=True))
    return height, width
