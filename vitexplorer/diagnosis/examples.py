"""Example check-ups: faults planted in a bundled model, its pictures or their labels, and a healthy one beside them.

The pictures are drawn scenes that no bundled model was trained on.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch

from vitexplorer.core.text import Text
from vitexplorer.models.loading import LoadedModel, load_model
from vitexplorer.models.preprocess import normalise
from vitexplorer.scenes import Scene, draw_scene
from vitexplorer.scenes.shapes import LABEL_NAMES, LABEL_NAMES_ZH

MODEL = "scenes_vit_patch16_192"
MEAN, STD = 0.5, 0.25
"""The model's own"""
PICTURES = 48
_FIRST = 20_000  # earlier scenes serve as examples elsewhere


class Case(NamedTuple):
    """Arguments of `diagnose`."""

    model: LoadedModel
    data: Any
    labels: list[int]


class Example(NamedTuple):
    """One example."""

    title: Text
    story: Text
    """Sentence on how such a fault comes about"""
    make: Callable[[], Case]
    seen: Callable[[np.ndarray], np.ndarray] = np.asarray
    """Turns a picture, uint8 RGB, into that which the model takes it for"""
    label: Callable[[int], int] = int
    """Turns the number of a class into the number that the picture is labelled with"""

    def first(self) -> tuple[np.ndarray, Text]:
        """Return the first picture as the model takes it, uint8 RGB, and the name of its label; it loads no model."""
        scene = _scene(0)
        label = self.label(scene.label)
        return self.seen(scene.image), Text(LABEL_NAMES[label], LABEL_NAMES_ZH[label])


@lru_cache(maxsize=1)
def _scenes() -> tuple[tuple[np.ndarray, ...], tuple[int, ...]]:
    scenes = [_scene(number) for number in range(PICTURES)]
    return tuple(scene.image for scene in scenes), tuple(scene.label for scene in scenes)


def _scene(number: int) -> Scene:
    return draw_scene("examples", _FIRST + number, 192)


def _healthy() -> Case:
    pictures, labels = _scenes()
    return Case(load_model(MODEL), list(pictures), list(labels))


def _not_scaled() -> Case:
    """Feed pixels from 0 to 255."""
    case = _healthy()
    return case._replace(data=torch.from_numpy(np.stack(case.data)).permute(0, 3, 1, 2).float())


def _as_pixels(pixels: np.ndarray) -> np.ndarray:
    """Return the pixels that normalise to these numbers; nearly all are white."""
    return np.clip((pixels * STD + MEAN) * 255, 0, 255).astype(np.uint8)


def _channels_last() -> Case:
    """Feed rows of (height, width, 3) as if they were planes of colour."""
    case = _healthy()
    own = case.model.preprocessing
    batch = torch.cat([normalise(picture, own.mean, own.std) for picture in case.data])
    return case._replace(data=batch.permute(0, 2, 3, 1).reshape(batch.shape))


def _in_planes(pixels: np.ndarray) -> np.ndarray:
    """Read rows of (height, width, 3) as three planes."""
    return pixels.reshape(3, *pixels.shape[:2]).transpose(1, 2, 0)


def _sorted_as_text() -> Case:
    """Number the classes in the order of their names, as a listing of folders does."""
    case = _healthy()
    return case._replace(labels=[*map(_place_by_name, case.labels)])


def _place_by_name(label: int) -> int:
    return sorted(LABEL_NAMES).index(LABEL_NAMES[label])


def _half_loaded() -> Case:
    """Leave the second half of the blocks as an initialisation leaves them."""
    case = _healthy()
    model = case.model
    fresh = dict(load_model(MODEL, weights="random").module.named_parameters())
    module = copy.deepcopy(model.module)
    sites = model.blocks(model.preprocessing.input_size)
    later = tuple(f"{site.name}." for site in sites[len(sites) // 2 :])
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if name.startswith(later):
                parameter.copy_(fresh[name])
    return case._replace(model=replace(model, module=module))


EXAMPLES: dict[str, Example] = {
    "not_scaled": Example(
        Text("Pixels from 0 to 255", "像素取值 0 到 255"),
        Text("ToTensor was left out, so that the pixels were never divided by 255.", "漏掉了把像素除以 255 的一步。"),
        _not_scaled,
        seen=_as_pixels,
    ),
    "axes_swapped": Example(
        Text("Colour axis in the wrong place", "颜色轴的位置有误"),
        Text(
            "reshape was called where permute was meant: the same numbers were only read in another shape.",
            "本应交换各轴，却只改了形状：同样的数按另一种形状读取。",
        ),
        _channels_last,
        seen=_in_planes,
    ),
    "labels_sorted_as_text": Example(
        Text("Labels from sorted folders", "按文件夹排序的标签"),
        Text(
            "Classes were numbered by the names of their folders; the model has an order of its own.",
            "类别按文件夹名称编号，而模型有自己的顺序。",
        ),
        _sorted_as_text,
        label=_place_by_name,
    ),
    "half_loaded": Example(
        Text("Half of the weights", "只有一半权重"),
        Text(
            "load_state_dict(strict=False) skipped half of the blocks without a word.",
            "load_state_dict(strict=False) 悄悄跳过了一半的块。",
        ),
        _half_loaded,
    ),
    "healthy": Example(
        Text("A healthy one", "健康的模型"),
        Text(
            "Nothing was changed: model, pictures and labels belong together.",
            "没有任何改动：模型、图像与标签彼此相符。",
        ),
        _healthy,
    ),
}
"""Four faults and a healthy model, in the order of the page"""
