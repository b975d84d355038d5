"""What is said to a person who asked for something that cannot be: sentences, in both languages."""

from __future__ import annotations

from vitexplorer.core.text import ExplainedError


class UnsupportedError(ExplainedError):
    """A picture that would have no meaning, or be wrong, for this model; the message says why and what to do."""


class SettingError(ExplainedError):
    """A control was given a value it cannot take; the message gives the value and the rule."""
