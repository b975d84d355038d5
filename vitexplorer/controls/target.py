"""The class that is explained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from vitexplorer.controls.control import Control
from vitexplorer.controls.spec import Spec
from vitexplorer.controls.whole_number import whole_number
from vitexplorer.core.capture_protocol import CaptureProtocol, has_one_output, without_classifier
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import SettingError, Text, UnsupportedError, same
from vitexplorer.core.types import OUTPUT, Result

_TARGET = Text("Target", "解释目标")
LIKELY = 12
"""classes offered, the model's first choices"""


@dataclass(frozen=True)
class TargetControl(Control):
    """The class that is explained, by number or by name; the model's first choice when nobody says.

    A model with one output has nothing to choose: 0, or the output's name.
    """

    name: str = "target"
    label: Text = Text("Class", "类别")

    kind: ClassVar[str] = "choice"

    def default(self, capture: CaptureProtocol) -> int:
        """The class with the highest logit. Raises UnsupportedError for a model without a classifier."""
        return int(self._logits(capture).argmax())

    def parse(self, value: Any, capture: CaptureProtocol, settings: Mapping[str, Any]) -> int:
        """A class that the model has; of several names for one class ("tabby, tabby cat") each will do."""
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
                    "{model} 只有一个输出，编号为 0：没有 {target}。",
                ).format(model=capture.model.name, target=target)
            )
        if not 0 <= target < num_classes:
            raise SettingError(
                Text(
                    "There is no class {target}: the classes are 0 to {last}.",
                    "没有类别 {target}：类别编号为 0 到 {last}。",
                ).format(target=target, last=num_classes - 1)
            )
        return target

    def called(self, capture: CaptureProtocol | None) -> Text:
        """The label; a model with one output has no classes."""
        return super().called(capture) if capture is None or not has_one_output(capture) else _TARGET

    def say(self, value: int, capture: CaptureProtocol) -> Text:
        """Number and name; the output of a model that has one."""
        names = capture.model.class_texts
        if has_one_output(capture):
            return names[value] if names else OUTPUT
        return Text("{n} ({name})", "{n}（{name}）").format(n=value, name=names[value]) if names else same(str(value))

    def spec(
        self,
        capture: CaptureProtocol | None = None,
        settings: Mapping[str, Any] | None = None,
        result: Result | None = None,
    ) -> Spec:
        """The model's first choices, and the one that is explained if it is none of them."""
        spec = super().spec(capture, settings, result)
        if capture is None:
            return spec
        likely = self._logits(capture).argsort(descending=True)[:LIKELY].tolist()
        chosen = int(spec.value)
        shown = likely if chosen in likely else [*likely, chosen]
        return replace(spec, options=tuple((str(target), self.say(target, capture)) for target in shown))

    def _logits(self, capture: CaptureProtocol) -> Any:
        reason = without_classifier(capture)
        if reason is not None:
            raise UnsupportedError(reason)
        return capture.logits

    def _named(self, value: str, names: tuple[str, ...]) -> int:
        wanted = value.strip().casefold()
        parts = [[name.casefold(), *map(str.strip, name.casefold().split(","))] for name in names]
        found = [number for number, known in enumerate(parts) if wanted in known]
        exact = [number for number in found if parts[number][0] == wanted]
        found = exact or found
        if not found:
            raise unknown_name("class", value, names)
        if len(found) > 1:
            raise SettingError(
                Text(
                    "{found} classes are called '{name}': give the number, {numbers}.",
                    "有 {found} 个类别名为“{name}”：请给出编号 {numbers}。",
                ).format(found=len(found), name=value, numbers=", ".join(map(str, found)))
            )
        return found[0]
