"""Control: one setting of a view, an intervention or a method; and checking and describing all settings of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from vitexplorer.controls.spec import Fields, Spec
from vitexplorer.core.capture_protocol import CaptureProtocol
from vitexplorer.core.registry import unknown_name
from vitexplorer.core.summaries import described
from vitexplorer.core.text import ExplainedError, Text, same
from vitexplorer.core.types import Result


@dataclass(frozen=True)
class Control(ABC):
    """One setting: its name, label, allowed values and default."""

    name: str
    label: Text

    kind: ClassVar[str] = "text"
    """Kind of drawing, see `Spec`"""
    of_capture: ClassVar[bool] = True
    """True if its default and options depend on the capture, so are unknown without one"""
    of_python: ClassVar[bool] = False
    """True if only Python can give its value, so that no form has it"""
    takes: ClassVar[Text | None] = None
    """Allowed input, if it is the same for every control of the kind"""
    words: ClassVar[Mapping[str, Text]] = {}
    """Words in its drawing, likewise"""

    @abstractmethod
    def default(self, capture: CaptureProtocol) -> Any:
        """Return the default value."""

    def default_after(self, capture: CaptureProtocol | None, settings: Mapping[str, Any]) -> Any:
        """Return the default value, which may depend on the controls before it; `settings` holds their values."""
        return self.default(capture)

    @abstractmethod
    def parse(self, value: Any, capture: CaptureProtocol | None, settings: Mapping[str, Any]) -> Any:
        """Check a value from a person, a URL or a command line; `settings` holds the controls before it.

        Raises SettingError for an invalid value.
        """

    def offered(self, capture: CaptureProtocol | None) -> tuple[tuple[str, Text], ...]:
        """Return the options (as written, in words); empty if there is no short list."""
        return ()

    def called(self, capture: CaptureProtocol | None) -> Text:
        """Return the label, which may depend on the model."""
        return self.label

    def say(self, value: Any, capture: CaptureProtocol | None) -> Text:
        """Describe a checked value in words."""
        written = written_value(value)
        return dict(self.offered(capture)).get(written, same(written))

    def spec(
        self,
        capture: CaptureProtocol | None = None,
        settings: Mapping[str, Any] | None = None,
        result: Result | None = None,
    ) -> Spec:
        """Describe the control for drawing.

        Args:
            capture: the capture; None gives only the parts that are the same for every model.
            settings: checked values of the controls before it, and its own if it has one.
            result: result computed with these settings, if it is drawn beside the control.
        """
        settings = settings or {}
        details = {"takes": self.takes, "words": self.words, **self.details(capture, settings, result)}
        if capture is None and self.of_capture:
            return Spec(self.kind, self.name, self.label, "", **details)
        value = settings.get(self.name)
        value = self.default_after(capture, settings) if value is None else value
        offered = self.offered(capture)
        written = written_value(value)
        if offered and written not in dict(offered):
            offered = (*offered, (written, self.say(value, capture)))
        return Spec(self.kind, self.name, self.called(capture), written, **{"options": offered, **details})

    def details(self, capture: CaptureProtocol | None, settings: Mapping[str, Any], result: Result | None) -> Fields:
        """Return further fields of `spec`; those that depend on the capture only if there is one."""
        return {}


@described.register
def _(control: Control) -> str:
    return control.name


def written_value(value: Any) -> str:
    """Write a setting as the command line, the page and the URL do; its control's `parse` reads it back.

    Pairs are written 5.0 and joined by +, since commas separate the settings of a change: 5.0+5.2.
    """
    if isinstance(value, tuple | list):
        if any(isinstance(part, tuple | list) for part in value):
            return "+".join(".".join(map(str, pair)) for pair in value)
        return ",".join(map(str, value))
    if isinstance(value, float):
        return repr(float(value)).removesuffix(".0")
    return "" if value is None else str(value)


def checked(controls: tuple[Control, ...], capture: CaptureProtocol | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Check the given settings and fill in defaults for the rest; without a capture for controls that need none.

    Raises UnknownNameError for a control that does not exist, SettingError for an invalid value.
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


def in_words(
    controls: tuple[Control, ...], capture: CaptureProtocol, settings: Mapping[str, Any]
) -> dict[str, tuple[Text, Text]]:
    """Return label and value of each setting of a result in words; controls without an entry are skipped."""
    return {
        control.name: (control.called(capture), control.say(settings[control.name], capture))
        for control in controls
        if control.name in settings
    }


def departures(controls: tuple[Control, ...], capture: CaptureProtocol, settings: Mapping[str, Any]) -> dict[str, str]:
    """Return those settings of a result that differ from the defaults, as a link writes them.

    Controls without an entry in `settings` are skipped.
    """
    differing: dict[str, str] = {}
    before: dict[str, Any] = {}
    for control in controls:
        if control.name not in settings:
            continue
        default = control.parse(control.default_after(capture, before), capture, before)
        if settings[control.name] != default:
            differing[control.name] = written_value(settings[control.name])
        before[control.name] = settings[control.name]
    return differing


def specs(
    controls: tuple[Control, ...], capture: CaptureProtocol, given: Mapping[str, Any], result: Result | None = None
) -> tuple[Spec, ...]:
    """Describe every control with its given value, for drawing beside the result.

    A control with an invalid value keeps the text as written, so that a person can correct it; the other controls see
    its default.
    """
    settings: dict[str, Any] = {}
    described_controls = []
    for control in controls:
        chosen = given.get(control.name)
        refused = False
        try:
            settings[control.name] = None if chosen is None else control.parse(chosen, capture, settings)
        except ExplainedError:
            refused = True
        if settings.get(control.name) is None:
            settings[control.name] = control.default_after(capture, settings)
        spec = control.spec(capture, settings, result)
        described_controls.append(_as_written(spec, written_value(chosen)) if refused else spec)
    return tuple(described_controls)


def _as_written(spec: Spec, value: str) -> Spec:
    options = (*spec.options, (value, same(value))) if spec.options else ()
    return replace(spec, value=value, options=options)
