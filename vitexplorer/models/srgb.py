"""Conversion of any picture to opaque 8-bit sRGB: grey of any depth, palettes, CMYK, colour profiles, transparency.

Transparency is composited on white at full size, before any resizing, so that colours hidden under transparent pixels
never bleed in. Grey deeper than 8 bits keeps its whole range. A colour profile is applied, or ignored if it is broken.
"""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, ImageCms

WHITE = 255
_PHOTOMETRIC = 262
"""TIFF tag for the end of the range that is white (TIFF 6.0, section 8)"""
_WHITE_IS_ZERO = 0
_SRGB_TOLERANCE = 2  # of 255: a profile that shifts no colour by more is sRGB up to rounding
_PROBE = np.stack(np.meshgrid(*[np.linspace(0, 255, 6, dtype=np.uint8)] * 3), axis=-1).reshape(6, 36, 3)


def on_white(picture: Image.Image) -> Image.Image:
    """Convert a picture of any mode to sRGB and composite transparency on white."""
    profile = picture.info.get("icc_profile")
    if picture.mode.startswith(("I", "F")):
        picture = _eight_bits(picture)
    if not picture.has_transparency_data:
        return _to_srgb(picture, profile)
    picture = picture.convert("LA" if picture.mode in ("1", "L", "LA", "La") else "RGBA")
    white = Image.new("RGB", picture.size, (WHITE,) * 3)
    white.paste(_to_srgb(picture.convert(picture.mode[:-1]), profile), mask=picture.getchannel("A"))
    return white


def _eight_bits(picture: Image.Image) -> Image.Image:
    """Convert grey of more than 8 bits (modes I;16, I and F) to mode L, or LA if one value is transparent."""
    values = np.asarray(picture)
    scaled = _scaled(values)
    if getattr(picture, "tag_v2", {}).get(_PHOTOMETRIC) == _WHITE_IS_ZERO:
        scaled = WHITE - scaled  # Pillow does this itself for 8 bits and fewer
    grey = Image.fromarray(scaled)
    transparent = picture.info.get("transparency")
    if transparent is not None:
        grey.putalpha(Image.fromarray(np.where(values == transparent, np.uint8(0), np.uint8(255))))
    return grey


def _scaled(values: np.ndarray) -> np.ndarray:
    """Stretch the range of the values to 0-255 and round to uint8.

    The range of 16 bits is 0-65535. 32 bits have no defined white: it is the least of 1 (floats only), 255 and 65535
    that is not exceeded; if none fits, the range is the values' own minimum to maximum.
    """
    if values.dtype.kind == "u" and values.itemsize == 2:
        return ((np.arange(2**16) + 128) // 257).astype(np.uint8)[values]  # 65535 / 255 = 257
    low, high = float(values.min()), float(values.max())
    whites = (255, 65535) if values.dtype.kind == "i" else (1, 255, 65535)
    white = next((white for white in whites if low >= 0 and high <= white), None)
    low, span = (low, high - low or 1.0) if white is None else (0.0, white)
    grey = np.empty(values.shape, np.uint8)
    for row, deep in zip(grey, values, strict=True):  # row by row: 40 megapixels as float64 would take 320 MB
        row[:] = np.rint((deep.astype(np.float64) - low) * (255 / span))
    return grey


def _to_srgb(picture: Image.Image, profile: bytes | None) -> Image.Image:
    """Convert an opaque picture to RGB by its colour profile, if that is valid; sRGB pixels stay unchanged."""
    if picture.mode not in ("L", "CMYK"):
        picture = picture.convert("L" if picture.mode == "1" else "RGB")
    plain = picture.convert("RGB")
    if not profile:
        return plain
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        transform = ImageCms.buildTransform(source, ImageCms.createProfile("sRGB"), picture.mode, "RGB")
        probe = Image.fromarray(_PROBE).convert(picture.mode)
        shift = np.asarray(ImageCms.applyTransform(probe, transform), int) - np.asarray(probe.convert("RGB"), int)
        return plain if abs(shift).max() <= _SRGB_TOLERANCE else ImageCms.applyTransform(picture, transform)
    except (ImageCms.PyCMSError, OSError, TypeError, ValueError):  # a profile that is broken or of another colour space
        return plain
