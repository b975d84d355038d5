"""One large map and two small ones: beside it where there is room, otherwise below; a title never leaves its map."""

from __future__ import annotations

import numpy as np
import pytest

from vitexplorer.core.text import same
from vitexplorer.core.types import PatchGrid
from vitexplorer.figures.large_and_small import HEAD, Panel, large_and_small
from vitexplorer.figures.page import BAR_ROOM, Page
from vitexplorer.figures.sheets import PRINTED, SLIDE, WINDOWS, Sheet
from vitexplorer.figures.themes import TEXT_SIZE
from vitexplorer.figures.typesetting import width

TITLE = "left: a model with a name of many words"


@pytest.mark.parametrize("bar", [0, BAR_ROOM])
@pytest.mark.parametrize("sheet", [SLIDE, PRINTED, *WINDOWS])
def test_maps_stay_in_the_page_and_apart(sheet: Sheet, bar: float) -> None:
    page = Page("en", "light", sheet)
    panel = Panel(np.zeros((192, 192, 3), np.uint8), PatchGrid(12, 12, 16), same(TITLE), same("up to 1.89 %"))
    large, upper, lower = large_and_small(page, [panel] * 3, 10.0, bar)
    assert large.image.width > 1.4 * upper.image.width
    assert upper.image.width == lower.image.width > 80
    assert max(large.right + BAR_ROOM, upper.right + bar, lower.right + bar) <= page.right + 1e-6
    below = upper.image.y > large.bottom
    if below:
        assert upper.right < lower.image.x
    else:
        assert large.right + BAR_ROOM <= upper.image.x
        assert upper.bottom + HEAD <= lower.image.y
    notes = page.document(lower.bottom)["layout"]["annotations"]
    for title in [note for note in notes if note["text"].startswith("<b>")]:
        under = [at for at in (large, upper, lower) if at.image.x == title["x"] and at.image.y > -title["y"]]
        at = min(under, key=lambda at: at.image.y)
        assert width(title["text"][3:-4], TEXT_SIZE) <= at.image.width + width("…", TEXT_SIZE)
        assert not below or at is large or -title["y"] >= large.bottom
