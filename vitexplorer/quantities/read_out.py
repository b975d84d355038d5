"""The classifier's answers for a block's tokens, as numbers and in words.

The family knows how its modules read tokens out; here this is applied to the residual stream after a block. The tokens
of an earlier block are normalised with their own statistics, as the final norm would do.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from vitexplorer.capturing.capture import Capture
from vitexplorer.core.text import Text, same
from vitexplorer.core.types import (
    OUTPUT,
    PREFIX_WORDS,
    PROBABILITY,
    Answer,
    Output,
    Prediction,
    PredictionChange,
    Reading,
)

TOP = 5

READING_WORDS: dict[Reading, Text] = {**PREFIX_WORDS, "own": Text("the model's own pooling", "模型自身的池化")}


def readable_blocks(capture: Capture) -> tuple[int, ...]:
    """Return the blocks whose tokens have the final norm's width: all, or in Swin those of the last stage."""
    width = capture.model.module.num_features
    return tuple(block for block in range(capture.depth) if capture.residual_after(block).shape[-1] == width)


@torch.no_grad()
def read_after(capture: Capture, block: int, reading: Reading) -> Float[Tensor, " classes"]:
    """Compute logits of the residual stream after a block, with one reading."""
    model = capture.model
    return model.family.read_out(model.module, capture.residual_after(block)[None], reading)[0]


@torch.no_grad()
def read_patches_after(capture: Capture, block: int) -> Float[Tensor, "patches classes"]:
    """Compute logits of every patch token after a block, each read as if it were the pooled token."""
    model = capture.model
    tokens = capture.residual_after(block)[None, len(capture.prefix_tokens) :]
    return model.family.read_each(model.module, tokens)[0]


def displayed_values(logits: Float[Tensor, "*shape classes"]) -> Float[Tensor, "*shape classes"]:
    """Return a classifier's outputs for display: softmax probabilities over all classes; a single output unchanged.

    Classes trained with a sigmoid each are treated in the same way, because no file states the loss of its training.
    """
    return logits.softmax(-1) if logits.shape[-1] > 1 else logits


def unit_of_values(logits: Float[Tensor, "*shape classes"]) -> Text:
    """Return the unit of `displayed_values`."""
    return PROBABILITY if logits.shape[-1] > 1 else OUTPUT


def answer_of(
    logits: Float[Tensor, " classes"], values: Float[Tensor, " classes"], class_names: tuple[Text, ...], index: int
) -> Answer:
    """Return one class of an answer, or the one output; `values` are the logits' `displayed_values`."""
    name = class_names[index] if class_names else same("")
    value = float(values[index])
    if unit_of_values(logits) == OUTPUT:
        return Output(index, name, value)
    return Prediction(index, name, float(logits[index]), value)


def top_classes(
    logits: Float[Tensor, " classes"], class_names: tuple[Text, ...], count: int = TOP
) -> tuple[Answer, ...]:
    """Return the likeliest classes, likeliest first; only the output of a model that has one."""
    values = displayed_values(logits.double())
    best: Int[Tensor, " count"] = values.topk(min(count, len(logits))).indices
    return tuple(answer_of(logits, values, class_names, index) for index in best.tolist())


def answers_after_blocks(capture: Capture) -> tuple[Answer | None, ...]:
    """Read the likeliest class, or the one output, after each block as the model reads its last tokens.

    None for blocks of another width than the classifier's.
    """
    readable, names = readable_blocks(capture), capture.model.class_texts
    return tuple(
        top_classes(read_after(capture, block, "own"), names, 1)[0] if block in readable else None
        for block in range(capture.depth)
    )


def answer_text(answer: Answer | PredictionChange) -> Text:
    """Return an answer as part of a sentence: the class, or the output and, if known, its quantity."""
    if answer.unit == PROBABILITY:
        return class_text(answer.index, answer.name)
    if not answer.name.en:
        return Text("the output", OUTPUT.zh)
    return Text("the output {name}", "输出值“{name}”").format(name=answer.name)


def class_text(index: int, name: Text) -> Text:
    """Return a class as part of a sentence: flower, or class 5 if it has no name."""
    if not name.en:
        return Text("class {index}", "类别 {index}").format(index=index)
    return Text("{name}", "“{name}”").format(name=name)
