"""Does a map know which patches the model uses? Take them away, or put them back, in the order the map gives.

Deletion and insertion (Petsiuk et al. 2018, arXiv 1806.07421), by patches. Deletion: the patches that the map ranks
highest turn into the mean colour first. If the map is right, the probability of the class falls early, and the area
under the curve is small. Insertion: a blurred image gets its patches back in the same order; here the area is large.
`quantities.faithfulness` defines both. Random order is always included. A model with one output has no probability, nor
has a target that is no class: both curves are that output or score itself, f(x), and areas are in its unit; a good map
finds what raises it.

Misleading: both curves show the model images like none it was trained on, and one image proves nothing.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import CURVE_CONTROLS, AnyTargetControl, MethodsControl
from vitexplorer.controls.explained import Target
from vitexplorer.core.capture_protocol import without_answer
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Progress, Text
from vitexplorer.core.types import FaithfulnessResult
from vitexplorer.quantities.faithfulness import CURVES, best_text, faithfulness, gain_uncertainties, num_passes
from vitexplorer.quantities.targets import PROBABILITY, answer_explained, target_note, unit_of_value
from vitexplorer.views import explanation, explanations
from vitexplorer.views.record import View


def compute(
    capture: Capture, target: Target, methods: tuple[str, ...], steps: int, seed: int, progress: Progress | None = None
) -> FaithfulnessResult:
    """Compute both curves of each method, (methods, curves, steps), and the areas under them.

    The curves are the probability of the class, or the target's score in its own unit.
    """
    passes = num_passes(capture, len(methods), steps)
    preparing = (lambda done, of: progress(0, passes)) if progress else None
    maps = [explanation(name, capture, target, seed, preparing) for name in methods]
    curves = faithfulness(capture, target, maps, steps, seed, progress)
    unit = unit_of_value(capture, target)
    return FaithfulnessResult(
        values=curves.values,
        axes=("methods", "curves", "steps"),
        unit=unit,
        formula=Text("∫ p(class) d(share of patches exchanged)", "∫ p（类别）d（已替换图块的比例）")
        if unit == PROBABILITY
        else Text("∫ f(x) d(share of patches exchanged)", "∫ f(x) d（已替换图块的比例）"),
        notes=(target_note(capture, target), *curves.notes),
        target=answer_explained(capture, target),
        methods=methods,
        titles=tuple(result.title for result in maps),
        curves=CURVES,
        steps=tuple(curves.shares.tolist()),
        areas=curves.areas,
    )


def reading(result: FaithfulnessResult) -> Text:
    """Name the method that does best, by the area between its curves, and say how far it is ahead."""
    return best_text(result.titles, result.areas, gain_uncertainties(result.values, np.array(result.steps)))


VIEW = View(
    title=Text("Faithfulness", "忠实度"),
    question=Text("Does a map know which patches the model uses?", "图是否指出了模型用到的图块？"),
    misleads=Text(
        "The model is shown images unlike its training images. One image compares methods but does not rank them.",
        "模型看到的图像与训练图像很不一样；一幅图像只能用来比较方法，不能给方法排名。",
    ),
    room="flow",
    group="judge",
    compute=compute,
    reading=reading,
    runs="many",
    controls=(AnyTargetControl(), MethodsControl(known=explanations), *CURVE_CONTROLS),
    paper=Paper("Petsiuk et al. 2018", "https://arxiv.org/abs/1806.07421"),
    refuses=without_answer,
)
