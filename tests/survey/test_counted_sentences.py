"""Sentences with a count, which are English for 0, 1 and 2."""

from __future__ import annotations

import re

import pytest

from vitexplorer.core.text import Text
from vitexplorer.service.surveys.words import SURVEY_WORDS
from vitexplorer.survey.compared import ALONE, OTHERS, UNREAD

AGREES = re.compile(r"\b\d+ (\w+s|\w+ (are|were|have|is|was|has))\b")
"""A count before the noun or verb that has to agree with it"""


@pytest.mark.parametrize(
    ("key", "one", "two"),
    [
        ("survey_rate", "1 image a second", "2 images a second"),
        ("found_groups", "1 group of alike images", "2 groups of alike images"),
        ("found_pairs", "1 pair that is almost the same to the model", "2 pairs that are almost the same to the model"),
        ("found_alone", "1 image that fits nowhere", "2 images that fit nowhere"),
        ("found_line", "1 image: .", "2 images: ."),
    ],
)
def test_a_finding_agrees_with_its_count(key: str, one: str, two: str) -> None:
    names = ("rate", "groups", "pairs", "alone", "images")
    sentences = [SURVEY_WORDS[key].format(**dict.fromkeys(names, count), found="").en for count in (1, 2)]
    assert sentences == [one, two]


@pytest.mark.parametrize("count", [0, 1, 2])
@pytest.mark.parametrize("text", [UNREAD, ALONE, OTHERS, SURVEY_WORDS["survey_done"]])
def test_no_word_has_to_agree_with_a_count(text: Text, count: int) -> None:
    sentence = text.format(count=count, total=count, side="left").en
    assert str(count) in sentence
    assert not AGREES.search(sentence)
