"""Vocabulary of the bundled models: words of both languages, and unknown ones."""

from __future__ import annotations

import pytest

from vitexplorer.core.text import SettingError
from vitexplorer.models.texts.word_list import WordList


@pytest.fixture(scope="module")
def words():
    return WordList(("a", "red", "gear", "一个", "红色", "红", "的", "齿轮"), first=2)


def test_numbers_begin_after_a_models_own_tokens(words):
    assert words.tokens("a red gear") == [2, 3, 4]
    assert len(words) == 10


def test_words_of_both_languages(words):
    assert words.split("A Red, gear!") == ["a", "red", "gear"]
    assert words.split("一个红色的齿轮。") == ["一个", "红色", "的", "齿轮"]
    assert words.split("红的 gear") == ["红", "的", "gear"]


@pytest.mark.parametrize(
    ("text", "unknown"), [("a blue cat", ["blue", "cat"]), ("一只红鱼", ["一", "只", "鱼"]), ("😀 gear 7", ["😀", "7"])]
)
def test_unknown_words_are_named(words, text, unknown):
    with pytest.raises(SettingError) as caught:
        words.split(text)
    for message in caught.value.text:
        assert all(f"“{word}”" in message for word in unknown)


@pytest.mark.parametrize("text", ["", "...", " \t", "！，"])
def test_a_text_without_words_is_refused(words, text):
    with pytest.raises(SettingError, match="no word"):
        words.split(text)
