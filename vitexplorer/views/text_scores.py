"""Which text fits the image? Cosines of the image's feature and the texts' vectors in the joint space.

Radford et al. 2021, arXiv 2103.00020, section 3.1.2 (softmax over the texts of the scaled cosines); Zhai et al. 2023,
arXiv 2303.15343 (sigmoid of the scaled cosine plus a bias, each text on its own). Scale and bias are the model's own.
Misleading: a softmax shares out 1 among the given texts, however badly all of them fit, and a softmax over one text is
1 by definition, so none is given then.
"""

from __future__ import annotations

import numpy as np

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import TextsControl
from vitexplorer.controls.explained import LikeText
from vitexplorer.controls.texts import TextVectors
from vitexplorer.core.format import measured, percent
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import Text, same
from vitexplorer.core.text_results import TextScoresResult
from vitexplorer.quantities.scores import score_of
from vitexplorer.views.record import View

SOFTMAX = Text("In brackets: softmax over the texts.", "括号中为：对各文字做 softmax。")
SIGMOID = Text("In brackets: sigmoid, each text on its own.", "括号中为：sigmoid，各文字独立。")
ONE = Text("Cosines alone: a softmax over one text is 1, whatever it says.", "仅余弦：对单条文字做 softmax 恒为 1。")
UNKNOWN = Text("Cosines alone: the scale of the model's training is not known.", "仅余弦：不知道模型训练时的缩放系数。")


def compute(capture: Capture, texts: TextVectors) -> TextScoresResult:
    """Compute the cosine of the image and each text, (texts,) in -1 to 1, and probabilities as in training."""
    cosines = np.array([float(score_of(capture, LikeText(text))) for text in texts], dtype=np.float32)
    answers, how = _answers(capture, cosines)
    return TextScoresResult(
        values=cosines,
        axes=("texts",),
        unit=Text("cosine", "余弦"),
        formula="f · t / (|f| |t|)",
        texts=tuple(map(str, texts)),
        answers=answers,
        how=how,
    )


def _answers(capture: Capture, cosines: np.ndarray) -> tuple[np.ndarray, Text]:
    tower = capture.model.text
    logits = None if tower is None else tower.logits(cosines)
    if logits is None:
        return np.full_like(cosines, np.nan), UNKNOWN
    if tower.sigmoid:
        return 1 / (1 + np.exp(-logits)), SIGMOID
    if len(logits) == 1:
        return np.full_like(cosines, np.nan), ONE
    shares = np.exp(logits - logits.max())
    return shares / shares.sum(), SOFTMAX


def reading(result: TextScoresResult) -> Text:
    """Name the text that fits best and the one after it, with their cosines."""
    order = np.argsort(-result.values, kind="stable")
    best = result.texts[order[0]]
    numbers = {"best": best, "cosine": measured(result.values[order[0]])}
    if len(order) == 1:
        return Text("The cosine of the image and “{best}” is {cosine}.", "图像与“{best}”的余弦为 {cosine}。").format(
            **numbers
        )
    share = result.answers[order[0]]
    own = Text(" ({percent} by the model's own measure)", "（按模型自身的度量为 {percent}）")
    in_words = same("") if np.isnan(share) else own.format(percent=percent(share))
    return Text(
        "“{best}” fits best, with cosine {cosine}{share}; then “{second}”, with {other}.",
        "最相符的是“{best}”，余弦 {cosine}{share}；其次是“{second}”，为 {other}。",
    ).format(**numbers, share=in_words, second=result.texts[order[1]], other=measured(result.values[order[1]]))


VIEW = View(
    title=Text("Image and texts", "图像与文字"),
    question=Text("Which of these texts fits the image?", "这些文字中哪一条与图像相符？"),
    misleads=Text(
        "A softmax shares out 1 among the given texts, however badly all of them fit.",
        "softmax 把 1 分给所给的文字，哪怕没有一条真正相符。",
    ),
    room="words",
    compute=compute,
    reads=("stream",),
    reading=reading,
    controls=(TextsControl(),),
    paper=Paper("Radford et al. 2021", "https://arxiv.org/abs/2103.00020"),
)
