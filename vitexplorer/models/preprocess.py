"""Preprocessing: from an opened picture to fitted pixels, kept for overlays, and the normalised tensor.

The fits (`types.Fit`):

crop    timm's own evaluation transform: short side to floor(input size / crop_pct), centre crop; the crop modes
        "squash" and "border" of some models included
squash  resize to the input size without keeping the aspect; a picture of that size stays unchanged
pad     keep the aspect, fit the whole picture inside and centre it on the model's mean colour
native  keep the aspect and, up to `max_pixels`, the size; round each side to the nearest multiple of a patch

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

MAX_ASPECT = 50  # beyond it the short side shrinks to hardly a pixel, and a crop would enlarge the long side enormously


@dataclass(frozen=True)
class FittedImage:
    """Pixels that a model gets."""

    pixels: np.ndarray
    """uint8 RGB (height, width, 3)"""
    content_box: tuple[int, int, int, int]
    """Left, top, right, bottom of the picture inside `pixels`; the rest is padding"""
    notes: tuple[Text, ...] = ()
    """Changes beyond the fit, such as a reduced size"""


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
    """Fit a picture to the size that a model takes.

    Args:
        pixels: uint8 RGB (height, width, 3).
        input_size: height, width in pixels; ignored by "native".
        fit: one of the fits in the module docstring.
        interpolation: as in timm's data config, like `crop_pct`, `crop_mode` and `mean`.
        crop_pct: share of the resized short side that the crop keeps.
        crop_mode: "center", "squash" or "border".
        mean: mean colour, 0-1; fills the border.
        multiple_of: side of a patch, or its height, width, for "native".
        max_pixels: most pixels under "native".

    Raises:
        UnknownNameError: `fit` is none of the fits.
        SettingError: "native" without `multiple_of`.
        ImageError: the picture is so elongated that it can only be squashed.
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
        crop_mode = "border"  # timm's name for it
        crop_pct = 1.0
    return _timm_eval(pixels, input_size, interpolation, crop_pct, crop_mode, mean)


def normalise(pixels: np.ndarray, mean: Sequence[float], std: Sequence[float]) -> Tensor:
    """Compute float32 (1, 3, height, width) (pixels / 255 - mean) / std, bit for bit timm's ToTensor and Normalize."""
    mean, std = (torch.tensor(values, dtype=torch.float32) for values in (mean, std))
    writable = np.require(pixels, requirements="W")  # torch warns of others
    return functional.normalize(functional.to_tensor(writable).float(), mean, std)[None]


# ------------------------------------------------------------------------------------------------- the fits

_ELONGATED = Text(
    "The image has {width} x {height} pixels; with one side more than {most} times the other, only squashing it shows "
    'anything. Choose fit "squash" or cut out a part.',
    "该图像为 {width} x {height} 像素；一边超过另一边的 {most} 倍时，只有拉伸才能显示内容。"
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
    """Resize the whole picture to `size`; a picture of that size stays unchanged."""
    if pixels.shape[:2] != tuple(size):
        pixels = np.array(Image.fromarray(pixels).resize((size[1], size[0]), str_to_pil_interp(interpolation)))
    return FittedImage(pixels, (0, 0, size[1], size[0]), notes)


def _timm_eval(
    pixels: np.ndarray,
    size: tuple[int, int],
    interpolation: str,
    crop_pct: float,
    crop_mode: str,
    mean: Sequence[float],
) -> FittedImage:
    """Apply timm's evaluation transform without the normalisation, and find the picture in its result."""
    resize, cut, _ = create_transform(
        (3, *size),
        interpolation=interpolation,
        crop_pct=crop_pct,
        crop_mode=crop_mode,
        mean=tuple(mean),
        normalize=False,
    ).transforms
    resized = resize(Image.fromarray(pixels))
    left, right = _span(resized.width, size[1])
    top, bottom = _span(resized.height, size[0])
    return FittedImage(np.array(cut(resized)), (left, top, right, bottom))


def _span(resized: int, target: int) -> tuple[int, int]:
    """Return start and stop of the picture along one axis of torchvision's centre crop or pad."""
    start = max(target - resized, 0) // 2
    return start, start + min(target, resized)


def _native_size(size: tuple[int, int], multiple_of: int | tuple[int, int] | None, max_pixels: int) -> tuple[int, int]:
    """Round each side to the nearest multiple, at least one; round down if that would exceed `max_pixels`."""
    if multiple_of is None:
        raise SettingError(_ONE_SIZE)
    steps = (multiple_of, multiple_of) if isinstance(multiple_of, int) else multiple_of
    height, width = (max(step, math.floor(side / step + 0.5) * step) for side, step in zip(size, steps, strict=True))
    if height * width <= max_pixels:
        return height, width
    shrink = min(1.0, math.sqrt(max_pixels / math.prod(size)))
    height, width = (max(step, math.floor(side * shrink / step) * step) for side, step in zip(size, steps, strict=True))
    return height, width
