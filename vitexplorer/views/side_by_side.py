"""Do the methods tell the same story? The maps of several methods for one target, side by side.

Each map comes from its own view, with all controls but the target at their defaults. Their units differ (a share of
attention, a part of a logit), so a common range would only show the units. Each map is therefore drawn as a share of
its own largest magnitude, which is printed below it; all use one colour map. On request each is measured by deletion
and insertion as in the view `faithfulness` (Petsiuk et al. 2018, arXiv 1806.07421), random order included.

Misleading: maps that agree prove nothing, since all may look where the model does not; one image ranks no methods.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import CURVE_CONTROLS, AnyTargetControl, MethodsControl, Switch
from vitexplorer.controls.explained import Target
from vitexplorer.core.capture_protocol import without_answer
from vitexplorer.core.format import measured as rounded
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Progress, Text
from vitexplorer.core.types import MapResult, MethodsResult, PatchGrid
from vitexplorer.quantities.faithfulness import CURVES, best_text, faithfulness, gain_uncertainties, gains, num_passes
from vitexplorer.quantities.on_the_map import is_constant
from vitexplorer.quantities.targets import answer_explained, target_note
from vitexplorer.views import explanation, explanations
from vitexplorer.views.record import View

AT_DEFAULTS = Text(
    "All methods explain the same target, with their other settings at the defaults.",
    "各方法解释同一目标，其余设置取默认值。",
)
NO_TARGET = Text("{title} is the same for every target.", "{title} 对所有目标都相同。")


def compute(
    capture: Capture,
    target: Target,
    methods: tuple[str, ...],
    measure: bool,
    steps: int,
    seed: int,
    progress: Progress | None = None,
) -> MethodsResult:
    """Compute the map of each method, (methods, rows, cols), and on request its areas, (methods, curves)."""
    passes = num_passes(capture, len(methods), steps)
    maps, done = _compute_maps(capture, target, methods, seed, passes if measure else 0, progress)
    after = progress and _MethodProgress(progress, done, 0, 0)
    measured = faithfulness(capture, target, maps, steps, seed, after) if measure else None
    known = explanations()
    slow = {key: view for key, view in known.items() if view.runs == "many" and view.refuses(capture) is None}
    classless = [
        known[name].title for name in methods if not any(control.name == "target" for control in known[name].controls)
    ]
    finest = min((result.grid for result in maps), key=lambda grid: grid.patch_size)
    return MethodsResult(
        values=np.stack([on_finer(result.values, result.grid, finest) for result in maps]),
        axes=("methods", "rows", "cols"),
        unit=Text("of each method, its own", "各方法各自的单位"),
        formula="",
        notes=(
            target_note(capture, target),
            AT_DEFAULTS,
            *(NO_TARGET.format(title=title) for title in classless),
            *(measured.notes if measured else ()),
        ),
        target=answer_explained(capture, target),
        methods=methods,
        titles=tuple(result.title for result in maps),
        units=tuple(result.unit for result in maps),
        grids=tuple(result.grid for result in maps),
        grid=finest,
        image=capture.input.pixels,
        curves=CURVES,
        areas=measured.areas if measured else None,
        uncertainties=gain_uncertainties(measured.values, measured.shares) if measured else None,
        passes=passes,
        others=tuple((key, view.title) for key, view in slow.items() if key not in methods),
    )


def _compute_maps(
    capture: Capture, target: Target, methods: tuple[str, ...], seed: int, later: int, progress: Progress | None
) -> tuple[list[MapResult], int]:
    """Return the map of each method and the number of images that went through the model.

    `later` more images follow after the maps.
    """
    least = [int(explanations()[name].runs != "nothing") for name in methods]
    maps, done = [], 0
    for at, name in enumerate(methods):
        method_progress = _MethodProgress(progress, done, sum(least[at + 1 :]) + later, least[at])
        maps.append(explanation(name, capture, target, seed, method_progress))
        done += method_progress.of
        if progress:
            progress(done, done + method_progress.after)
    return maps, done


@dataclass
class _MethodProgress:
    """Progress callback of one method, which reports it as part of the whole."""

    progress: Progress | None
    before: int
    after: int
    of: int
    """Number of images that the method takes, as reported so far"""

    def __call__(self, done: int, of: int) -> None:
        self.of = of
        if self.progress:
            self.progress(self.before + done, self.before + of + self.after)


def on_finer(values: Float[np.ndarray, "rows cols"], coarse: PatchGrid, fine: PatchGrid) -> np.ndarray:
    """Resample a map to a finer grid, (fine rows, fine cols); a cell takes the number of the cell around it."""
    ratio = coarse.patch_size // fine.patch_size
    return values[np.arange(fine.rows)[:, None] // ratio, np.arange(fine.cols)[None, :] // ratio]


def ranks(values: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, " cells"]:
    """Rank each number among all of them; equal numbers share the mean of their ranks."""
    _, group, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - (count - 1) / 2)[group.ravel()]


def agreements(maps: Float[np.ndarray, "methods rows cols"]) -> list[tuple[float, int, int]]:
    """Compute Spearman's rank correlation of every two maps that are not constant, from least to most alike."""
    ordered = [(at, ranks(values)) for at, values in enumerate(maps) if not is_constant(values)]
    return sorted(
        (float(np.corrcoef(one, other)[0, 1]), at, to) for (at, one), (to, other) in itertools.combinations(ordered, 2)
    )


