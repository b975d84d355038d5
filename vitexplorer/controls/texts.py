"""Controls for texts that an image is compared with: sentences, or vectors of the joint space."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from vitexplorer.controls.control import Control
from vitexplorer.controls.explained import TextVector
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.text import SettingError, Text, UnsupportedError, same

MOST = 100
"""Most texts of one view"""
NO_TEXTS = Text(
    "{model} reads no texts. Give a vector of {width} numbers instead, or open a CLIP or SigLIP from its folder.",
    "{model} 不能读取文字。请改为给出 {width} 维向量，或打开 CLIP、SigLIP 的文件夹。",
)
EMPTY = Text("Texts must not be empty: write a word or a sentence.", "文字不能为空：请写一个词或一句话。")
NO_TEXT = Text(
    "Texts are sentences or vectors of {width} numbers, not {value}.",
    "文字应为一句话或 {width} 维向量，而不是 {value}。",
)
OTHER_WIDTH = Text(
    "The text's vector has {size} numbers and images of {model} have {width}: both must come from one model.",
    "该文字向量为 {size} 维，而 {model} 的图像向量为 {width} 维：两者必须来自同一个模型。",
)
NO_DIRECTION = Text(
    "The vector of a text or an image has no direction: it holds NaN or infinity, or nothing but zeros.",
    "该文字或图像向量没有方向：其中含有 NaN、无穷大或全为零。",
)
TOO_MANY = Text("{count} texts are too many: {most} at most.", "文字最多 {most} 条，而不是 {count} 条。")


@dataclass(frozen=True)
class TextVectors:
    """Several texts with their vectors; written one after the other with semicolons."""

    each: tuple[TextVector, ...]

    def __str__(self) -> str:
        return "; ".join(map(str, self.each))

    def __iter__(self) -> Iterator[TextVector]:
        return iter(self.each)

    def __len__(self) -> int:
        return len(self.each)


def text_vectors(values: Sequence[Any], capture: CaptureProtocol) -> tuple[TextVector, ...]:
    """Return texts with their vectors; sentences go through the model's text tower, all at once.

    Raises:
        UnsupportedError: a sentence, and the model reads none.
        SettingError: an empty or too long text, or a vector without a direction or of another width.
    """
    sentences = [value.strip() for value in values if isinstance(value, str)]
    if not all(sentences):
        raise SettingError(EMPTY)
    tower = capture.model.text
    if sentences and tower is None:
        raise UnsupportedError(NO_TEXTS.format(model=capture.model.title, width=_width(capture)))
    vectors = iter(tower.embed(sentences) if sentences else ())
    return tuple(
        TextVector(value.strip(), _checked(next(vectors), capture))
        if isinstance(value, str)
        else _of_numbers(value, capture)
        for value in values
    )


def _width(capture: CaptureProtocol) -> int:
    return len(capture.joint_embedding)


def _of_numbers(value: Any, capture: CaptureProtocol) -> TextVector:
    if isinstance(value, TextVector):
        return TextVector(value.text, _checked(value.vector, capture))
    numbers = value.detach().cpu() if hasattr(value, "detach") else value
    try:
        vector = np.asarray(numbers, dtype=np.float32)
    except (TypeError, ValueError):
        vector = np.zeros(())
    if vector.ndim != 1:
        raise SettingError(NO_TEXT.format(value=repr(value)[:60], width=_width(capture)))
    number = int.from_bytes(hashlib.sha256(vector.tobytes()).digest()[:4])
    return TextVector(f"#{number}", _checked(vector, capture))


def _checked(vector: np.ndarray, capture: CaptureProtocol) -> np.ndarray:
    """Return a vector at unit length."""
    width = _width(capture)
    if vector.shape != (width,):
        raise SettingError(OTHER_WIDTH.format(size=vector.size, model=capture.model.title, width=width))
    length = np.linalg.norm(vector.astype(np.float64))
    if not np.isfinite(length) or length == 0:
        raise SettingError(NO_DIRECTION)
    return (vector / length).astype(np.float32)


@dataclass(frozen=True)
class TextControl(Control):
    """One text, as a sentence or a vector."""

    name: str = "text"
    label: Text = Text("Text", "文字")

    takes: ClassVar[Text | None] = same("TEXT")

    def default(self, capture: CaptureProtocol) -> str:
        """Return a sentence that is true of most pictures."""
        return "an object"

    def parse(self, value: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> TextVector:
        """Return the text with its vector; raises what `text_vectors` raises."""
        return text_vectors([value], capture)[0]


@dataclass(frozen=True)
class TextsControl(Control):
    """Several texts, as sentences or vectors; in one line of text they stand apart by semicolons."""

    name: str = "texts"
    label: Text = Text("Texts", "文字")
    start: tuple[str, ...] = ("an object", "the background")

    takes: ClassVar[Text | None] = same("TEXT; TEXT")

    def default(self, capture: CaptureProtocol) -> tuple[str, ...]:
        """Return the texts to begin with."""
        return self.start

    def parse(self, value: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> TextVectors:
        """Return the texts with their vectors, equal ones once.

        Raises SettingError for no texts or too many, and what `text_vectors` raises.
        """
        if isinstance(value, str):
            value = [part for part in value.split(";") if part.strip()]
        elif getattr(value, "ndim", 1) == 2 or isinstance(value, TextVectors):
            value = list(value)
        elif not isinstance(value, list | tuple):
            value = [value]
        if not value and self.start:
            raise SettingError(EMPTY)
        if len(value) > MOST:
            raise SettingError(TOO_MANY.format(count=len(value), most=MOST))
        return TextVectors(tuple(dict.fromkeys(text_vectors(value, capture))))
