"""When does the model make up its mind? Its final norm and classifier applied after every block.

Logit lens (nostalgebraist 2020; tuned versions: Belrose et al. 2023, arXiv 2303.08112) for vision transformers, read
through one token, the mean over patches, the model's own pooling, or every patch on its own as a map of classes. Each
block's tokens are normalised with their own mean and variance; tools that reuse the statistics of the last block differ
from this by up to 1.7 logits. Swin: only blocks of the last stage have the width that the classifier reads.
Misleading: nothing asked earlier blocks to speak the classifier's language, so early nonsense is no error of the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from vitexplorer.capture import Capture
from vitexplorer.controls import Control
from vitexplorer.errors import SettingError
from vitexplorer.explored import Explored
from vitexplorer.interfaces import Paper, View
from vitexplorer.quantities.read_out import READING_WORDS, read_after, read_patches_after, readable_blocks, top_classes
from vitexplorer.registry import unknown_name
from vitexplorer.types import LensResult
from vitexplorer.words import Text

TITLE = Text("Logit lens", "Logit lens（逐块读出 logits）")
PATCHES = "patches"
EACH_PATCH = Text("every patch", "每个图块")
READINGS = (*READING_WORDS, PATCHES)
CLASS_OF_EACH = Text("argmax head(norm(x_i))", "argmax 分类头（归一化（x_i））")
LOGITS_OF_ONE = Text("head(norm(x))", "分类头（归一化（x））")
OWN_STATISTICS = Text("The final norm uses each block's own statistics.", "最后的归一化使用每个块自身的统计量。")


@dataclass(frozen=True)
class ReadingControl(Control):
    """How a block's tokens are read: a prefix token, "mean", "own" (the model's pooling), or "patches", each."""

    name: str = "token"
    label: Text = Text("Read through", "读出方式")

    kind: ClassVar[str] = "choice"

    def default(self, capture: Explored) -> str:
        """The class token where there is one, otherwise the mean over patches."""
        return "cls" if "cls" in capture.prefix_tokens else "mean"

    def offered(self, capture: Explored) -> tuple[tuple[str, Text], ...]:
        """The readings that the model has the tokens for."""
        absent = {"cls", "dist"} - set(capture.prefix_tokens)
        return tuple((name, READING_WORDS.get(name, EACH_PATCH)) for name in READINGS if name not in absent)

    def parse(self, value: Any, capture: Explored, settings: Mapping[str, Any]) -> str:
        """A reading that the model has the tokens for."""
        if value not in READINGS:
            raise unknown_name(self.name, value, READINGS)
        if value in ("cls", "dist") and value not in capture.prefix_tokens:
            raise SettingError(
                Text(
                    'This model has no {token}. Read it through "mean", "own" or "patches".',
                    '该模型没有{token}。请用 "mean"、"own" 或 "patches" 读出。',
                ).format(token=READING_WORDS[value])
            )
        return value


def likeliest(
    logits: Float[Tensor, "blocks patches classes"],
) -> tuple[Tensor, Tensor]:
    """The class with the highest logit of each patch, and its softmax probability."""
    probabilities, classes = logits.double().softmax(-1).max(-1)
    return classes, probabilities


def compute(capture: Capture, token: str) -> LensResult:
    """Logits after each block, (blocks, classes), or the likeliest class of each patch, int (blocks, rows, cols)."""
    blocks, names = readable_blocks(capture), capture.model.class_texts
    grid = capture.grid(blocks[-1])
    if token == PATCHES:
        classes, sure = likeliest(torch.stack([read_patches_after(capture, block) for block in blocks]))
        shape = (len(blocks), grid.rows, grid.cols)
        values, probabilities, top = classes.reshape(shape), sure.reshape(shape), ()
    else:
        values = torch.stack([read_after(capture, block, token) for block in blocks])
        probabilities = values.double().softmax(-1)
        top = tuple(top_classes(logits, names) for logits in values)
    return LensResult(
        view="logit_lens",
        title=TITLE,
        values=values.cpu().numpy(),
        axes=("blocks", "rows", "cols") if token == PATCHES else ("blocks", "classes"),
        unit=Text("number of the likeliest class", "最可能类别的编号")
        if token == PATCHES
        else Text("logits", "logits"),
        formula=CLASS_OF_EACH if token == PATCHES else LOGITS_OF_ONE,
        provenance=capture.provenance,
        settings={"token": token},
        notes=(OWN_STATISTICS, *_notes(capture, token, blocks)),
        blocks=blocks,
        top=top,
        probabilities=probabilities.cpu().numpy(),
        class_names=names,
        grid=grid,
        image=capture.input.pixels,
    )


def _notes(capture: Capture, token: str, blocks: tuple[int, ...]) -> list[Text]:
    own, notes = capture.model.family.own_reading(capture.model.module), []
    if token not in (own, "own"):
        notes.append(
            Text("The model was trained to be read by: {reading}.", "该模型训练时的读出方式：{reading}。").format(
                reading=READING_WORDS[own]
            )
        )
    if len(blocks) < capture.depth:
        notes.append(
            Text(
                "Only blocks {first} to {last} have the width that the classifier reads.",
                "只有块 {first} 到 {last} 的宽度与分类头相符。",
            ).format(first=blocks[0], last=blocks[-1])
        )
    return notes


def refuses(capture: Capture) -> Text | None:
    """Without a classifier there are no logits, and one output alone is a number: its probability would be 1."""
    if capture.model.num_classes == 1:
        return Text("{model} predicts a number, not classes.", "{model} 预测的是数值，而非类别。").format(
            model=capture.model.name
        )
    if capture.model.num_classes:
        return None
    return Text("{model} has no classifier to read its tokens with.", "{model} 没有可用于读出标记的分类头。").format(
        model=capture.model.name
    )


VIEW = View(
    title=TITLE,
    question=Text("When does the model make up its mind?", "模型在哪一块做出判断？"),
    misleads=Text(
        "Earlier blocks were never trained to speak to the classifier: that it cannot read them does not mean that "
        "they know nothing.",
        "前面的块从未被训练来直接面对分类头：读不出来并不代表其中没有信息。",
    ),
    room="outputs",
    compute=compute,
    controls=(ReadingControl(),),
    paper=Paper("Belrose et al. 2023", "https://arxiv.org/abs/2303.08112"),
    refuses=refuses,
)
