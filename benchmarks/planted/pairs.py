"""Healthy pairs of a model and pictures that it knows, in which faults are planted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import cv2
import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

import vitexplorer as vx
from benchmarks.planted.case import Case, fed_right
from vitexplorer.core.settings import ASSETS
from vitexplorer.diagnosis.features import features_of
from vitexplorer.models.loading import LoadedModel
from vitexplorer.scenes import draw_scene
from vitexplorer.scenes.creatures import Creature
from vitexplorer.scenes.shapes import LABEL_NAMES
from vitexplorer.scenes.worded import COLOURS, draw_worded

VIT, CREATURES, DINO = "scenes_vit_patch16_192", "creatures_vit_patch16_192", "scenes_dino_patch16_192"
CLIP, REGISTERS = "scenes_clip", "scenes_several_vit_reg4_patch16_192"
MODELS = (
    VIT,
    "scenes_deit_patch16_192",
    "scenes_swin_patch4_window6_192",
    "probed",
    "colours",
    "wrapped",
    CREATURES,
    DINO,
    "fine-tuned",
    REGISTERS,
)
"""Names of the pairs: bundled models, of which DINO has no classes; "probed" and "colours", DINO and CLIP with a probe
for shapes and one for colours; a wrapped module; one that was fine-tuned on photographs; and one with registers"""
PHOTOGRAPHS = ("astronaut", "chelsea", "coffee")
_OF_TRAINING = 48
"""Pictures of a class that the fine-tuned model has seen"""

Drawn = tuple[tuple[np.ndarray, ...], tuple[int, ...]]
"""Pictures and their labels"""
Draw = Callable[[int, int], Drawn]
"""Function from a seed and a count"""


def pairs(names: list[str]) -> dict[str, Callable[[int, int], Case]]:
    """Return makers of pairs, by name; each takes a seed and the number of pictures."""
    made = {name: _pair(name) for name in names}
    return {
        name: lambda seed, count, model=model, draw=draw: _balanced(Case(model, *draw(seed, count)))
        for name, (model, draw) in made.items()
    }


def _balanced(case: Case) -> Case:
    """Leave out classes that are ten times rarer than the commonest, by the chance of the draw."""
    counts = [case.labels.count(label) for label in case.labels]
    return case.only([at for at, count in enumerate(counts) if 10 * count > max(counts)])


def _pair(name: str) -> tuple[LoadedModel, Draw]:
    if name == "probed":
        return _probed(DINO, _scenes, LABEL_NAMES), _scenes
    if name == "colours":
        return _probed(CLIP, _coloured, COLOURS), _coloured
    if name == "wrapped":
        plain = vx.load_model(VIT)
        own = plain.preprocessing
        return vx.wrap(plain.module, mean=own.mean, std=own.std, labels=list(plain.class_names)), _scenes
    if name == "fine-tuned":
        return _fine_tuned(), _photographs
    return vx.load_model(name), _creatures if name == CREATURES else _scenes


# ----------------------------------------------------------------------------------------------- pictures


def _scenes(seed: int, count: int) -> Drawn:
    """Draw scenes that no bundled model was trained on."""
    drawn = [draw_scene("examples", 40_000 + 1000 * seed + number, 192) for number in range(count)]
    return tuple(scene.image for scene in drawn), tuple(scene.label for scene in drawn)


def _creatures(seed: int, count: int) -> Drawn:
    drawn = [Creature("test", 40_000 + 1000 * seed + number, 192) for number in range(count)]
    return tuple(creature.render() for creature in drawn), tuple(creature.label for creature in drawn)


def _coloured(seed: int, count: int) -> Drawn:
    """Draw scenes of one thing, whose colour is the label."""
    drawn = [draw_worded("examples", 40_000 + 1000 * seed + number, 192, count=1) for number in range(count)]
    return tuple(scene.image for scene in drawn), tuple(scene.things[0].colour for scene in drawn)


def _photographs(seed: int, count: int) -> Drawn:
    """Cut squares out of quarters of photographs; each quarter is a class."""
    rng = np.random.default_rng(40_000 + seed)
    quarters = [
        picture[top * len(picture) // 2 :][: len(picture) // 2, left * picture.shape[1] // 2 :][
            :, : picture.shape[1] // 2
        ]
        for picture in (
            np.asarray(Image.open(ASSETS / "examples" / f"{name}.png").convert("RGB")) for name in PHOTOGRAPHS
        )
        for top in (0, 1)
        for left in (0, 1)
    ]
    pictures, labels = [], []
    for at in range(count):
        label = at % len(quarters)
        quarter = quarters[label]
        side = int(rng.uniform(0.6, 0.9) * min(quarter.shape[:2]))
        top, left = (int(rng.integers(0, length - side + 1)) for length in quarter.shape[:2])
        pictures.append(cv2.resize(quarter[top : top + side, left : left + side], (192, 192)))
        labels.append(label)
    return tuple(pictures), tuple(labels)


# ----------------------------------------------------------------------------------------------- models


class _WithProbe(nn.Module):
    """Backbone with a linear classifier on its features."""

    def __init__(self, backbone: nn.Module, head: nn.Linear):
        super().__init__()
        self.backbone, self.head = backbone, head

    def forward(self, images: Tensor) -> Tensor:
        return self.head(self.backbone(images))


def _probed(name: str, draw: Draw, labels: Sequence[str]) -> LoadedModel:
    """Return a model with a probe that was fitted to pictures, as a wrapped module."""
    from sklearn.linear_model import LogisticRegression

    model = vx.load_model(name)
    case = Case(model, *draw(-1, 600))
    features = features_of(model.module, fed_right(case), 0)
    probe = LogisticRegression(max_iter=500, C=1.0).fit(features, case.labels)
    head = nn.Linear(features.shape[1], len(labels))
    with torch.no_grad():
        head.weight.zero_()[probe.classes_] = torch.from_numpy(probe.coef_).float()
        head.bias.fill_(-100)[probe.classes_] = torch.from_numpy(probe.intercept_).float()
    own = model.preprocessing
    return vx.wrap(_WithProbe(model.module, head).eval(), mean=own.mean, std=own.std, labels=list(labels))


def _fine_tuned() -> LoadedModel:
    """Return a ViT whose last two blocks were fine-tuned on a folder of parts of photographs."""
    with TemporaryDirectory() as place:
        pictures, labels = _photographs(-1, _OF_TRAINING * 4 * len(PHOTOGRAPHS))
        for at, (picture, label) in enumerate(zip(pictures, labels, strict=True)):
            file = Path(place, "parts", f"{label:02}", f"{at}.png")
            file.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(picture).save(file)
        result = vx.finetune(Path(place, "parts"), VIT, "partial_k", 8, Path(place, "run"), k=2, augmentation="none")
        return result.model
