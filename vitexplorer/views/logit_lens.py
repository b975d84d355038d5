"""When does the model make up its mind? Its final norm and classifier applied after every block.

Logit lens (nostalgebraist 2020; tuned versions: Belrose et al. 2023, arXiv 2303.08112) for vision transformers. It
reads one token, the mean over patches, the model's own pooling, or every patch on its own as a map of classes. Each
block's tokens are normalised with their own mean and variance; tools that reuse the statistics of the last block differ
from this by up to 1.7 logits. Swin: only blocks of the last stage have the width that the classifier reads.
Misleading: earlier blocks were not trained for the classifier, so early nonsense is no error of the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from vitexplorer.capturing.capture import Capture
from vitexplorer.controls import Control
from vitexplorer.core.capture_protocol import CaptureProtocol, has_one_output
from vitexplorer.core.format import counted, percent
from vitexplorer.core.paper import Paper
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import SettingError, Text, present, same
from vitexplorer.core.types import LensResult
from vitexplorer.quantities.read_out import (
    READING_WORDS,
    class_text,
    displayed_values,
    read_after,
    read_patches_after,
    readable_blocks,
    top_classes,
)
from vitexplorer.views.record import View

PATCHES = "patches"
EACH_PATCH = Text("every patch", "每个图块")
READINGS = (*READING_WORDS, PATCHES)
CLASS_OF_EACH = Text("argmax head(norm(x_i))", "argmax 分类头（归一化（x_i））")
LOGITS_OF_ONE = Text("head(norm(x))", "分类头（归一化（x））")
OWN_STATISTICS = Text("The final norm uses each block's own statistics.", "最后的归一化使用每个块自身的统计量。")
TRAINED = Text("The model was trained to be read by: {reading}.", "该模型训练时的读出方式：{reading}。")
ONLY_BLOCKS = Text(
    "Only blocks {first} to {last} have the width of the classifier.", "只有块 {first} 到 {last} 的宽度与分类头相符。"
)


@dataclass(frozen=True)
class ReadingControl(Control):
    """Control for the tokens that are read: a prefix token, "mean", "own" (the model's pooling), or "patches"."""

    name: str = "token"
    label: Text = Text("Read through", "读出方式")

    kind: ClassVar[str] = "choice"

    def default(self, capture: CaptureProtocol) -> str:
        """Return the class token if there is one, otherwise the mean over patches."""
        return "cls" if "cls" in capture.prefix_tokens else "mean"

    def offered(self, capture: CaptureProtocol) -> tuple[tuple[str, Text], ...]:
        """Return the readings that the model has the tokens for."""
        absent = {"cls", "dist"} - set(capture.prefix_tokens)
        return tuple((name, READING_WORDS.get(name, EACH_PATCH)) for name in READINGS if name not in absent)

    def parse(self, value: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> str:
        """Return a reading that the model has the tokens for."""
        if value not in READINGS:
            raise unknown_name(self.name, value, READINGS)
        if value in ("cls", "dist") and value not in capture.prefix_tokens:
            raise SettingError(
                Text(
                    'This model has no {token}. Read it through "mean", "own" or "patches".',
                    "该模型没有{token}。请改用图块平均（mean）、模型自身的池化（own）或每个图块（patches）读出。",
                ).format(token=READING_WORDS[value])
            )
        return value


def compute(capture: Capture, token: str) -> LensResult:
    """Compute logits after each block, (blocks, classes), or each patch's likeliest class, int (blocks, rows, cols)."""
    blocks, names = readable_blocks(capture), capture.model.class_texts
    grid, own = capture.grid(blocks[-1]), capture.model.family.own_reading(capture.model.module)
    if token == PATCHES:
        logits = torch.stack([read_patches_after(capture, block) for block in blocks])
        sure, classes = displayed_values(logits.double()).max(-1)
        values, probabilities = (part.reshape(-1, grid.rows, grid.cols) for part in (classes, sure))
        top = ()
    else:
        values = torch.stack([read_after(capture, block, token) for block in blocks])
        probabilities = displayed_values(values.double())
        top = tuple(top_classes(logits, names) for logits in values)
    return LensResult(
        values=values.cpu().numpy(),
        axes=("blocks", "rows", "cols") if token == PATCHES else ("blocks", "classes"),
        unit=Text("number of the likeliest class", "最可能类别的编号")
        if token == PATCHES
        else Text("logits", "logits"),
        formula=CLASS_OF_EACH if token == PATCHES else LOGITS_OF_ONE,
        notes=present(
            OWN_STATISTICS,
            None if token in (own, "own") else TRAINED.format(reading=READING_WORDS[own]),
            ONLY_BLOCKS.format(first=blocks[0], last=blocks[-1]) if len(blocks) < capture.depth else None,
        ),
        blocks=blocks,
        top=top,
        probabilities=probabilities.cpu().numpy(),
        class_names=names,
        grid=grid,
        image=capture.input.pixels,
    )


def refuses(capture: Capture) -> Text | None:
    """Refuse models without a classifier, or with a single output: that is no choice among classes."""
    if has_one_output(capture):
        return Text(
            "{model} predicts a number, not classes, so there is no choice to follow from block to block. For what "
            "its classifier reads from other tokens, see “Class token or mean of patches”.",
            "{model} 预测的是数值，而非类别，因此没有可逐块追踪的选择。用其他标记读出的输出值见“类别标记与图块平均”。",
        ).format(model=capture.model.title)
    if capture.logits is not None:
        return None
    return Text("{model} has no classifier to read its tokens with.", "{model} 没有可用于读出标记的分类头。").format(
        model=capture.model.title
    )


def reading(result: LensResult) -> Text:
    """Name the block from which on the answer is the final one, and the answer before it."""
    return _of_patches(result) if result.settings["token"] == PATCHES else _of_one_token(result)


def _of_one_token(result: LensResult) -> Text:
    answers = [top[0] for top in result.top]
    last = answers[-1]
    names = [class_text(answer.index, answer.name) for answer in answers]
    before = [n for n, answer in enumerate(answers) if answer.index != last.index]
    fields = {"answer": names[-1], "end": percent(last.probability)}
    if not before:
        return (
            Text(
                "The answer is {answer} ({start}) already after block {first} and does not change: {end} at the end.",
                "从块 {first} 起答案就是{answer}（{start}），之后不再改变：最后为 {end}。",
            )
            if len(answers) > 1
            else Text(
                "Only block {first} can be read; its answer is {answer}: {end}.",
                "只有块 {first} 可以读出，它的答案是{answer}：{end}。",
            )
        ).format(first=result.blocks[0], start=percent(answers[0].probability), **fields)
    decided = before[-1] + 1
    fields |= {
        "until": result.blocks[before[-1]],
        "block": result.blocks[decided],
        "other": names[before[-1]],
        "there": percent(answers[decided].probability),
    }
    leans = (
        Text("Until block {until} the answer is {other}", "到块 {until} 为止，模型倾向于{other}")
        if len({answer.index for answer in answers[:decided]}) == 1
        else Text(
            "The model changes its answer until block {until}, where it is {other}",
            "到块 {until} 为止，模型的答案还在变化，此时为{other}",
        )
    )
    decides = (
        Text(
            "{leans}; at block {block} it decides: {answer} {end}.", "{leans}；在块 {block} 作出判断：{answer}，{end}。"
        )
        if decided == len(answers) - 1
        else Text(
            "{leans}; at block {block} it decides for {answer} ({there}) and ends at {end}.",
            "{leans}；在块 {block} 转为{answer}（{there}），最后为 {end}。",
        )
    )
    return decides.format(leans=leans.format(**fields), **fields)


def _of_patches(result: LensResult) -> Text:
    first, last = (Counter(result.values[n].ravel().tolist()) for n in (0, -1))
    (index, count), (index_before, count_before) = last.most_common(1)[0], first.most_common(1)[0]
    fields = {
        "block": result.blocks[-1],
        "answer": class_text(index, _name(result, index)),
        "count": counted(count),
        "total": counted(result.values[-1].size),
    }
    if len(result.blocks) == 1:
        return Text(
            "Read one by one after block {block}, {count} of {total:patch} {count:~says/say} {answer}.",
            "在块 {block} 之后逐个读出，{total} 个图块中有 {count} 个的答案是{answer}。",
        ).format(**fields)
    return Text(
        "Read one by one after block {block}, {count} of {total:patch} {count:~says/say} {answer}; after block "
        "{first} the most frequent answer is {other}, of {before}.",
        "在块 {block} 之后逐个读出，{total} 个图块中有 {count} 个的答案是{answer}；在块 {first} 之后最常见的是{other}，"
        "共 {before} 个。",
    ).format(
        **fields,
        first=result.blocks[0],
        other=class_text(index_before, _name(result, index_before)),
        before=counted(count_before),
    )


def _name(result: LensResult, index: int) -> Text:
    return result.class_names[index] if result.class_names else same("")


VIEW = View(
    title=Text("Logit lens", "Logit 透镜（逐块读出）"),
    question=Text("When does the model make up its mind?", "模型在哪一块作出判断？"),
    misleads=Text(
        "Earlier blocks were never trained to be read by the classifier. A wrong answer there does not mean that the "
        "information is missing.",
        "分类头从未学过读取前面的块：那里的答案错误，并不代表其中没有信息。",
    ),
    room="outputs",
    overview=True,
    compute=compute,
    reads=("stream",),
    reading=reading,
    controls=(ReadingControl(),),
    paper=Paper("Belrose et al. 2023", "https://arxiv.org/abs/2303.08112"),
    refuses=refuses,
)
