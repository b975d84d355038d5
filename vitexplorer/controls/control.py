"""A control: one setting of a view, an intervention or a method, and how all settings of one are checked and drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from vitexplorer.controls.spec import Spec
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.summaries import described
from vitexplorer.core.text import ExplainedError, Text, same
from vitexplorer.core.types import Result


@dataclass(frozen=True)
class Control(ABC):
    """One setting: what it is called, what it may be, what it is when nobody says."""

    name: str
    label: Text

    kind: ClassVar[str] = "text"
    """how it is drawn, see `Spec`"""
    of_capture: ClassVar[bool] = True
    """whether its default and what it offers depend on the capture, so that without one nobody knows them"""

    @abstractmethod
    def default(self, capture: CaptureProtocol) -> Any:
        """The value when none is given."""

    def default_after(self, capture: CaptureProtocol | None, settings: Mapping[str, Any]) -> Any:
        """The value when none is given, where the controls before it matter; `settings` holds them."""
        return self.default(capture)

    @abstractmethod
    def parse(self, value: Any, capture: CaptureProtocol | None, settings: Mapping[str, Any]) -> Any:
        """The checked value of what a person, a URL or a command line gave; `settings` holds the controls before it.

        Raises SettingError with a sentence.
        """

    def offered(self, capture: CaptureProtocol | None) -> tuple[tuple[str, Text], ...]:
        """What may be chosen, as a person would write it and in words; empty where that is no short list."""
        return ()

    def called(self, capture: CaptureProtocol | None) -> Text:
        """The label, where the model has a say in it."""
        return self.label

    def say(self, value: Any, capture: CaptureProtocol | None) -> Text:
        """A checked value in words."""
        written = written_value(value)
        return dict(self.offered(capture)).get(written, same(written))

    def spec(
        self,
        capture: CaptureProtocol | None = None,
        settings: Mapping[str, Any] | None = None,
        result: Result | None = None,
    ) -> Spec:
        """What is needed to draw it.

        Args:
            capture: None for what is the same for every model.
            settings: checked values of the controls before it, and its own where it has one.
            result: what was computed with them, where it is shown beside the control.
        """
        settings = settings or {}
        if capture is None and self.of_capture:
            return Spec(self.kind, self.name, self.label, "")
        value = settings.get(self.name)
        value = self.default_after(capture, settings) if value is None else value
        offered = self.offered(capture)
        written = written_value(value)
        if offered and written not in dict(offered):
            offered = (*offered, (written, self.say(value, capture)))
        return Spec(self.kind, self.name, self.called(capture), written, options=offered)


@described.register
def _(control: Control) -> str:
    return control.name


def written_value(value: Any) -> str:
    """A setting as the command line, the page and the URL write it; `parse` of its control reads that.

    Pairs as 5.0 and several of them joined by +, since commas separate the settings of a change: 5.0+5.2.
    """
    if isinstance(value, tuple | list):
        if any(isinstance(part, tuple | list) for part in value):
            return "+".join(".".join(map(str, pair)) for pair in value)
        return ",".join(map(str, value))
    if isinstance(value, float):
        return repr(float(value)).removesuffix(".0")
    return "" if value is None else str(value)


def checked(controls: tuple[Control, ...], capture: CaptureProtocol, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every control's value: what was given, checked, and defaults for the rest.

    Raises UnknownNameError for a control that is not there, SettingError for a value it cannot take.
    """
    names = [control.name for control in controls]
    for name in given:
        if name not in names:
            raise unknown_name("setting", name, names)
    settings: dict[str, Any] = {}
    for control in controls:
        chosen = given.get(control.name)
        if chosen is None:
            chosen = control.default_after(capture, settings)
        settings[control.name] = control.parse(chosen, capture, settings)
    return settings


def departures(controls: tuple[Control, ...], capture: CaptureProtocol, settings: Mapping[str, Any]) -> dict[str, str]:
    """Those of a result's settings that are not the defaults, as written: what a link has to say.

    A control that had no say is not among them.
    """
    said: dict[str, str] = {}
    before: dict[str, Any] = {}
    for control in (one for one in controls if one.name in settings):
        default = control.parse(control.default_after(capture, before), capture, before)
        if settings[control.name] != default:
            said[control.name] = written_value(settings[control.name])
        before[control.name] = settings[control.name]
    return said


def specs(
    controls: tuple[Control, ...], capture: CaptureProtocol, given: Mapping[str, Any], result: Result | None = None
) -> tuple[Spec, ...]:
    """Every control with what was given, beside the result of that.

    What a control cannot take stands in it as it was written, so that a person can mend it; the others see its default.
    """
    settings: dict[str, Any] = {}
    found = []
    for control in controls:
        chosen, refused = given.get(control.name), False
        try:
            settings[control.name] = None if chosen is None else control.parse(chosen, capture, settings)
        except ExplainedError:
            refused = True
        if settings.get(control.name) is None:
            settings[control.name] = control.default_after(capture, settings)
        spec = control.spec(capture, settings, result)
        found.append(_as_written(spec, written_value(chosen)) if refused else spec)
    return tuple(found)


def _as_written(spec: Spec, value: str) -> Spec:
    options = (*spec.options, (value, same(value))) if spec.options else ()
    return replace(spec, value=value, options=options)
