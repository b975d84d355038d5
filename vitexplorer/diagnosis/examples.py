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
from vitexplorer.scenes import draw_scene

MODEL = "scenes_vit_patch16_192"
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


@lru_cache(maxsize=1)
def _scenes() -> tuple[tuple[np.ndarray, ...], tuple[int, ...]]:
    scenes = [draw_scene("examples", _FIRST + number, 192) for number in range(PICTURES)]
    return tuple(scene.image for scene in scenes), tuple(scene.label for scene in scenes)


def _fed(model: LoadedModel) -> torch.Tensor:
    own = model.preprocessing
    return torch.cat([normalise(picture, own.mean, own.std) for picture in _scenes()[0]])


def _healthy() -> Case:
    pictures, labels = _scenes()
    return Case(load_model(MODEL), list(pictures), list(labels))


def _not_scaled() -> Case:
    """Feed pixels from 0 to 255."""
    pictures, labels = _scenes()
    batch = torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2).float()
    return Case(load_model(MODEL), batch, list(labels))


def _channels_last() -> Case:
    """Feed rows of (height, width, 3) as if they were planes of colour."""
    model = load_model(MODEL)
    batch = _fed(model)
    return Case(model, batch.permute(0, 2, 3, 1).reshape(batch.shape), list(_scenes()[1]))


def _sorted_as_text() -> Case:
    """Number the classes in the order of their names, as a listing of folders does."""
    model, (pictures, labels) = load_model(MODEL), _scenes()
    place = {int(number): at for at, number in enumerate(np.argsort(np.array(model.class_names), kind="stable"))}
    return Case(model, list(pictures), [place[label] for label in labels])


def _half_loaded() -> Case:
    """Leave the second half of the blocks as an initialisation leaves them."""
    model, (pictures, labels) = load_model(MODEL), _scenes()
    fresh = dict(load_model(MODEL, weights="random").module.named_parameters())
    module = copy.deepcopy(model.module)
    sites = model.blocks(model.preprocessing.input_size)
    later = tuple(f"{site.name}." for site in sites[len(sites) // 2 :])
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if name.startswith(later):
                parameter.copy_(fresh[name])
    return Case(replace(model, module=module), list(pictures), list(labels))


EXAMPLES: dict[str, Example] = {
    "not_scaled": Example(
        Text("Pixels from 0 to 255", "像素取值 0 到 255"),
        Text(
            "ToTensor was left out, so that the pixels were never divided by 255.",
            "漏掉了把像素除以 255 的一步。",
        ),
        _not_scaled,
    ),
    "axes_swapped": Example(
        Text("Colour axis in the wrong place", "颜色轴的位置有误"),
        Text(
            "reshape was called where permute was meant: the same numbers were only read in another shape.",
            "本应交换各轴，却只改了形状：同样的数按另一种形状读取。",
        ),
        _channels_last,
    ),
    "labels_sorted_as_text": Example(
        Text("Labels from sorted folders", "按文件夹排序的标签"),
        Text(
            "Classes were numbered by the names of their folders; the model has an order of its own.",
            "类别按文件夹名称编号，而模型有自己的顺序。",
        ),
        _sorted_as_text,
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
