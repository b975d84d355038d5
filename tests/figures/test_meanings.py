"""Colours of figures: one meaning has one colour everywhere."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers.small_models import capture_small
from vitexplorer.figures.chart import numbered_style
from vitexplorer.figures.colors import lookup_table, scale_of
from vitexplorer.figures.meanings import ATTENTION, BLOCK, CATEGORIES, MLP, OTHER, line_number, part_color
from vitexplorer.views import explanations


def colours_of(view: str, **settings) -> set[str]:
    figure = vx.render(vx.compute(view, capture_small("vit"), **settings))
    fills = {color for trace in figure.data if trace.type == "bar" for color in trace.marker.color}
    return fills | {color for trace in figure.data if trace.type == "treemap" for color in trace.marker.colors}


@pytest.mark.parametrize(
    ("names", "color"),
    [(("attn", "attention", "blocks.3.attn.qkv", "Attention"), ATTENTION), (("mlp", "MLP", "blocks.0.mlp.fc1"), MLP)],
)
def test_a_part_has_one_colour_under_all_its_names(names, color):
    assert {part_color(name) for name in names} == {color}


@pytest.mark.parametrize("view", ["parameter_tree", "cost", "cost_growth"])
def test_attention_and_mlp_do_not_swap_their_colours(view):
    assert {ATTENTION, MLP} <= colours_of(view)
    assert colours_of(view) <= {*CATEGORIES, BLOCK, OTHER}


def test_the_parts_of_a_design_have_the_colours_of_the_figures():
    rule = (Path(vx.__file__).parent / "ui" / "rooms" / "size" / "size_board.css").read_text().partition("}")[0]
    colours = dict(re.findall(r"--(\w+): (#\w{6});", rule))
    assert set(colours) == {"embedding", "attention", "mlp", "norms", "merging", "head", "other"}
    assert colours == {part: part_color(part) for part in colours}


def test_no_two_explanations_share_a_line():
    numbers = [line_number(key) for key in set(explanations()) - {"random"}]
    assert None not in numbers
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_explanation_has_a_colour_and_a_symbol_of_its_own(theme: str) -> None:
    styles = [numbered_style(line_number(key), theme) for key in set(explanations()) - {"random"}]
    assert {style.dash for style in styles} == {"solid"}
    assert len({style.color for style in styles}) == len({style.symbol for style in styles}) == len(styles)


def test_zero_over_a_photograph_is_the_photograph():
    for values in (np.array([0.0, 0.5, 1]), np.array([-1.0, 0, 1])):
        stops = scale_of(values, None).over_a_picture(0.8)
        clear = [float(color.removesuffix(")").rpartition(",")[2]) for _, color in stops]
        at = round(255 * (0 - scale_of(values, None).low) / (scale_of(values, None).high - scale_of(values, None).low))
        assert clear[at] < 0.06
        assert clear[-1] == pytest.approx(0.8)


def test_white_text_is_read_on_every_fill():
    for color in {*CATEGORIES, BLOCK, OTHER}:
        red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue)]
        light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        assert 1.05 / (light + 0.05) >= 4.5, color
    assert lookup_table("inferno")[0].sum() < 10
