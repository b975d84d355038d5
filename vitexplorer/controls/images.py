"""More pictures beside those that are captured, each as one model sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from vitexplorer.controls.control import Control
from vitexplorer.controls.spec import Spec
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.text import SettingError, Text, same
from vitexplorer.core.types import Result

MOST = 4
"""more pictures than the two sides"""
_LETTERS = 15
"""of an image's id in a sentence"""
WORDS = {
    "add": Text("Add a picture", "添加图像"),
    "choose_image": Text("Choose a file ...", "选择文件……"),
    "own_image": Text("an image of your own", "您自己的图像"),
    "image_lost": Text("The file did not arrive; please try again.", "文件未能送达，请重试。"),
    "remove": Text("Remove {title}", "移除{title}"),
    "full": Text("{most} more pictures at most.", "最多再添加 {most} 幅图像。"),
}


class NamedCapture:
    """A capture of another picture under the name that it was given; in writing it is that name."""

    def __init__(self, name: str, capture: CaptureProtocol):
        """Args: name: its id in the page, its file, or the first of its hash; capture: of the same model."""
        self.name, self.capture = name, capture

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedCapture) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


@dataclass(frozen=True)
class ImagesControl(Control):
    """Up to `MOST` pictures; none when nobody says.

    In Python captures of them; the page and the command line, which know images by name, write `a,b`, see
    `named_images`.
    """

    kind: ClassVar[str] = "images"
    of_capture: ClassVar[bool] = False

    def default(self, capture: CaptureProtocol | None) -> tuple[NamedCapture, ...]:
        """None."""
        return ()

    def parse(
        self, value: Any, capture: CaptureProtocol | None, settings: Mapping[str, Any]
    ) -> tuple[NamedCapture, ...]:
        """Captures by the model of the one that they stand beside. Raises SettingError for others, and for too many."""
        given = [value] if hasattr(value, "input") else value
        if not isinstance(given, list | tuple) or any(isinstance(one, str) for one in given):
            raise SettingError(NO_NAMES)
        found = tuple(one if isinstance(one, NamedCapture) else _named(one) for one in given)
        _check_number(len(found))
        for one in found:
            if capture is not None and one.capture.model.name != capture.model.name:
                raise SettingError(
                    OF_ANOTHER.format(image=one.name[:_LETTERS], other=one.capture.model.name, model=capture.model.name)
                )
        return found

    def say(self, value: tuple[NamedCapture, ...], capture: CaptureProtocol | None) -> Text:
        """Their names one after the other."""
        names = [one.name[:_LETTERS] for one in value]
        return Text(", ".join(names) or "none", "、".join(names) or "无")

    def spec(
        self,
        capture: CaptureProtocol | None = None,
        settings: Mapping[str, Any] | None = None,
        result: Result | None = None,
    ) -> Spec:
        """How many there may be."""
        spec = super().spec(capture, settings, result)
        return replace(spec, takes=same("IMAGE,IMAGE"), words=WORDS, more={"most": MOST})


NO_NAMES = Text(
    "No image can be named here: give the captures of the other pictures.",
    "此处不能按名称指定图像：请给出其他图像的捕获结果。",
)
OF_ANOTHER = Text(
    "Picture {image} was seen by {other}, the others by {model}: all must be captures of one model.",
    "图像 {image} 由 {other} 处理，其余由 {model} 处理：所有图像必须来自同一模型。",
)
TOO_MANY = Text("{count} more pictures are too many: {most} at most.", "再添加 {count} 幅图像过多：最多 {most} 幅。")


def named_images(written: Any) -> tuple[str, ...]:
    """The names in `a,b`, each once; none in anything else. Raises SettingError for too many."""
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
