"""Vocabulary of the bundled models that read or write sentences: whole words, English and Chinese ones together."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from vitexplorer.core.text import SettingError, Text

_PIECES = re.compile(r"[\u4e00-\u9fff]+|[^\W\d_\u4e00-\u9fff]+|\S")
"""A run of Chinese characters, a word of letters, or one other character"""
_UNKNOWN = Text(
    "This model does not know {words}. It was trained on short sentences about drawn things: a red gear.",
    "该模型不认识{words}。它只用关于合成物体的短句训练过：一个红色的齿轮。",
)
_NO_WORDS = Text("There is no word in {text}.", "{text} 中没有文字。")


class WordList:
    """Words and their numbers, counted from `first`; smaller numbers are a model's own tokens."""

    def __init__(self, words: Sequence[str], first: int):
        self.words, self.first = tuple(words), first
        self.numbers = {word: number for number, word in enumerate(words, first)}
        self._longest = max(map(len, words))

    def __len__(self) -> int:
        """Count the words and the tokens before them."""
        return self.first + len(self.words)

    def split(self, text: str) -> list[str]:
        """Split a text into words; Chinese ones are the longest that match from the left.

        Raises:
            SettingError: a word is not in the vocabulary, or there is none.
        """
        words: list[str] = []
        for piece in _PIECES.findall(text):
            if "\u4e00" <= piece[0] <= "\u9fff":
                words += self._longest_matches(piece)
            elif not unicodedata.category(piece[0]).startswith("P"):  # punctuation
                words.append(piece.lower())
        if not words:
            raise SettingError(_NO_WORDS.format(text=repr(text)[:60]))
        if unknown := dict.fromkeys(word for word in words if word not in self.numbers):
            listed = [f"“{word[:40]}”" for word in unknown][:5]
            raise SettingError(_UNKNOWN.format(words=Text(", ".join(listed), "".join(listed))))
        return words

    def _longest_matches(self, piece: str) -> list[str]:
        words = []
        while piece:
            lengths = range(min(self._longest, len(piece)), 0, -1)
            length = next((length for length in lengths if piece[:length] in self.numbers), 1)
            words.append(piece[:length])
            piece = piece[length:]
        return words

    def tokens(self, text: str) -> list[int]:
        """Return the numbers of a text's words. Raises what `split` raises."""
        return [self.numbers[word] for word in self.split(text)]
