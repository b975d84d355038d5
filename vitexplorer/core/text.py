"""Text in the two languages of the project, the errors that are made of it, and the type of a progress callback.

Every string that a user can see is a `Text`: both languages stand side by side, so that neither can be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

Language = Literal["en", "zh"]
Progress = Callable[[int, int], None]
"""Type of a progress callback: how much is done, how much there is in all. What it raises stops the work."""


class Text(NamedTuple):
    """One sentence or word in English and in Simplified Chinese."""

    en: str
    zh: str

    def in_(self, language: Language) -> str:
        """The text in `language`; anything that is not Chinese reads English."""
        return self.zh if language == "zh" else self.en

    def format(self, **values: object) -> Text:
        """Both languages with `{name}` replaced; a value that is a `Text` is put in in its own language."""

        def fill(template: str, language: Language) -> str:
            return template.format(
                **{name: value.in_(language) if isinstance(value, Text) else value for name, value in values.items()}
            )

        return Text(fill(self.en, "en"), fill(self.zh, "zh"))


class ExplainedError(ValueError):
    """An error that a person can mend: a sentence in both languages. As a string it reads English."""

    def __init__(self, text: Text):
        super().__init__(text.en)
        self.text = text

    def __reduce__(self):  # an exception is rebuilt from its args, which hold the English alone
        return type(self), (self.text,)


class UnsupportedError(ExplainedError):
    """A picture that would have no meaning, or be wrong, for this model; the message says why and what to do."""


class SettingError(ExplainedError):
    """A control was given a value it cannot take; the message gives the value and the rule."""


def same(word: str) -> Text:
    """A name that is the same in every language: a model's, a paper's, a symbol."""
    return Text(word, word)


def normalise_language(code: str | None) -> Language:
    """`zh`, `zh-CN`, `zh_Hans`, ... are Chinese; everything else, also None, is English."""
    return "zh" if (code or "").lower().replace("_", "-").split("-")[0] == "zh" else "en"
