"""Does a map name the parts that make the class? The part-based protocol of FunnyBirds.

Hesse, Schaub-Meyer & Roth 2023 (arXiv 2308.06248, section 4): the picture is drawn again without some parts, and the
change of the model's answer is compared with the map's importance of those parts. All scores are 0-1, high is good:

controlled_synthetic  share of a minimal sufficient set of parts that is important in the map, for the best such set
                      (pictures that the model classifies right)
preservation          the answer stays without all but the important parts
deletion_check        the answer changes without the important parts
distractibility       1 - share of the irrelevant parts and background objects that the map marks as important;
                      irrelevant: removal lowers the class's logit by less than 5 %, or raises it
background_independence  share of the background objects that are irrelevant to the model; independent of the map
single_deletion       rank correlation r of a part's importance and the fall of the logit without it, as r/2 + 1/2
target_sensitivity    two other classes share two different parts each with this one: the map of each gives its shared
                      parts more than the map of the other does (if the model's logits agree)

A part's importance is the sum of the map, spread over the patches' pixels, on the part's pixels and two pixels around.
A part is important if it has more than t of the map's sum. As in the paper's code, t is one of 80 values from 0.01 to
0.5: for each method and model, the one with the largest mean of the first three scores plus distractibility.
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
"""Share of the class's logit; a part whose removal costs less is irrelevant"""
AROUND = 5
"""Side in pixels of the square that dilates a part's mask"""

Importances = Mapping[str, float]
"""Importance of each part and background object"""


def importances(result: MapResult, masks: Mapping[str, Bool[np.ndarray, "height width"]]) -> Importances:
    """Sum a map over the dilated mask of each part."""
    side = result.grid.patch_size
    pixels = (result.values / side**2).repeat(side, 0).repeat(side, 1)
    rows, cols = pixels.shape
    square = np.ones((AROUND, AROUND), np.uint8)
    return {
        name: float((pixels * cv2.dilate(mask.astype(np.uint8), square)[:rows, :cols]).sum())
        for name, mask in masks.items()
    }


def important(sums: Importances, total: float, threshold: float) -> frozenset[str]:
    """Return the parts that have more than a share `threshold` of the map's sum `total`."""
    return frozenset(name for name, value in sums.items() if value > total * threshold)


def best_sufficient(chosen: Collection[str], sufficient: Collection[frozenset[str]]) -> float:
    """Return the largest share of a sufficient set that is among the chosen parts; 0 if there is no such set."""
    return max((len(parts & set(chosen)) / len(parts) for parts in sufficient), default=0.0)


class _Answers:
    """Answers of the model to a picture without some parts, each combination computed once."""

    def __init__(self, trial: Trial, picture: Parted):
        self._trial, self._picture = trial, picture

    def logits(self, without: Collection[str] = ()) -> Float[np.ndarray, " classes"]:
        """Return the logits of every class."""
        return self._trial.once(("without", frozenset(without)), lambda: self._run(without))

    @torch.no_grad()
    def _run(self, without: Collection[str]) -> Float[np.ndarray, " classes"]:
        prepared = prepare(self._trial.capture.model, self._picture.render(without), "squash")
        return self._trial.capture.run(prepared.tensor)[0].double().cpu().numpy()

    def answer(self, without: Collection[str] = ()) -> int:
        """Return the top class."""
        return int(self.logits(without).argmax())

    def matters(self, name: str, label: int) -> bool:
        """Return True if removing one part lowers the class's logit by at least the share `MATTERS`."""
        whole = self.logits()[label]
        without = self.logits([name])[label]
        return bool(whole - without >= abs(MATTERS * whole) and whole != without)


def part_scores(trial: Trial) -> Float[np.ndarray, "figures steps"]:
    """Compute all seven scores at each threshold; NaN for a score that a picture does not have."""
    picture = trial.case.parted
    answers = _Answers(trial, picture)
    label = picture.label
    masks = trial.once("masks", picture.masks)
    parts = tuple(picture.classes[label])
    own = importances(trial.map, {part: masks[part] for part in parts})
    things = importances(trial.map, {thing: masks[thing] for thing in picture.background})
    total = float(trial.map.values.sum())

    answer = answers.answer()
    answer_map = trial.map if answer == label else trial.explain(trial.capture, answer)
    of_answer = importances(answer_map, {part: masks[part] for part in parts})
    sufficient = sufficient_parts(picture.classes, label)
    idle = [name for name in (*parts, *picture.background) if not answers.matters(name, label)]

    rows = []
    for threshold in THRESHOLDS:
        chosen = important(own, total, threshold)
        named = important(of_answer, float(answer_map.values.sum()), threshold)
        distracted = important({**own, **things}, total, threshold) & set(idle)
        rows.append(
            (
                best_sufficient(chosen, sufficient) if answer == label else np.nan,
                float(answers.answer(set(parts) - named) == answer),
                float(answers.answer(named) != answer),
                1 - len(distracted) / len(idle) if idle else np.nan,
            )
        )
    steady = (
        np.mean([not answers.matters(thing, label) for thing in picture.background]) if picture.background else np.nan,
        single_deletion(answers, own, label),
        target_sensitivity(trial, answers, masks),
    )
    return np.concatenate([np.array(rows).T, np.repeat(np.array(steady)[:, None], len(THRESHOLDS), 1)])


def single_deletion(answers: _Answers, own: Importances, label: int) -> float:
    """Compute the rank correlation of importance and fall of the logit, scaled to 0-1; NaN if either is constant."""
    falls = np.array([answers.logits()[label] - answers.logits([part])[label] for part in own])
    return spearman(np.array(list(own.values())), falls) / 2 + 0.5


def target_sensitivity(trial: Trial, answers: _Answers, masks: Mapping[str, np.ndarray]) -> float:
    """Return the share of two opposed classes whose shared parts get more from their own map; NaN if there are none.

    NaN also if the model's logits do not agree: removing a class's shared parts must lower its own logit more than
    removing the other's.
    """
    picture = trial.case.parted
    pair = opposed_classes(picture.classes, picture.label)
    if pair is None:
        return np.nan
    shared = [shared_parts(picture.classes, picture.label, other) for other in pair]
    without = [answers.logits(parts) for parts in shared]
    if not (without[0][pair[0]] < without[1][pair[0]] and without[1][pair[1]] < without[0][pair[1]]):
        return np.nan
    maps = [importances(trial.explain(trial.capture, other), masks) for other in pair]
    sums = [[sum(importance[part] for part in parts) for parts in shared] for importance in maps]
    return float(np.mean([sums[0][0] > sums[1][0], sums[1][1] > sums[0][1]]))


def best_threshold(means: Float[np.ndarray, "figures steps"]) -> int:
    """Return the index of the threshold with the largest mean of the first three scores plus distractibility."""
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
    reads_answer=True,
    choose=best_threshold,
)
