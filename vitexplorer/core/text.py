"""Text in English and Chinese, errors with such a text, and the type of a progress callback.

Every string that a user can see is a `Text`, with both languages side by side, so that neither can be forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple

Language = Literal["en", "zh"]
Progress = Callable[[int, int], None]
"""Type of a progress callback: amount done, amount in all. An error that it raises stops the work."""
SPACE_AFTER_MARK = re.compile(r"(?<=[）。？！]) (?=[\u4e00-\u9fff])")
COUNTED = re.compile(r"\{(\w+):(~?)([a-z][a-z ]+)(?:/([a-z][a-z ]*))?\}")
"""Field of a template with the word that its number counts, see `Text.format`"""


class Text(NamedTuple):
    """One sentence or word in English and in Simplified Chinese."""

    en: str
    zh: str

    def in_(self, language: Language) -> str:
        """Return the text in `language`; anything that is not Chinese gives English.

        A no-break space keeps each percent sign on the line of its number, and no space follows a Chinese mark, which
        has one of its own.
        """
        return SPACE_AFTER_MARK.sub("", self._written(language)).replace(" %", "\N{NO-BREAK SPACE}%")

    def _written(self, language: Language) -> str:
        return self.zh if language == "zh" else self.en

    def format(self, **values: object) -> Text:
        """Replace `{name}` in both languages; a value that is a `Text` is filled in in the same language.

        `{n:patch}` becomes "1 patch" or "2 patches"; `{n:image is/images are}` names both forms, and `{n:~is/are}`
        leaves the number out.
        """

        def fill(template: str, language: Language) -> str:
            filled = {
                name: value._written(language) if isinstance(value, Text) else value for name, value in values.items()
            }
            return COUNTED.sub(lambda field: _with_word(field, filled), template).format(**filled)

        return Text(fill(self.en, "en"), fill(self.zh, "zh"))

    def join(self, texts: Iterable[Text]) -> Text:
        """Join texts with this one between them, as `str.join` does in each language."""
        texts = tuple(texts)
        return Text(self.en.join(text.en for text in texts), self.zh.join(text.zh for text in texts))


SPACE = Text(" ", "")
"""Separator of sentences"""
COMMA = Text(", ", "，")
"""Separator of parts of a sentence"""
SEMICOLON = Text("; ", "；")
"""Separator of parts that hold commas"""
ITEMS = Text(", ", "、")
"""Separator of the items of a list"""


def _with_word(field: re.Match[str], values: dict[str, object]) -> str:
    name, is_alone, one, many = field.groups()
    value = values[name]
    regular = f"{one}es" if one.endswith(("s", "x", "ch", "sh")) else f"{one}s"
    word = one if str(value) == "1" else many or regular
    return word if is_alone else f"{value:,} {word}" if isinstance(value, int) else f"{value} {word}"


class ExplainedError(ValueError):
    """Base of errors that a person can mend: a sentence in both languages, in English as a string."""

    def __init__(self, text: Text):
        super().__init__(text.en)
        self.text = text

    def __reduce__(self):  # pickle rebuilds an exception from its args, which are only the English text
        return type(self), (self.text,)


class UnsupportedError(ExplainedError):
    """Raised where a picture would be meaningless or wrong for this model; the message says why and what to do."""


class SettingError(ExplainedError):
    """Raised for a value that a control cannot take; the message gives the value and the rule."""


def same(word: str) -> Text:
    """Make a text of a name that is the same in every language: a model's, a paper's, a symbol."""
    return Text(word, word)


def present(*texts: Text | None) -> tuple[Text, ...]:
    """Return those of the texts that are not None."""
    return tuple(text for text in texts if text is not None)


def text_of(texts: Mapping[str, Text], key: str, language: Language, **values: object) -> str:
    """Return the text of a key in one language, with its values filled in."""
    text = texts[key]
    return (text.format(**values) if values else text).in_(language)


def in_language(texts: Mapping[str, Text], language: Language, prefix: str = "") -> dict[str, str]:
    """Return the texts whose keys begin with `prefix`, for a browser that fills in the values."""
    return {key: text.in_(language) for key, text in texts.items() if key.startswith(prefix)}


def normalise_language(code: str | None) -> Language:
    """Read a language code: `zh`, `zh-CN`, `zh_Hans`, ... are Chinese; everything else, also None, is English."""
    return "zh" if (code or "").lower().replace("_", "-").split("-")[0] == "zh" else "en"
