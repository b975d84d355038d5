"""Pixel prompt: a learned frame added to the border of every image (Bahng et al. 2022, arXiv 2203.17274).

2 C w (H + W - 2w) parameters for a frame of w pixels around C x H x W; initialised to 0, on the normalised image. The
input size is then fixed: the frame belongs to it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vitexplorer.controls import Number
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import SettingError, Text, UnsupportedError
from vitexplorer.finetune.method import PETL, Method
from vitexplorer.finetune.parts.hanging import hang_before
from vitexplorer.models.family import ModelFamily
from vitexplorer.models.loading import LoadedModel


class PixelFrame(nn.Module):
    """Four strips: top and bottom over the whole width, left and right between them."""

    def __init__(self, channels: int, size: tuple[int, int], pad: int):
        super().__init__()
        height, width = size
        self.size = size
        self.top, self.bottom = (nn.Parameter(torch.zeros(channels, pad, width)) for _ in range(2))
        self.left, self.right = (nn.Parameter(torch.zeros(channels, height - 2 * pad, pad)) for _ in range(2))

    def forward(
        self, images: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch channels height width"]:
        """Add the frame to the images. Raises UnsupportedError for another image size."""
        if tuple(images.shape[-2:]) != self.size:
            raise UnsupportedError(
                Text(
                    "The pixel prompt was learned for {height} x {width} pixels and fits no other size.",
                    "像素提示是针对 {height} x {width} 像素学习的，不适用于其他尺寸。",
                ).format(height=self.size[0], width=self.size[1])
            )
        pad = self.top.shape[1]
        inner = images.new_zeros(len(self.top), self.size[0] - 2 * pad, self.size[1] - 2 * pad)
        middle = torch.cat([self.left, inner, self.right], dim=2)
        return images + torch.cat([self.top, middle, self.bottom], dim=1)


def inject(model: LoadedModel, pad: int) -> LoadedModel:
    """Add the frame before the patch embedding. Raises SettingError if it would cover the whole image."""
    size = model.preprocessing.input_size
    if 2 * pad >= min(size):
        raise SettingError(
            Text(
                "pad must be less than {half:g}, half the side of the image, not {pad}.",
                "pad 必须小于图像边长的一半（{half:g}），而不是 {pad}。",
            ).format(half=min(size) / 2, pad=pad)
        )
    hang_before(model.module.patch_embed, "pixels", PixelFrame(len(model.preprocessing.mean), size, pad))
    return replace(model, family=_of_one_size(model.family))


def _of_one_size(family: ModelFamily) -> ModelFamily:
    kind: Any = type(family)  # a base class known only at run time

    class OfOneSize(kind):
        def size_multiple(self, module: nn.Module) -> None:
            return None

        def size_step(self, module: nn.Module) -> None:
            return None

    return OfOneSize()


METHOD = Method(
    title=Text("Pixel prompt", "像素提示"),
    sentence=Text(
        "Learns a frame of pixels that is added to the border of every image; the model stays as it is.",
        "学习一圈像素，加在每幅图像的边缘，模型本身不变。",
    ),
    inject=inject,
    recipe=PETL,
    controls=(Number("pad", Text("Width of the frame in pixels", "边框宽度（像素）"), 1, 512, 30, step=1, whole=True),),
    paper=Paper("Bahng et al. 2022", "https://arxiv.org/abs/2203.17274"),
)
