"""Does a map name the parts that make the class? The part-based protocol of FunnyBirds.

Hesse, Schaub-Meyer & Roth 2023 (arXiv 2308.06248, section 4): parts are taken away by drawing the picture again, and
what the model then says is held against how much the map gives each part. All numbers are 0-1, high is good:

controlled_synthetic  of the smallest sets of parts that tell the class from all others, the one that the important
                      parts of the map hold most of: how much (pictures that the model names right)
preservation          whether the answer stays when all parts but the important ones go
deletion_check        whether the answer changes when the important ones go
distractibility       1 - share of what does not matter to the model that the map calls important; what is taken away at
                      less than 5 % of the class's logit, or to its gain, does not matter, things of the background too
background_independence  share of the things of the background that do not matter to the model: of the model, not a map
single_deletion       rank correlation of a part's importance and what taking it away takes from the logit, r/2 + 1/2
target_sensitivity    two other classes share two parts each with this one, not the same: whether the map for either
                      gives its own shared parts more than the map for the other does (where the model's logits agree)

A part's importance is what the map, spread over its patches' pixels, gives the part's pixels and two pixels around. A
part is important that has more than t of the whole map's sum. As in the paper's code t is one of 80 from 0.01 to 0.5,
and for each method and model that one is taken at which the mean of the first three plus distractibility is largest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import cv2
import numpy as np
import torch
from jaxtyping import Bool, Float

from vitexplorer.capturing.capture import prepare
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.core.types import MapResult
from vitexplorer.evaluation.case import Trial
from vitexplorer.evaluation.parted import Parted, opposed_classes, shared_parts, sufficient_parts
from vitexplorer.evaluation.protocol import Column, Protocol
from vitexplorer.evaluation.ranks import spearman

THRESHOLDS = np.linspace(0.01, 0.5, 80)
MATTERS = 0.05
"""of the class's logit: what less is taken away does not matter"""
AROUND = 5
"""side of the square, in pixels, by which a part's mask is widened"""

Importances = Mapping[str, float]
"""of each part and thing of the background"""


def importances(result: MapResult, masks: Mapping[str, Bool[np.ndarray, "height width"]]) -> Importances:
    """What a map gives to the pixels of each part and around them."""
    side = result.grid.patch_size
    pixels = (result.values / side**2).repeat(side, 0).repeat(side, 1)
    rows, cols = pixels.shape
    square = np.ones((AROUND, AROUND), np.uint8)
    return {
        name: float((pixels * cv2.dilate(mask.astype(np.uint8), square)[:rows, :cols]).sum())
        for name, mask in masks.items()
    }


def important(found: Importances, total: float, threshold: float) -> frozenset[str]:
    """The parts that have more than this share of the whole map."""
    return frozenset(name for name, value in found.items() if value > total * threshold)


def best_sufficient(chosen: Collection[str], sufficient: Collection[frozenset[str]]) -> float:
    """The largest share of a sufficient set that is among the chosen parts; 0 where there is none."""
    return max((len(one & set(chosen)) / len(one) for one in sufficient), default=0.0)


class _Asked:
    """What the model says of a picture without some parts, each combination asked once."""

    def __init__(self, trial: Trial, picture: Parted):
        self._trial, self._picture = trial, picture

    def logits(self, without: Collection[str] = ()) -> Float[np.ndarray, " classes"]:
        """Of every class."""
        return self._trial.once(("without", frozenset(without)), lambda: self._run(without))

    @torch.no_grad()
    def _run(self, without: Collection[str]) -> Float[np.ndarray, " classes"]:
        given = prepare(self._trial.capture.model, self._picture.render(without), "squash")
        return self._trial.capture.run(given.tensor)[0].double().cpu().numpy()

    def answer(self, without: Collection[str] = ()) -> int:
        """The likeliest class."""
        return int(self.logits(without).argmax())

    def matters(self, name: str, label: int) -> bool:
        """Whether taking one thing away takes its share from the class's logit."""
        whole = self.logits()[label]
        return bool(whole - self.logits([name])[label] >= abs(MATTERS * whole) and whole != self.logits([name])[label])


