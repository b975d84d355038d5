"""Perturbed images: baselines, patches exchanged for them, and many images run in batches.

A part of an image cannot be removed, only replaced, and the replacement is part of every answer. Three baselines: the
mean colour of the data set (zero after normalisation), black, and the image itself blurred.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torchvision.transforms.functional import gaussian_blur

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Choice
from vitexplorer.core.text import Progress, Text
from vitexplorer.core.types import PatchGrid

BATCH = 16
"""Images that go through the network at once"""
BLUR = 20
"""Shorter side divided by the standard deviation of the blur: 11 pixels for 224"""

BASELINE = Choice(
    "baseline",
    Text("Baseline", "基线"),
    (
        ("mean", Text("mean colour", "平均颜色")),
        ("black", Text("black", "黑色")),
        ("blur", Text("blurred image", "模糊图像")),
    ),
)
"""Control that chooses the baseline"""
_IN_WORDS = {
    "mean": Text(
        "the mean colour of the training data (zero after normalisation)", "训练数据的平均颜色（归一化后为零）"
    ),
    "black": Text("black", "黑色"),
    "blur": Text("the image blurred with σ = {sigma} pixels", "以 σ = {sigma} 像素模糊后的图像"),
}


def blur_sigma(capture: Capture) -> int:
    """Return the standard deviation of the blur in pixels."""
    return max(1, min(capture.input.tensor.shape[-2:]) // BLUR)


def baseline_image(capture: Capture, kind: str) -> Float[Tensor, "1 channels height width"]:
    """Return the normalised image that stands for "nothing there": one of `BASELINE`'s options."""
    image = capture.input.tensor
    if kind == "mean":
        return torch.zeros_like(image)
    if kind == "black":
        preprocessing = capture.model.preprocessing
        black = [-mean / std for mean, std in zip(preprocessing.mean, preprocessing.std, strict=True)]
        return image.new_tensor(black)[None, :, None, None].expand_as(image).clone()
    sigma = blur_sigma(capture)
    length, sigmas = 6 * sigma + 1, [float(sigma)] * 2
    along_rows = gaussian_blur(image, [length, 1], sigmas)  # a square kernel multiplies length^2 numbers a pixel
    return gaussian_blur(along_rows, [1, length], sigmas)


def baseline_text(capture: Capture, kind: str) -> Text:
    """Return a baseline in words, for notes."""
    return _IN_WORDS[kind].format(sigma=blur_sigma(capture))


def patch_of_pixel(grid: PatchGrid, height: int, width: int) -> Int[Tensor, "height width"]:
    """Return the patch of each pixel, row by row; `grid.num_patches` for pixels beyond the last whole patch."""
    row = torch.arange(height)[:, None] // grid.patch_size
    col = torch.arange(width)[None, :] // grid.patch_size
    return torch.where((row < grid.rows) & (col < grid.cols), row * grid.cols + col, grid.num_patches)


def patch_sums(pixels: Float[Tensor, "height width"], grid: PatchGrid) -> Float[Tensor, " patches"]:
    """Sum a map of pixels over each patch; pixels beyond the last whole patch are left out."""
    at = patch_of_pixel(grid, *pixels.shape).flatten().to(pixels.device)
    return pixels.new_zeros(grid.num_patches + 1).index_add_(0, at, pixels.flatten())[:-1]


class Runs:
    """The network of a capture as a function of images, which counts them for the progress of a `total`.

    `network` is another function of the images than the capture's logits.
    """

    def __init__(
        self,
        capture: Capture,
        total: int,
        progress: Progress | None = None,
        network: Callable[[Tensor], Tensor] | None = None,
    ):
        self._network = network or capture.run
        self._total = total
        self._progress = progress
        self._done = 0

    def __call__(self, images: Float[Tensor, "batch channels height width"]) -> Float[Tensor, "..."]:
        """Run the network on a batch: logits, or the value of another `network`."""
        output = self._network(images)
        self._done += len(images)
        if self._progress:
            self._progress(min(self._done, self._total), self._total)
        return output


@torch.no_grad()
def run_exchanged(
    runs: Runs,
    image: Float[Tensor, "1 channels height width"],
    other: Float[Tensor, "1 channels height width"],
    exchanged: Bool[Tensor, "images height width"],
) -> Float[Tensor, "images ..."]:
    """Compute what `runs` gives for the image with pixels exchanged for those of another, a batch at a time."""
    return torch.cat([runs(torch.where(masks[:, None], other, image)) for masks in exchanged.split(BATCH)])
