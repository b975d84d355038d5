"""Notes on patches beyond a colour scale that ends at a percentile, so that one patch does not darken all others."""

from __future__ import annotations

from vitexplorer.core.format import measured
from vitexplorer.core.text import Text
from vitexplorer.figures.page import Page
from vitexplorer.figures.scaling import PERCENTILE

ROOM = 24
"""Pixels for a note under a map"""
BEYOND = Text("{n:patch} beyond the scale", "{n} 个图块超出标度")
SHORT = Text("{n:patch} beyond", "{n} 个图块超出")
"""The same under a map too narrow for it"""
ENDS = Text(
    "{how}; the scale ends at the {percentile}th percentile of the magnitudes; the largest is {largest}",
    "{how}；标度止于绝对值的第 {percentile} 百分位数，最大绝对值为 {largest}",
)


def note_beyond(page: Page, x: float, y: float, count: int, words: Text = BEYOND) -> None:
    """Draw the number of patches beyond the scale of a map, nothing for 0."""
    if count:
        page.small(x, y, words.format(n=count), muted=True)


def ends_early(how: Text, largest: float) -> Text:
    """Return how numbers are painted on a scale that ends before the largest magnitude, for captions."""
    return ENDS.format(how=how, percentile=PERCENTILE, largest=measured(largest))
