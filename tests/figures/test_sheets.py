"""Figures for the page: the numbers of the slide, laid out for every window, with the caption beside them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.helpers.expected_refusals import is_refused
from tests.helpers.least_settings import cheaply, run_once
from tests.helpers.small_models import capture_small
from vitexplorer.figures.rendering import slide, windows
from vitexplorer.figures.sheets import WINDOWS
from vitexplorer.ui.panel.documents import figure_json
from vitexplorer.views import compute

CASES = [(view, key) for view in run_once() for key in ("vit", "swin") if not is_refused(view, key)]


def beside(document: dict[str, Any]) -> list[str]:
    """Return texts placed outside of their window."""
    width, height = document["layout"]["width"], document["layout"]["height"]
    return [
        text["text"]
        for text in document["layout"]["annotations"]
        if not (-1 <= text["x"] <= width + 1 and -1 <= -text["y"] <= height + 1)
    ]


@pytest.mark.parametrize(("view", "key"), CASES)
def test_a_window_has_the_numbers_and_leaves_the_caption_to_the_page(view: str, key: str) -> None:
    result = cheaply(view, capture_small(key))
    (documents, facts), whole = windows(result), slide(result)
    values = [trace["z"] for trace in whole["data"] if trace["type"] == "heatmap"]
    assert {fact.label.en for fact in facts} >= {"Model", "Weights"}
    assert [document["layout"]["meta"]["sheet"] for document in documents] == [sheet.width for sheet in WINDOWS]
    for document in documents:
        words = " ".join(text["text"] for text in document["layout"]["annotations"])
        assert result.title.en not in words
        assert result.provenance.model not in words
        assert beside(document) == []
        painted = [trace["z"] for trace in document["data"] if trace["type"] == "heatmap"]
        for one, other in zip(painted, values, strict=True):
            assert np.array_equal(one, other[:, : one.shape[1]], equal_nan=True)  # a narrow table has fewer columns


def test_a_window_ends_right_of_what_is_drawn() -> None:
    result = compute("attention_map", capture_small("vit"))
    result = replace(result, provenance=replace(result.provenance, weights="pretrained"))  # no warning over the width
    widths = [document["layout"]["width"] for document in windows(result)[0]]
    # the map is as high as its window without margins and shares below it, and has 114 pixels for its colour scale
    below = 6 + 60 + 23 * 2
    assert widths == [350, *(sheet.height - 16 - below + 114 + 16 for sheet in WINDOWS[1:])]
    assert slide(result)["layout"]["width"] == 1280


def test_a_file_holds_what_its_layouts_share_once() -> None:
    result = compute("attention_map", capture_small("vit"))
    content = json.loads(figure_json(windows(result)[0], slide(result)))
    images = [document["layout"]["images"][0]["source"] for document in (*content["windows"], content["slide"])]
    assert images == [images[0]] * len(images)
    assert content["shared"][images[0]["shared"]].startswith("data:image/png")
    layouts = [document["layout"] for document in (*content["windows"], content["slide"])]
    tables = [layout["coloraxis"]["colorscale"] for layout in layouts]
    assert tables == [tables[0]] * len(tables)
    assert content["shared"][tables[0]["shared"]][0] == [0, "rgb(0,0,4)"]
