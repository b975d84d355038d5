"""What is read off a figure: a sentence in both languages, made of the result's own numbers, true in every case."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import vitexplorer as vx
from tests.least import cheaply, run_once
from tests.refused import is_refused
from tests.small_models import RECIPES, capture_small
from tests.thorough import always, later
from vitexplorer.numbers import compact, measured, percent, signed
from vitexplorer.quantities.on_the_map import extreme, tenth, where_most
from vitexplorer.types import LensResult, MapResult, PatchGrid, Prediction, Provenance
from vitexplorer.views import NO_NUMBERS, VIEWS
from vitexplorer.words import Text, same

NUMBER = r"[+−]?\d+(?:,\d{3})*(?:\.\d+)?(?: × 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?"
BROKEN = re.compile(r"nan|inf\b|None|[{}]|  | [,.;:]|\.\.|，，|。。|True|False|array")
TIGHT = re.compile(r"[\u4e00-\u9fff][0-9A-Za-z+−<]|[0-9A-Za-z%][\u4e00-\u9fff]")
HALF_WIDTH = re.compile(r"[\u4e00-\u9fff”）] ?[,:;?!(]|[,:;?!)] ?[\u4e00-\u9fff“（]")


def check(result) -> tuple[str, str]:
    """Both languages of a reading, after what every reading must be."""
    english, chinese = (vx.reading(result, language) for language in ("en", "zh"))
    assert english.endswith(".")
    assert chinese.endswith("。")
    assert not english[0].islower()
    assert len(re.findall(r"\. [A-Z]", english)) <= 1, "two sentences at most"
    for said in (english, chinese):
        assert not BROKEN.search(said), said
    assert sorted(re.findall(NUMBER, english)) == sorted(re.findall(NUMBER, chinese)), (english, chinese)
    assert not TIGHT.search(chinese), chinese
    assert not HALF_WIDTH.search(chinese), chinese
    return english, chinese


# ---------------------------------------------------------------------------------------------- the contract

FEW = ("vit", "encoder", "deit_distilled", "registers_only", "siglip", "beit", "swin_padded")
"""each kind of prefix token, of position and of window, and a model without a classifier"""


@pytest.mark.contract
@pytest.mark.parametrize(
    ("view", "key"),
    [
        always(view, key) if key == "vit" or (key in FEW and view in run_once()) else later(view, key)
        for view, key in product(VIEWS, RECIPES)
        if not is_refused(view, key) and VIEWS[view].reading.__name__ != "<lambda>"
    ],
)
def test_every_view_is_read(view, key):
    check(cheaply(view, capture_small(key)))


SETTINGS = [
    ("attention_map", {"head": "max"}),
    ("attention_map", {"head": "min"}),
    ("attention_map", {"query": (0, 0)}),
    ("logit_lens", {"token": "patches"}),
]


@pytest.mark.parametrize(("view", "settings"), SETTINGS, ids=str)
def test_a_view_is_read_under_other_settings(view, settings):
    check(vx.compute(view, capture_small("vit"), **settings))


def test_where_there_are_no_numbers_that_is_said():
    result = vx.compute("attention_map", capture_small("vit"))
    assert vx.reading(replace(result, values=np.full_like(result.values, np.nan))) == NO_NUMBERS.en


# ---------------------------------------------------------------------------------------------- numbers and places


def test_numbers_are_written_with_three_digits_and_no_exponent_of_a_machine():
    written = [measured(value) for value in (116.49, 0.42, -0.5, 12345, 12345678, 3.2e-5, 0, 1, float("nan"))]
    assert written == ["116", "0.420", "−0.500", "12,300", "1.23 × 10⁷", "3.2 × 10⁻⁵", "0", "1.00", "–"]
    assert [signed(2.5), signed(-2.5), signed(0)] == ["+2.50", "−2.50", "0"]
    assert [compact(999), compact(17_563_345_920), compact(999_999)] == ["999", "17.6 G", "1.0 M"]
    assert [percent(0.0001), percent(0.5), percent([0.1, 0.2]), percent([])] == [
        "< 0.1 %",
        "50.0 %",
        "10.0–20.0 %",
        "– %",
    ]


def test_most_is_more_than_half_and_lies_where_it_is_said():
    cells = np.zeros((6, 9), dtype=bool)
    cells[4:, 6:] = True
    assert where_most(cells) == (", most of them in the lower right", "，多数位于右下方")
    cells[4:, :] = True
    assert where_most(cells).en == ", most of them in the lower third"
    cells[:] = True
    assert where_most(cells).en == ", scattered over the image"


def test_the_largest_is_named_or_counted():
    values = np.array([[0.1, 0.3], [0.3, 0.2]])
    assert extreme(values).en == "2 patches alike"
    assert extreme(values, -1).en == "the patch in row 0, column 0"
    values[0, 0] = np.nan
    assert extreme(values, -1).en == "the patch in row 1, column 1"


def test_a_tenth_that_ends_among_equals_lies_nowhere():
    values = np.zeros((5, 6))
    values[0, 0] = 1
    assert tenth(values) == (1.0, same(""))
    values[0, :3] = (3, 2, 1)
    assert tenth(values) == (6.0, Text(", most of them in the upper left", "，多数位于左上方"))


# ---------------------------------------------------------------------------------------------- planted


PROVENANCE = Provenance("planted", "random", "by hand")
IMAGE = np.zeros((80, 96, 3), dtype=np.uint8)


def planted(kind, view: str, values, axes: tuple[str, ...], settings=None, **more):
    """A result made by hand."""
    record = VIEWS[view]
    return kind(
        view=view, title=record.title, values=np.asarray(values), axes=axes, unit=same(""), formula="",
        provenance=PROVENANCE, settings=settings or {}, **more,
    )  # fmt: skip


def planted_map(view: str, values, settings=None, **more) -> MapResult:
    values = np.asarray(values, dtype=float)
    grid = PatchGrid(*values.shape, 16, len(more.get("prefix_names", ())))
    return planted(MapResult, view, values, ("rows", "cols"), settings, grid=grid, image=IMAGE, **more)


def corner() -> np.ndarray:
    """5 x 6 patches; three of them, in the lower right, have 0.2, 0.15 and 0.1, the others 0.01."""
    values = np.full((5, 6), 0.01)
    values[4, 3:] = (0.1, 0.15, 0.2)
    return values


def test_attention_map():
    on = {"query": "cls", "prefix_names": ("cls",), "prefix_weights": np.array([0.28])}
    result = planted_map("attention_map", corner(), {"head": "mean"}, **on)
    assert check(result) == (
        "The class token looks most at the patch in row 4, column 5, with 20.0 % of its attention. The tenth of the "
        "patches it looks at most holds 45.0 %, most of them in the lower right; 28.0 % goes to the class token.",
        "类别标记最关注第 4 行第 5 列的图块，占其注意力的 20.0 %。最受关注的十分之一图块共占 45.0 %，多数位于右下方；"
        "另有 28.0 % 给了类别标记。",
    )
    even = planted_map("attention_map", np.full((5, 6), 1 / 30), {"head": "mean"}, query=(0, 1))
    assert check(even)[0] == "The patch in row 0, column 1 gives every patch the same share of its attention: 3.3 %."


def test_attention_rollout_counts_padding_and_several_prefix_tokens():
    on = {
        "query": "mean",
        "prefix_names": ("cls", "reg1"),
        "prefix_weights": np.array([0.2, 0.05]),
        "padding_mass": 0.03,
    }
    assert check(planted_map("attention_rollout", corner(), **on)) == (
        "Through all these blocks the mean over patches gathered most from the patch in row 4, column 5: 20.0 %. The "
        "tenth of the patches it gathered most from holds 45.0 %, most of them in the lower right; 25.0 % goes to the "
        "2 prefix tokens and 3.0 % is lost in padding.",
        "经过这些块，图块平均从第 4 行第 5 列的图块汇集最多：20.0 %。贡献最大的十分之一图块共占 45.0 %，"
        "多数位于右下方；另有 25.0 % 给了 2 个前缀标记，3.0 % 落在填充上。",
    )


@pytest.mark.parametrize("view", ["generic_relevance", "grad_rollout", "legrad", "grad_cam"])
def test_a_map_of_what_speaks_for_a_class(view):
    named = {"target": (Text("Class", "类别"), Text("9 (flower)", "9（花）"))}
    share = percent(0.45 / 0.72)
    assert check(planted_map(view, corner(), {"target": 9}, settings_said=named)) == (
        f"The top tenth of the patches hold {share} of what speaks for class 9 (flower), most of them in the lower "
        "right; most comes from the patch in row 4, column 5.",
        f"支持类别“9（花）”的总量中，最高的十分之一图块占 {share}，多数位于右下方；贡献最大的是第 4 行第 5 列的图块。",
    )
    zero, even = (planted_map(view, np.full((5, 6), value), {"target": 3}) for value in (0, 0.2))
    assert "no patch speaks for class 3" in check(zero)[0]
    assert check(even)[0] == "All patches speak for class 3 alike."


@pytest.mark.parametrize("view", ["input_x_gradient", "integrated_gradients", "occlusion"])
def test_a_map_with_signs(view):
    values = corner() - 0.02
    assert check(planted_map(view, values, {"target": 3}))[0] == (
        "3 of 30 patches speak for class 3, most of all the patch in row 4, column 5 (+0.180 logits); strongest "
        "against it: 27 patches alike (−0.0100 logits)."
    )
    assert check(planted_map(view, values - 1, {"target": 3}))[0].startswith("Not one of the 30 patches speaks for")
    assert "none against it" in check(planted_map(view, corner(), {"target": 3}))[0]
    assert "zero everywhere" in check(planted_map(view, 0 * values, {"target": 3}))[0]


def lens(*answers: tuple[int, float], named: bool = True) -> LensResult:
    """One likeliest class and its probability after each block."""
    names = (Text("fish", "鱼"), Text("flower", "花"), Text("mug", "杯子")) if named else ()
    top = tuple((Prediction(index, names[index] if names else same(""), 0.0, share),) for index, share in answers)
    return planted(
        LensResult, "logit_lens", np.zeros((len(top), 3)), ("blocks", "classes"), {"token": "cls"},
        blocks=tuple(range(len(top))), top=top, class_names=names, grid=PatchGrid(5, 6, 16), image=IMAGE,
    )  # fmt: skip


def test_logit_lens_says_when_the_model_makes_up_its_mind():
    assert check(lens((0, 0.4), (0, 0.5), (1, 0.825))) == (
        "Until block 1 the model leans to fish; at block 2 it decides: flower 82.5 %.",
        "到块 1 为止，模型倾向于“鱼”；在块 2 作出判断：“花”，82.5 %。",
    )
    assert check(lens((0, 0.4), (1, 0.5), (1, 0.825)))[0] == (
        "Until block 0 the model leans to fish; at block 1 it decides for flower (50.0 %) and ends at 82.5 %."
    )
    assert check(lens((0, 0.4), (1, 0.5), (2, 0.3), (1, 0.825)))[0] == (
        "The model changes its mind until block 2, where it says mug; at block 3 it decides: flower 82.5 %."
    )
    assert check(lens((1, 0.4), (1, 0.825), named=False))[0] == (
        "Already after block 0 the answer is class 1 (40.0 %), and it stays: 82.5 % at the end."
    )
    assert check(lens((2, 0.4)))[0] == "Only block 0 can be read, and it says mug: 40.0 %."
