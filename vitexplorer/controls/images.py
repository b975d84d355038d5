"""Control for further pictures, each captured by the same model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from vitexplorer.controls.control import Control
from vitexplorer.controls.spec import Fields
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.text import SettingError, Text, same
from vitexplorer.core.types import Result

MOST = 4
"""Limit for pictures besides the two sides"""
_LETTERS = 15
"""Letters of an image's id that a sentence quotes"""
WORDS = {
    "add": Text("Add a picture", "添加图像"),
    "choose_image": Text("Choose a file ...", "选择文件……"),
    "own_image": Text("an image of your own", "您自己的图像"),
    "image_lost": Text("The file did not arrive; please try again.", "文件未能送达，请重试。"),
    "remove": Text("Remove {title}", "移除{title}"),
    "full": Text("{most} more pictures at most.", "最多再添加 {most} 幅图像。"),
}


class NamedCapture:
    """Capture of another picture, by the same model, with its name, which is also its text form.

    It is no dataclass, of which a saved result would list every field.
    """

    def __init__(self, name: str, capture: CaptureProtocol):
        self.name = name
        """Id of the picture on the page, its file, or the start of its hash"""
        self.capture = capture

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedCapture) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


@dataclass(frozen=True)
class ImagesControl(Control):
    """Up to `MOST` pictures; defaults to none.

    In Python they are captures; the page and the command line write names, `a,b`, see `named_images`.
    """

    kind: ClassVar[str] = "images"
    of_capture: ClassVar[bool] = False
    takes: ClassVar[Text | None] = same("IMAGE,IMAGE")
    words: ClassVar[Mapping[str, Text]] = WORDS

    def default(self, capture: CaptureProtocol | None) -> tuple[NamedCapture, ...]:
        """Return no pictures."""
        return ()

    def parse(
        self, value: Any, capture: CaptureProtocol | None, settings: Mapping[str, Any]
    ) -> tuple[NamedCapture, ...]:
        """Return the captures. Raises SettingError for captures by another model, and for too many."""
        given = [value] if hasattr(value, "input") else value
        if not isinstance(given, list | tuple) or any(isinstance(picture, str) for picture in given):
            raise SettingError(NO_NAMES)
        pictures = tuple(picture if isinstance(picture, NamedCapture) else _named(picture) for picture in given)
        _check_number(len(pictures))
        for picture in pictures:
            model = picture.capture.model.name
            if capture is not None and model != capture.model.name:
                name = picture.name[:_LETTERS]
                raise SettingError(OF_ANOTHER.format(image=name, other=model, model=capture.model.title))
        return pictures

    def say(self, value: tuple[NamedCapture, ...], capture: CaptureProtocol | None) -> Text:
        """List the names of the pictures."""
        names = [picture.name[:_LETTERS] for picture in value]
        return Text(", ".join(names) or "none", "、".join(names) or "无")

    def details(self, capture: CaptureProtocol | None, settings: Mapping[str, Any], result: Result | None) -> Fields:
        """Return the limit of pictures."""
        return {"more": {"most": MOST}}


NO_NAMES = Text(
    "No image can be named here: give the captures of the other pictures.",
    "此处不能按名称指定图像：请给出其他图像的前向传播记录。",
)
OF_ANOTHER = Text(
    "Picture {image} was seen by {other}, the others by {model}: all must be captures of one model.",
    "图像 {image} 由 {other} 处理，其余由 {model} 处理：所有前向传播记录必须来自同一模型。",
)
TOO_MANY = Text("{count} more pictures are too many: {most} at most.", "最多再添加 {most} 幅图像，而不是 {count} 幅。")


def named_images(written: Any) -> tuple[str, ...]:
    """Return the names in `a,b`, each once; none if it is no text. Raises SettingError for too many."""
    if not isinstance(written, str):
        return ()
    names = tuple(dict.fromkeys(filter(None, (name.strip() for name in written.split(",")))))
    _check_number(len(names))
    return names


def _named(capture: Any) -> NamedCapture:
    if not hasattr(capture, "input"):
        raise SettingError(NO_NAMES)
    return NamedCapture(capture.input.image_hash[:8], capture)


def _check_number(count: int) -> None:
    if count > MOST:
        raise SettingError(TOO_MANY.format(count=count, most=MOST))
