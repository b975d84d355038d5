"""Does it matter whether the class token or the mean patch is read? The same network with each possible read-out.

Each reading goes through the model's own final norm and classifier in the model's own order: class token
(Dosovitskiy et al. 2021, arXiv 2010.11929), mean over patches, the distillation token's own classifier (Touvron et al.
2021, arXiv 2012.12877), or the model's own pooling if it is none of these. The curve is the cosine between the class
token and the mean of the patch tokens in the residual stream after each block, before any norm.
Misleading: a model is trained for one reading only; its answers from the others may be nonsense.
"""

from __future__ import annotations

import numpy as np
import torch.nn.functional as F

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.capture_protocol import refuse_if
from vitexplorer.core.format import measured
from vitexplorer.core.paper import Paper
from vitexplorer.core.text import COMMA, Text
from vitexplorer.core.types import OUTPUT, PoolingResult, Reading, ReadOut
from vitexplorer.quantities.read_out import READING_WORDS, answer_text, read_after, readable_blocks, top_classes
from vitexplorer.views.record import View

_CLASS = Text("through the {token} {answer} ({value})", "用{token}读出{answer}（{value}）")
_NUMBER = Text("through the {token} {answer} is {value}", "用{token}读出的{answer}为 {value}")
NO_CLASSES = Text("This model has no classes, so only the tokens are compared.", "该模型不区分类别，因此只比较标记。")


def read_out(capture: Capture, reading: Reading, is_own: bool) -> ReadOut:
    """Return the prediction of one reading at the end, and its likeliest class after each block."""
    names, blocks = capture.model.class_texts, readable_blocks(capture)
    return ReadOut(
        reading=reading,
        is_own=is_own,
        top=top_classes(read_after(capture, blocks[-1], reading), names),
        after_blocks=tuple(top_classes(read_after(capture, block, reading), names, 1)[0] for block in blocks),
    )


def compute(capture: Capture) -> PoolingResult:
    """Compute the cosine of class token and mean patch after each block, (blocks,), and each reading's answer."""
    model = capture.model
    prefix = len(capture.prefix_tokens)
    place = capture.prefix_tokens.index("cls")
    streams = [capture.residual_after(block) for block in range(capture.depth)]
    own = model.family.own_reading(model.module)
    answers = capture.logits is not None
    trained = Text("The model was trained to be read by: {reading}.", "该模型训练时的读出方式：{reading}。")
    return PoolingResult(
        values=np.array([float(F.cosine_similarity(x[place], x[prefix:].mean(0), dim=0)) for x in streams]),
        axes=("blocks",),
        unit=Text("cosine of class token and mean patch token", "类别标记与图块标记平均值的余弦"),
        formula="cos(x_cls, mean_i x_i)",
        notes=(trained.format(reading=READING_WORDS[own]),) if answers else (NO_CLASSES,),
        x=np.arange(capture.depth),
        x_name=Text("after block", "经过的块"),
        curves=(Text("class token and mean patch", "类别标记与图块平均"),),
        readings=tuple(
            read_out(capture, reading, reading == own)
            for reading in (model.family.readings(model.module) if answers else ())
        ),
    )


def reading(result: PoolingResult) -> Text:
    """Say whether the readings agree, and how the class token moves away from the patches."""
    cosine = Text(
        "The cosine of class token and mean patch is {start} after block 0 and {end} after block {last}.",
        "类别标记与图块平均的余弦在块 0 之后为 {start}，在块 {last} 之后为 {end}。",
    ).format(start=measured(result.values[0]), end=measured(result.values[-1]), last=len(result.values) - 1)
    if not result.readings:
        return cosine
    answers = [
        (_NUMBER if read.top[0].unit == OUTPUT else _CLASS).format(
            token=_short(READING_WORDS[read.reading]), answer=answer_text(read.top[0]), value=read.top[0].display_value
        )
        for read in result.readings
    ]
    listed = COMMA.join(answers)
    if result.readings[0].top[0].unit == OUTPUT:
        return Text("Read {listed}. {cosine}", "读出的结果：{listed}。{cosine}").format(listed=listed, cosine=cosine)
    agree = len({read.top[0].index for read in result.readings}) == 1
    sentence = (
        Text("All readings agree: {listed}. {cosine}", "各种读出方式一致：{listed}。{cosine}")
        if agree
        else Text("The readings differ: {listed}. {cosine}", "读出方式不同，答案也不同：{listed}。{cosine}")
    )
    return sentence.format(listed=listed, cosine=cosine)


def _short(token: Text) -> Text:
    """Drop the article that a token's name may begin with."""
    return Text(token.en.removeprefix("the "), token.zh)


VIEW = View(
    title=Text("Class token or mean of patches", "类别标记与图块平均"),
    question=Text(
        "What would the model say if it were read through another token?", "如果改用别的标记读出，模型会给出什么答案？"
    ),
    misleads=Text(
        "Only the reading that the model was trained with is expected to be right.",
        "只有训练时所用的读出方式才有望给出正确答案。",
    ),
    room="outputs",
    compute=compute,
    reads=("stream",),
    reading=reading,
    paper=Paper("Dosovitskiy et al. 2021, appendix D.3", "https://arxiv.org/abs/2010.11929"),
    refuses=refuse_if(
        lambda capture: "cls" not in capture.prefix_tokens,
        Text(
            "{model} has no class token to compare with the mean over patches.",
            "{model} 没有类别标记，无法与图块平均进行比较。",
        ),
    ),
)
