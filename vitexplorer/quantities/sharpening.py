"""Maps finer than the patches: the mean of the maps of an image moved by parts of a patch, each put back in its place.

The image, as the model reads it, is continued beyond its edge by mirroring and moved down and right by i s and j s
pixels, s = P / k, i, j = 0 ... k - 1, with P the side of a cell of the map. A cell of the finer grid is the mean over
the passes that cover it. Fu et al. 2024 (FeatUp, arXiv 2403.10516) learn a map from views moved like these; here they
are averaged, without anything learned. The windows of Swin stay where they are in the input, so the image moves beneath
them, and their borders are averaged too. It is an average over translations and no reconstruction: what is narrower
than a step is still not seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from torch.nn.functional import pad

from vitexplorer.capturing.capture import Capture, ModelInput, capture_input
from vitexplorer.capturing.capture_batch import capture_inputs
from vitexplorer.controls import Control, QueryControl
from vitexplorer.core.sharp_map import SharpMapResult
from vitexplorer.core.text import Progress, Text
from vitexplorer.core.types import MapResult, PatchGrid

BATCH_BYTES = 128 << 20
"""Largest size of the captures that are in memory at once"""
BATCH = 8
"""Most images that go through the network at once"""
_NOTE = Text(
    "Mean of {passes} passes over the image, moved by multiples of {step} pixels.",
    "图像按 {step} 像素的倍数平移，取 {passes} 次前向传播的平均。",
)


def sharpened(
    compute: Callable[..., MapResult],
    controls: Sequence[Control],
    capture: Capture,
    settings: Mapping[str, Any],
    passes: int,
    plain: MapResult,
    goes_back: bool = False,
    progress: Progress | None = None,
) -> SharpMapResult:
    """Compute the map of a view on a grid finer by the square root of `passes`, (rows k, cols k), not rescaled.

    Args:
        compute: `compute(capture, **settings)` of the view.
        controls: controls of the view; those of query patches are found among them.
        capture: the unmoved pass.
        settings: checked settings; the target is that of the unmoved image.
        passes: 4, 16 or 64, checked by `SharpenControl`.
        plain: the map of `capture` at these settings.
        goes_back: True if the view takes plain gradients, see `View`.
        progress: called with the number of finished passes.
    """
    parts = math.isqrt(passes)
    step = plain.grid.patch_size // parts
    mean = _Mean(plain.grid, parts)
    mean.add((0, 0), plain.values)
    shifts = shift_order(parts)[1:]
    size = 1 if goes_back else max(1, min(BATCH, BATCH_BYTES // max(1, capture.nbytes)))
    for start in range(0, len(shifts), size):
        batch = shifts[start : start + size]
        in_pixels = [(i * step, j * step) for i, j in batch]
        inputs = [moved_input(capture.input, down, right) for down, right in in_pixels]
        if goes_back:
            captures = [capture_input(capture.model, moved, differentiable=True) for moved in inputs]
        else:
            captures = capture_inputs(capture.model, inputs, capture.parts)
        for shift, pixels, moved in zip(batch, in_pixels, captures, strict=True):
            mean.add(shift, compute(moved, **_followed(controls, capture, settings, pixels)).values)
        if progress:
            progress(1 + start + len(batch), passes)
    fine = PatchGrid(plain.grid.rows * parts, plain.grid.cols * parts, step, plain.grid.num_prefix_tokens)
    return SharpMapResult(
        **{name: part for name, part in vars(plain).items() if name not in ("values", "grid", "notes")},
        values=mean.values(plain.values.dtype),
        grid=fine,
        notes=(*plain.notes, _NOTE.format(passes=passes, step=step)),
        plain=plain.values,
        plain_grid=plain.grid,
        passes=passes,
    )


def shift_order(parts: int) -> list[tuple[int, int]]:
    """Order the shifts (i, j), each 0 ... parts - 1, so that the first 1, 4, 16, ... are evenly spaced."""
    spacing, order = parts, [(0, 0)]
    while spacing > 1:
        spacing //= 2
        order += [
            (i, j)
            for i in range(0, parts, spacing)
            for j in range(0, parts, spacing)
            if i % (2 * spacing) or j % (2 * spacing)
        ]
    return order


def moved_input(original: ModelInput, down: int, right: int) -> ModelInput:
    """Move an image down and right by pixels; what enters at the upper and left edge is mirrored, as by numpy."""
    height, width = original.tensor.shape[-2:]
    pixels = np.pad(original.pixels, ((down, 0), (right, 0), (0, 0)), mode="reflect")[:height, :width]
    tensor = pad(original.tensor, (right, 0, down, 0), mode="reflect")[..., :height, :width]
    return replace(original, pixels=pixels, tensor=tensor.contiguous())


def _followed(
    controls: Sequence[Control], capture: Capture, settings: Mapping[str, Any], shift: tuple[int, int]
) -> dict[str, Any]:
    """Replace each query patch by the patch that covers most of its place in the moved image."""
    followed = dict(settings)
    for control in controls:
        if isinstance(control, QueryControl) and isinstance(settings[control.name], tuple):
            grid = control.grid(capture, settings)
            row, col = (
                min(place + math.ceil(pixels / grid.patch_size - 0.5), last)
                for place, pixels, last in zip(
                    settings[control.name], shift, (grid.rows - 1, grid.cols - 1), strict=True
                )
            )
            followed[control.name] = (row, col)
    return followed


class _Mean:
    """Mean of maps on a finer grid, each put back to where its patches were in the unmoved image."""

    def __init__(self, grid: PatchGrid, parts: int):
        self._parts = parts
        self._sum = np.zeros((grid.rows * parts, grid.cols * parts))
        self._count = np.zeros_like(self._sum)

    def add(self, shift: tuple[int, int], values: np.ndarray) -> None:
        """Add the map (rows, cols) of the image moved by `shift` steps; cells without a finite number count nothing."""
        down, right = shift
        fine = values.repeat(self._parts, 0).repeat(self._parts, 1)[down:, right:].astype(float)
        rows, cols = fine.shape
        self._sum[:rows, :cols] += np.nan_to_num(fine, posinf=0, neginf=0)
        self._count[:rows, :cols] += np.isfinite(fine)

    def values(self, kind: np.dtype) -> np.ndarray:
        """Return the mean over the passes that cover each cell; NaN where none does."""
        with np.errstate(invalid="ignore"):
            return (self._sum / self._count).astype(kind)
