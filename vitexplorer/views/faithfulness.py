"""Does a map know which patches the model uses? Take them away, or put them back, in the order the map gives.

Deletion and insertion (Petsiuk et al. 2018, arXiv 1806.07421), by patches. Deletion: the patches that the map ranks
highest turn into the mean colour first; a map that knows them makes the probability of the class fall early, and the
area under the curve is small. Insertion: a blurred image gets its patches back in the same order; the area is large.
Areas by the trapezoid rule over the share of patches really exchanged. Patches that a map ranks alike (a map may be
zero in many places) go in a seeded random order, so that none gains from where it lies. Random order is always there.

Maps on a finer grid than the last block's (Swin) are summed over its cells.
Misleading: both curves show the model images like none it was trained on, and one image proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from vitexplorer.capture import Capture
from vitexplorer.controls import Number, Several, TargetControl
from vitexplorer.errors import SettingError, UnsupportedError
from vitexplorer.explored import Explored, without_classifier
from vitexplorer.interfaces import Paper, View
from vitexplorer.numbers import measured
from vitexplorer.progress import Progress
from vitexplorer.quantities.perturbation import Runs, baseline_image, baseline_text, patch_of_pixel, run_exchanged
from vitexplorer.quantities.targets import class_text, explained
from vitexplorer.registry import unknown_name
from vitexplorer.types import FaithfulnessResult, MapResult, PatchGrid
from vitexplorer.words import Text

TITLE = Text("Faithfulness", "忠实度")
CURVES = ("deletion", "insertion")
RANDOM = "random"
"""the view whose map gives the order that every other one is held against"""
NO_ORDER = Text(
    "{title} gives every patch the same number here, so its order is a random one too.",
    "{title} 在这里给所有图块同样的数值，因此它的顺序也是随机的。",
)


# ------------------------------------------------------------------------------------------------ the control


def _methods() -> dict[str, View]:
    """The views that draw one map of the image for this room; asked when needed, as a view knows no other view."""
    from vitexplorer.views import VIEWS

    return {key: view for key, view in VIEWS.items() if view.room == "flow" and view.compute is not compute}


@dataclass(frozen=True)
class MethodsControl(Several):
    """Several methods, by their views' names; random order joins them in any case."""

    name: str = "methods"
    label: Text = Text("Methods", "方法")

    @property
    def options(self) -> tuple[tuple[str, Text], ...]:
        """Every method with its title."""
        return tuple((key, view.title) for key, view in _methods().items())

    def offered(self, capture: Explored) -> tuple[tuple[str, Text], ...]:
        """Those that have a meaning for this model."""
        return tuple((key, view.title) for key, view in _methods().items() if view.refuses(capture) is None)

    def default(self, capture: Explored) -> tuple[str, ...]:
        """Those that have a meaning for this model and need few passes through it."""
        return tuple(key for key, view in _methods().items() if view.runs != "many" and view.refuses(capture) is None)

    def parse(self, value: Any, capture: Explored, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Names in a sequence or with commas between them, each once, random order last."""
        if isinstance(value, str):
            value = [name.strip() for name in value.split(",") if name.strip()]
        if not isinstance(value, Sequence):
            raise SettingError(
                Text("methods must be names of views, not {value}.", "methods 必须是视图名称，而不是 {value}。").format(
                    value=repr(value)
                )
            )
        known = _methods()
        for name in value:
            if name not in known:
                raise unknown_name("view", name, known)
            if (reason := known[name].refuses(capture)) is not None:
                raise UnsupportedError(reason)
        return (*(name for name in dict.fromkeys(value) if name != RANDOM), RANDOM)


# ------------------------------------------------------------------------------------------------ curves and areas


def coarsened(values: Float[np.ndarray, "rows cols"], fine: PatchGrid, coarse: PatchGrid) -> np.ndarray:
    """A map summed over the cells of a coarser grid, (coarse rows, coarse cols)."""
    ratio = coarse.patch_size // fine.patch_size
    out = np.zeros((coarse.rows, coarse.cols))
    np.add.at(out, (np.arange(fine.rows)[:, None] // ratio, np.arange(fine.cols)[None, :] // ratio), values)
    return out


def ranking(values: Float[np.ndarray, "rows cols"], seed: int) -> Int[np.ndarray, " patches"]:
    """Patches from the highest value to the lowest; equal ones in a random order that the seed gives."""
    return np.lexsort((np.random.default_rng(seed).permutation(values.size), -values.ravel()))


def step_counts(patches: int, steps: int) -> Int[np.ndarray, " steps"]:
    """How many patches are exchanged at each point: none, then equal steps as whole numbers have them, then all."""
    return np.unique(np.rint(np.linspace(0, patches, steps + 1)).astype(int))


def first_ones(order: Int[np.ndarray, " patches"], counts: Int[np.ndarray, " steps"]) -> Bool[np.ndarray, "steps more"]:
    """For each count, which patches are among the first of the order; one more place for what belongs to no patch."""
    place = np.empty(len(order) + 1, int)
    place[order], place[-1] = np.arange(len(order)), len(order)
    return place[None, :] < counts[:, None]


def areas_under(
    values: Float[np.ndarray, "methods curves steps"], shares: Float[np.ndarray, " steps"]
) -> Float[np.ndarray, "methods curves"]:
    """Trapezoids over the true share of patches."""
    return ((values[..., 1:] + values[..., :-1]) / 2 * np.diff(shares)).sum(-1)


# ------------------------------------------------------------------------------------------------ the view


def maps_of(capture: Capture, target: int, methods: tuple[str, ...], seed: int, progress: Progress) -> list[MapResult]:
    """The map of each method for the class, other controls at their defaults."""
    from vitexplorer import views

    maps = []
    for name in methods:
        controls = {control.name for control in views.VIEWS[name].controls}
        wanted = {key: value for key, value in {"target": target, "seed": seed}.items() if key in controls}
        maps.append(views.compute(name, capture, progress=progress, **wanted))
    return maps


def probabilities(
    runs: Runs,
    capture: Capture,
    target: int,
    other: Float[Tensor, "1 channels height width"],
    exchanged: Bool[Tensor, "images height width"],
) -> Float[np.ndarray, " images"]:
    """Probability of the class for the image with pixels exchanged for another's."""
    logits = run_exchanged(runs, capture.input.tensor, other, exchanged)
    return logits.softmax(-1)[:, target].double().cpu().numpy()


def compute(
    capture: Capture, target: int, methods: tuple[str, ...], steps: int, seed: int, progress: Progress | None = None
) -> FaithfulnessResult:
    """Probability of the class along both curves of each method, (methods, curves, steps), and the areas under them."""
    grid, image = capture.grid(capture.depth - 1), capture.input.tensor
    counts = step_counts(grid.num_patches, steps)
    most = len(methods) * len(CURVES) * len(counts)
    maps = maps_of(capture, target, methods, seed, lambda done, of: progress(0, most) if progress else None)
    on_grid = [coarsened(result.values, result.grid, grid) for result in maps]

    first = np.concatenate([first_ones(ranking(values, seed), counts) for values in on_grid])
    different, place = np.unique(first, axis=0, return_inverse=True)  # all curves begin and end alike
    at = patch_of_pixel(grid, *image.shape[-2:])
    ranked_first = torch.from_numpy(different)[:, at].to(image.device)
    runs = Runs(capture, len(CURVES) * len(different), progress)
    deletion = probabilities(runs, capture, target, baseline_image(capture, "mean"), ranked_first)
    insertion = probabilities(runs, capture, target, baseline_image(capture, "blur"), ~ranked_first)
    curves = [curve[place.ravel()].reshape(len(methods), len(counts)) for curve in (deletion, insertion)]

    values, shares = np.stack(curves, axis=1), counts / grid.num_patches
    flat = [result.title for result, cells in zip(maps, on_grid, strict=True) if np.ptp(cells) == 0]
    return FaithfulnessResult(
        view="faithfulness",
        title=TITLE,
        values=values,
        axes=("methods", "curves", "steps"),
        unit=Text("probability of the class", "该类别的概率"),
        formula=Text("∫ p(class) d(share of patches exchanged)", "∫ p（类别）d（已替换图块的比例）"),
        provenance=capture.provenance,
        settings={"target": target, "methods": methods, "steps": steps, "seed": seed},
        notes=(
            class_text(explained(capture, target)),
            Text("Deleted patches become {baseline}.", "被删除的图块换成{baseline}。").format(
                baseline=baseline_text(capture, "mean")
            ),
            Text("Insertion begins with {baseline}.", "插入从{baseline}开始。").format(
                baseline=baseline_text(capture, "blur")
            ),
            *(NO_ORDER.format(title=title) for title in flat),
        ),
        target=explained(capture, target),
        methods=methods,
        titles=tuple(result.title for result in maps),
        curves=CURVES,
        steps=tuple(shares.tolist()),
        areas=areas_under(values, shares),
    )


def reading(result: FaithfulnessResult) -> Text:
    """The method that does best, by the area between its curves, and whether that is better than random order."""
    gains = result.areas[:, result.curves.index("insertion")] - result.areas[:, result.curves.index("deletion")]
    chance, others = float(gains[-1]), gains[:-1]
    if not others.size:
        return Text(
            "Random order alone leaves an area of {chance} between insertion and deletion: a map has to do better.",
            "仅用随机顺序，插入与删除曲线之间的面积为 {chance}：图的表现应当优于它。",
        ).format(chance=measured(chance))
    best = int(np.nanargmax(others))
    said = {"title": result.titles[best], "gain": measured(float(others[best])), "chance": measured(chance)}
    if others[best] <= chance:
        return Text(
            "No method beats random order here: the area between insertion and deletion is {chance} for random order "
            "and {gain} for the best, {title}.",
            "这里没有方法胜过随机顺序：插入与删除曲线之间的面积，随机顺序为 {chance}，最好的“{title}”为 {gain}。",
        ).format(**said)
    return Text(
        "{title} does best here: the area between insertion and deletion is {gain}, that of random order {chance}.",
        "此处“{title}”最好：插入与删除曲线之间的面积为 {gain}，随机顺序为 {chance}。",
    ).format(**said)


VIEW = View(
    title=TITLE,
    question=Text("Does a map know which patches the model uses?", "图是否知道模型用到了哪些图块？"),
    misleads=Text(
        "The model is shown images like none it was trained on; one image compares methods, it does not rank them.",
        "模型看到的是训练中从未见过的图像；一幅图像只能比较方法，不能给方法排名。",
    ),
    room="flow",
    compute=compute,
    reading=reading,
    runs="many",
    controls=(
        TargetControl(),
        MethodsControl(),
        Number("steps", Text("Steps", "步数"), low=2, high=100, start=10, step=1, whole=True),
        Number("seed", Text("Seed", "随机种子"), low=0, high=2**31 - 1, step=1, whole=True),
    ),
    paper=Paper("Petsiuk et al. 2018", "https://arxiv.org/abs/1806.07421"),
    refuses=without_classifier,
)
