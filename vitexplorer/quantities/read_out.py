"""What the classifier makes of a block's tokens, and how its answers are put into words.

The family knows how its modules read tokens out; here that is asked of the residual stream after a block. The tokens
of a block that is not the last are normalised with their own statistics, as the final norm would if it met them there.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from vitexplorer.capture import Capture
from vitexplorer.types import Prediction, Reading
from vitexplorer.words import Text, same

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


def top_classes(
    logits: Float[Tensor, " classes"], class_names: tuple[Text, ...], count: int = TOP
) -> tuple[Prediction, ...]:
    """The likeliest classes, likeliest first, with softmax probabilities over all classes."""
    probabilities = logits.double().softmax(-1)
    best: Int[Tensor, " count"] = probabilities.topk(min(count, len(logits))).indices
    return tuple(
        Prediction(
            index=index,
            name=class_names[index] if class_names else same(""),
            logit=float(logits[index]),
            probability=float(probabilities[index]),
        )
        for index in best.tolist()
    )


def class_text(index: int, name: Text) -> Text:
    """A class as a sentence names it: flower, or class 5 where nobody knows its name."""
    if not name.en:
        return Text("class {index}", "类别 {index}").format(index=index)
    return Text("{name}", "“{name}”").format(name=name)