def part_scores(trial: Trial) -> Float[np.ndarray, "figures steps"]:
    """All seven at each threshold; NaN where a picture says nothing of one."""
    picture = trial.case.parted
    asked, label = _Asked(trial, picture), picture.label
    masks = trial.once("masks", picture.masks)
    parts = tuple(picture.classes[label])
    own = importances(trial.map, {part: masks[part] for part in parts})
    things = importances(trial.map, {thing: masks[thing] for thing in picture.background})
    total = float(trial.map.values.sum())

    answer = asked.answer()
    said = trial.map if answer == label else trial.explain(trial.capture, answer)
    of_answer = importances(said, {part: masks[part] for part in parts})
    sufficient = sufficient_parts(picture.classes, label)
    idle = [name for name in (*parts, *picture.background) if not asked.matters(name, label)]

    rows = []
    for threshold in THRESHOLDS:
        chosen = important(own, total, threshold)
        named = important(of_answer, float(said.values.sum()), threshold)
        distracted = important({**own, **things}, total, threshold) & set(idle)
        rows.append(
            (
                best_sufficient(chosen, sufficient) if answer == label else np.nan,
                float(asked.answer(set(parts) - named) == answer),
                float(asked.answer(named) != answer),
                1 - len(distracted) / len(idle) if idle else np.nan,
            )
        )
    steady = (
        np.mean([not asked.matters(thing, label) for thing in picture.background]) if picture.background else np.nan,
        single_deletion(asked, own, label),
        target_sensitivity(trial, asked, masks),
    )
    return np.concatenate([np.array(rows).T, np.repeat(np.array(steady)[:, None], len(THRESHOLDS), 1)])


def single_deletion(asked: _Asked, own: Importances, label: int) -> float:
    """Rank correlation of importance and what each part takes along, on 0-1; NaN where either does not vary."""
    falls = np.array([asked.logits()[label] - asked.logits([part])[label] for part in own])
    return spearman(np.array(list(own.values())), falls) / 2 + 0.5


def target_sensitivity(trial: Trial, asked: _Asked, masks: Mapping[str, np.ndarray]) -> float:
    """Of two opposed classes, the share whose shared parts get more from their own map; NaN where there are none.

    NaN also where the model itself does not take more from a class with its own shared parts than with the other's.
    """
    picture = trial.case.parted
    pair = opposed_classes(picture.classes, picture.label)
    if pair is None:
        return np.nan
    shared = [shared_parts(picture.classes, picture.label, other) for other in pair]
    without = [asked.logits(parts) for parts in shared]
    if not (without[0][pair[0]] < without[1][pair[0]] and without[1][pair[1]] < without[0][pair[1]]):
        return np.nan
    maps = [importances(trial.explain(trial.capture, other), masks) for other in pair]
    given = [[sum(found[part] for part in parts) for parts in shared] for found in maps]
    return float(np.mean([given[0][0] > given[1][0], given[1][1] > given[0][1]]))


def best_threshold(means: Float[np.ndarray, "figures steps"]) -> int:
    """The threshold at which completeness, the mean of the first three, plus distractibility is largest."""
    return int(np.nan_to_num(means[:3].mean(0) + means[3], nan=-1).argmax())


PROTOCOL = Protocol(
    title=Text("Parts", "部件"),
    question=Text("Does the map name the parts that make the class?", "该图是否指出了决定该类别的部件？"),
    columns=(
        Column("controlled_synthetic", Text("sufficient parts", "充分部件"), "high"),
        Column("preservation", Text("preservation", "保留检验"), "high"),
        Column("deletion_check", Text("deletion check", "删除检验"), "high"),
        Column("distractibility", Text("distractibility", "抗干扰"), "high"),
        Column("background_independence", Text("background", "背景独立"), "high"),
        Column("single_deletion", Text("single deletion", "单部件删除"), "high"),
        Column("target_sensitivity", Text("target", "目标敏感"), "high"),
    ),
    measure=part_scores,
    data="parted",
    paper=Paper("Hesse et al. 2023, section 4", "https://arxiv.org/abs/2308.06248"),
    suits=lambda case: case.parted is not None,
    targets=100,
    targets_of_slow=30,
    compares_classes=True,
    choose=best_threshold,
)