def reading(result: MethodsResult) -> Text:
    """Say how alike the maps are; once they are measured, name the best and the worst beside random order."""
    if result.areas is None or result.uncertainties is None:
        return _agreement(result)
    return _best_and_worst(result.titles, result.areas, result.uncertainties)


def _agreement(result: MethodsResult) -> Text:
    pairs = agreements(result.values[:-1])
    if not pairs:
        return Text("There are no two maps to compare here.", "这里没有两幅可以比较的图。")
    (least, a, b), (most, c, d) = pairs[0], pairs[-1]
    fields = dict(zip("abcd", (result.titles[at] for at in (a, b, c, d)), strict=True))
    fields |= {"least": rounded(least), "most": rounded(most)}
    alike = Text(
        "{c} and {d} put the patches in the most similar order (rank correlation {most})",
        "“{c}”与“{d}”给出的图块顺序最接近（秩相关系数 {most}）",
    )
    apart = Text("{alike}, {a} and {b} in the least similar ({least}).", "{alike}，“{a}”与“{b}”相差最大（{least}）。")
    alone = Text("{alike}.", "{alike}。")
    which = Text(
        " Whether the model follows any of them has not been measured.", "模型是否依据其中任何一幅，尚未测量。"
    )
    sentence = (apart if len(pairs) > 1 else alone).format(alike=alike.format(**fields), **fields)
    return Text(sentence.en + which.en, sentence.zh + which.zh)


def _best_and_worst(
    titles: Sequence[Text], areas: Float[np.ndarray, "methods curves"], uncertainties: Float[np.ndarray, " methods"]
) -> Text:
    """Compare the methods by the area between insertion and deletion, as the view `faithfulness` does."""
    first = best_text(titles, areas, uncertainties)
    *others, chance = gains(areas)
    beaten = sum(other <= chance for other in others)
    worst = int(np.argmin(others)) if others else 0
    if beaten == len(others) or worst == int(np.argmax(others)):
        return first
    rest = Text(
        " {worst} is the worst with {low}; methods no better than random order: {count} of {all}.",
        "“{worst}”最差，为 {low}；{all} 种方法中有 {count} 种不优于随机顺序。",
    )
    if not beaten:
        rest = Text(
            " {worst} is the worst with {low}, still better than random order.",
            "“{worst}”最差，为 {low}，但仍优于随机顺序。",
        )
    fields = {"worst": titles[worst], "low": rounded(others[worst]), "count": beaten, "all": len(others)}
    return Text("{first}{rest}", "{first}{rest}").format(first=first, rest=rest.format(**fields))


VIEW = View(
    title=Text("Side by side", "并排比较"),
    question=Text("Do the methods tell the same story?", "各种方法说的是同一回事吗？"),
    misleads=Text(
        "Each map is scaled to its own maximum, so brightness cannot be compared between maps. Agreement proves "
        "nothing, and the areas come from images unlike the training images. One image compares methods but does not "
        "rank them.",
        "每幅图都按各自的最大值缩放，不同图的亮度不能互相比较。图彼此一致并不能证明什么；"
        "曲线下面积是用与训练图像很不一样的图像算出的。一幅图像只能用来比较方法，不能给方法排名。",
    ),
    room="flow",
    group="judge",
    compute=compute,
    reading=reading,
    runs="many",
    overview=True,
    controls=(
        AnyTargetControl(),
        MethodsControl(known=explanations),
        Switch("measure", Text("Measure faithfulness", "测量忠实度")),
        *CURVE_CONTROLS,
    ),
    paper=Paper("Petsiuk et al. 2018", "https://arxiv.org/abs/1806.07421"),
    refuses=without_answer,
)
