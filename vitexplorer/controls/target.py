"""Control for the target class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from vitexplorer.controls.control import Control
from vitexplorer.controls.number import whole_number
from vitexplorer.core.capture_protocol import CaptureProtocol, has_one_output, without_classifier
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import SettingError, Text, UnsupportedError, same
from vitexplorer.core.types import OUTPUT

_TARGET = Text("Target", "解释目标")
LIKELY = 12
"""Number of offered classes, the likeliest"""


@dataclass(frozen=True)
class TargetControl(Control):
    """Target class, by number or name; defaults to the model's top class.

    A model with one output allows only 0, or the output's name.
    """

    name: str = "target"
    label: Text = Text("Class", "类别")

    kind: ClassVar[str] = "choice"

    def default(self, capture: CaptureProtocol) -> int:
        """Return the class with the highest logit. Raises UnsupportedError for a model without a classifier."""
        return int(self._logits(capture).argmax())

    def parse(self, value: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> int:
        """Return the number of a class; any of several names of a class ("tabby, tabby cat") is accepted.

        Raises SettingError, UnknownNameError, or UnsupportedError for a model without a classifier.
        """
        num_classes = len(self._logits(capture))
        if value in capture.model.class_names_zh:
            return capture.model.class_names_zh.index(value)
        if isinstance(value, str) and not value.strip().lstrip("-").isdigit() and capture.model.class_names:
            return self._named(value, capture.model.class_names)
        target = whole_number(self.name, value)
        if target and has_one_output(capture):
            raise SettingError(
                Text(
                    "{model} has one output, which is number 0: there is no {target}.",
                    "{model} 只有一个输出，编号为 0：{target} 不存在。",
                ).format(model=capture.model.title, target=target)
            )
        if not 0 <= target < num_classes:
            raise SettingError(
                Text(
                    "There is no class {target}: the classes are 0 to {last}.",
                    "类别 {target} 不存在：类别编号为 0 到 {last}。",
                ).format(target=target, last=num_classes - 1)
            )
        return target

    def offered(self, capture: CaptureProtocol) -> tuple[tuple[str, Text], ...]:
        """Return the likeliest classes; none without a classifier."""
        if capture.logits is None:
            return ()
        likely = capture.logits.argsort(descending=True)[:LIKELY].tolist()
        return tuple((str(target), self.say(target, capture)) for target in likely)

    def called(self, capture: CaptureProtocol | None) -> Text:
        """Return the label, which does not speak of classes for a model with one output."""
        return super().called(capture) if capture is None or not has_one_output(capture) else _TARGET

    def say(self, value: int, capture: CaptureProtocol) -> Text:
        """Name the class by number and name, or the output of a model that has only one."""
        names = capture.model.class_texts
        if has_one_output(capture):
            return names[value] if names else OUTPUT
        return Text("{n} ({name})", "{n}（{name}）").format(n=value, name=names[value]) if names else same(str(value))

    def _logits(self, capture: CaptureProtocol) -> Any:
        reason = without_classifier(capture)
        if reason is not None:
            raise UnsupportedError(reason)
        return capture.logits

    def _named(self, value: str, names: tuple[str, ...]) -> int:
        name = value.strip().casefold()
        parts = [[name.casefold(), *map(str.strip, name.casefold().split(","))] for name in names]
        matches = [number for number, known in enumerate(parts) if name in known]
        exact = [number for number in matches if parts[number][0] == name]
        matches = exact or matches
        if not matches:
            raise unknown_name("class", value, names)
        if len(matches) > 1:
            raise SettingError(
                Text(
                    "{found} classes are called '{name}': give the number, {numbers}.",
                    "有 {found} 个类别名为“{name}”：请给出编号 {numbers}。",
                ).format(found=len(matches), name=value, numbers=", ".join(map(str, matches)))
            )
        return matches[0]
