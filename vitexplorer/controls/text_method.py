"""Controls for the way from a text to the patches: the method, and the second model of a method that needs one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from vitexplorer.controls.control import Control
from vitexplorer.controls.images import NamedCapture
from vitexplorer.controls.spec import Fields
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import SettingError, Text, same
from vitexplorer.core.types import Result

NO_CAPTURE = Text(
    "other is a capture of the same picture by a second model, not {value}.",
    "other 应为第二个模型对同一图像的前向传播记录，而不是 {value}。",
)
OTHER_PICTURE = Text(
    "other is a capture of another picture; both models must see the same one.",
    "other 是另一幅图像的前向传播记录；两个模型必须看同一幅图像。",
)


@dataclass(frozen=True)
class TextMethodControl(Control):
    """Method of a text map; defaults to the first that has a meaning for the model."""

    name: str = "method"
    label: Text = Text("Method", "方法")
    known: Callable[[], Mapping[str, Any]] = dict
    """Function that returns the methods; called late, since they load torch"""

    kind: ClassVar[str] = "choice"

    def default(self, capture: CaptureProtocol) -> str:
        """Return the first method that has a meaning for the model."""
        return next(key for key, _ in self.offered(capture))

    def offered(self, capture: CaptureProtocol | None) -> tuple[tuple[str, Text], ...]:
        """Return the methods that have a meaning for the model and need no second one; without a capture, for any."""
        return tuple(
            (key, method.title)
            for key, method in self.known().items()
            if not method.needs_other and (capture is None or method.refuses(capture) is None)
        )

    def say(self, value: str, capture: CaptureProtocol | None) -> Text:
        """Name the method."""
        return self.known()[value].title

    def parse(self, value: Any, capture: CaptureProtocol | None, settings: Mapping[str, Any]) -> str:
        """Return the key of a method. Raises UnknownNameError for any other value."""
        if not isinstance(value, str) or value not in self.known():
            raise unknown_name("method", value, self.known())
        return value

    def details(self, capture: CaptureProtocol | None, settings: Mapping[str, Any], result: Result | None) -> Fields:
        """Return the keys of the methods."""
        return {"takes": same(" | ".join(self.known()))}


@dataclass(frozen=True)
class OtherCaptureControl(Control):
    """Capture of the same picture by a second model; defaults to none."""

    name: str = "other"
    label: Text = Text("Second model", "第二个模型")

    of_python: ClassVar[bool] = True

    def default(self, capture: CaptureProtocol) -> None:
        """Return None."""

    def parse(self, value: Any, capture: CaptureProtocol | None, settings: Mapping[str, Any]) -> NamedCapture | None:
        """Return the capture under its model's name. Raises SettingError for anything else, or another picture."""
        if value is None or value == "":
            return None
        given = value.capture if isinstance(value, NamedCapture) else value
        if not hasattr(given, "residual_after"):
            raise SettingError(NO_CAPTURE.format(value=repr(value)[:60]))
        if capture is not None and given.input.image_hash != capture.input.image_hash:
            raise SettingError(OTHER_PICTURE)
        return NamedCapture(given.model.name, given)

    def say(self, value: NamedCapture | None, capture: CaptureProtocol | None) -> Text:
        """Name the second model."""
        return Text("none", "无") if value is None else value.capture.model.title
