"""What the classifier makes of a block's tokens, and how its answers are put into words.

The family knows how its modules read tokens out; here that is asked of the residual stream after a block. The tokens
of a block that is not the last are normalised with their own statistics, as the final norm would if it met them there.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.text import Text, same
from vitexplorer.core.types import OUTPUT, PROBABILITY, Answer, Output, Prediction, PredictionChange, Reading

TOP = 5

READING_WORDS: dict[Reading, Text] = {
    "cls": Text("class token", "类别标记"),
    "dist": Text("distillation token", "蒸馏标记"),
    "mean": Text("mean over patches", "图块平均"),
    "own": Text("the model's own pooling", "模型自身的池化"),
}


def readable_blocks(capture: Capture) -> tuple[int, ...]:
    """Blocks whose tokens are as wide as the final norm wants them: all, or in Swin those of the last stage."""
    width = capture.model.module.num_features
    return tuple(block for block in range(capture.depth) if capture.residual_after(block).shape[-1] == width)


@torch.no_grad()
def read_after(capture: Capture, block: int, reading: Reading) -> Float[Tensor, " classes"]:
    """Logits of the residual stream after a block, read in one way."""
    model = capture.model
    return model.family.read_out(model.module, capture.residual_after(block)[None], reading)[0]


@torch.no_grad()
def read_patches_after(capture: Capture, block: int) -> Float[Tensor, "patches classes"]:
    """Logits of every patch token after a block, each read as if it were the pooled one."""
    model = capture.model
    tokens = capture.residual_after(block)[None, len(capture.prefix_tokens) :]
    return model.family.read_each(model.module, tokens)[0]


def shown_values(logits: Float[Tensor, "*shape classes"]) -> Float[Tensor, "*shape classes"]:
    """What is shown of a classifier's outputs: softmax probabilities over all classes; one output alone as it is.

    Classes that were trained with a sigmoid each are read in the same way: no file says which loss it was trained with.
    """
    return logits.softmax(-1) if logits.shape[-1] > 1 else logits


def unit_of_values(logits: Float[Tensor, "*shape classes"]) -> Text:
    """What `shown_values` are counted in."""
    return PROBABILITY if logits.shape[-1] > 1 else OUTPUT


def answer_of(
    logits: Float[Tensor, " classes"], values: Float[Tensor, " classes"], class_names: tuple[Text, ...], index: int
) -> Answer:
    """One class of an answer, or the one output; `values` are the logits' `shown_values`."""
    name, value = class_names[index] if class_names else same(""), float(values[index])
    if unit_of_values(logits) == OUTPUT:
        return Output(index, name, value)
    return Prediction(index, name, float(logits[index]), value)


def top_classes(
    logits: Float[Tensor, " classes"], class_names: tuple[Text, ...], count: int = TOP
) -> tuple[Answer, ...]:
    """The likeliest classes, likeliest first; of a model with one output that alone."""
    values = shown_values(logits.double())
    best: Int[Tensor, " count"] = values.topk(min(count, len(logits))).indices
    return tuple(answer_of(logits, values, class_names, index) for index in best.tolist())


def answer_text(answer: Answer | PredictionChange) -> Text:
    """An answer as a sentence names it: the class, or the output and, where that is known, what it is of."""
    if answer.unit == PROBABILITY:
        return class_text(answer.index, answer.name)
    if not answer.name.en:
        return Text("the output", OUTPUT.zh)
    return Text("the output {name}", "输出值“{name}”").format(name=answer.name)


def class_text(index: int, name: Text) -> Text:
    """A class as a sentence names it: flower, or class 5 where nobody knows its name."""
    if not name.en:
        return Text("class {index}", "类别 {index}").format(index=index)
    return Text("{name}", "“{name}”").format(name=name)
