"""Default preprocessing for files that state none: that of the weights their library ships."""

from __future__ import annotations

from typing import Any

from timm.data import (
    IMAGENET_DEFAULT_MEAN,
    IMAGENET_DEFAULT_STD,
    IMAGENET_INCEPTION_MEAN,
    IMAGENET_INCEPTION_STD,
    OPENAI_CLIP_MEAN,
    OPENAI_CLIP_STD,
)
from torchvision.models import get_model_weights, list_models
from torchvision.transforms._presets import ImageClassification

from vitexplorer.core.text import Text

IMAGENET = {"mean": IMAGENET_DEFAULT_MEAN, "std": IMAGENET_DEFAULT_STD}
BICUBIC = {**IMAGENET, "interpolation": "bicubic"}
HALF = {"mean": IMAGENET_INCEPTION_MEAN, "std": IMAGENET_INCEPTION_STD}
OPENAI = {"mean": OPENAI_CLIP_MEAN, "std": OPENAI_CLIP_STD, "interpolation": "bicubic", "crop_pct": 1.0}
GUESSED = Text(
    "The file does not say how images are prepared for it; the usual way for models of its kind is assumed.",
    "文件没有说明图像应如何预处理；此处采用同类模型的通常做法。",
)


def torchvision_preprocessing(name: str, size: int | None = None) -> dict[str, Any]:
    """Return the preprocessing of torchvision's first weights of a model, for images of `size` pixels if given.

    For a name unknown to torchvision, return mean and std only.
    """
    for weights in get_model_weights(name) if name in list_models() else ():
        prepared = weights.transforms()
        if isinstance(prepared, ImageClassification) and size in (None, prepared.crop_size[0]):
            return {
                "mean": tuple(prepared.mean),
                "std": tuple(prepared.std),
                "interpolation": prepared.interpolation.value,
                "crop_pct": prepared.crop_size[0] / prepared.resize_size[0],
            }
    return IMAGENET
