"""Which text is each patch? The text with the largest number at each patch, by a method of `quantities/texts/`.

CLIP Surgery compares S_it = w_t f_i t - mean over the texts of it, w_t how likely text t is for the whole image: what
all texts have in common is taken away (Li et al. 2023, arXiv 2304.05653).
Misleading: every patch gets one of the given texts, so a text for the background belongs among them.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import OtherCaptureControl, TextMethodControl, TextsControl
from vitexplorer.controls.images import NamedCapture
from vitexplorer.controls.texts import TextVectors
from vitexplorer.core.format import percent
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text
from vitexplorer.core.text_results import SegmentationResult
from vitexplorer.quantities.texts.methods import METHODS, text_maps
from vitexplorer.quantities.texts.several_texts import rival_scores
from vitexplorer.views.record import View

WEIGHED = "argmax_t w_t f_i · t / (|f_i| |t|)"


def compute(capture: Capture, texts: TextVectors, method: str, other: NamedCapture | None) -> SegmentationResult:
    """Compute the best text of each patch, (rows, cols) int; of equal ones the first."""
    second = None if other is None else other.capture
    chosen = METHODS[method]
    maps = rival_scores(capture, method, texts.each, text_maps(capture, chosen, texts.each, second))
    on = second if second and chosen.needs_other else capture
    grid = on.grid(on.depth - 1)
    scores = maps.reshape(len(texts), grid.rows, grid.cols).float().cpu().numpy()
    return SegmentationResult(
        values=scores.argmax(0),
        axes=("rows", "cols"),
        unit=Text("text", "文字"),
        formula=WEIGHED if method == "clip_surgery" else Text("argmax of the maps", "各图的 argmax"),
        texts=tuple(map(str, texts)),
        scores=scores,
        grid=grid,
        image=on.input.pixels,
    )


def reading(result: SegmentationResult) -> Text:
    """Give the share of the patches of each text, the three largest."""
    counts = np.bincount(result.values.ravel(), minlength=len(result.texts))
    order = np.argsort(-counts, kind="stable")[:3]
    shares = [f"“{result.texts[at]}” {percent(counts[at] / counts.sum())}" for at in order if counts[at]]
    listed = Text(", ".join(shares), "，".join(shares))
    return Text("Of the patches: {shares}.", "各占图块：{shares}。").format(shares=listed)


VIEW = View(
    title=Text("Patches by text", "按文字划分图块"),
    question=Text("Which of these texts is each patch?", "每个图块属于这些文字中的哪一条？"),
    misleads=Text(
        "Every patch gets one of the given texts: name the background too.",
        "每个图块都会被归入所给文字之一：请把背景也写上。",
    ),
    room="words",
    compute=compute,
    reading=reading,
    controls=(TextsControl(), TextMethodControl(known=lambda: METHODS), OtherCaptureControl()),
    paper=Paper("Zhou et al. 2022", "https://arxiv.org/abs/2112.01071"),
    runs="once",
    names_of_timm=True,
)
