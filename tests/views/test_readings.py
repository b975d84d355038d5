"""Readings of figures: a sentence in both languages, made of the result's own numbers, true in every case."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers.expected_refusals import is_refused
from tests.helpers.least_settings import cheaply, run_once
from tests.helpers.readings import checked_reading
from tests.helpers.small_models import RECIPES, capture_small
from tests.helpers.thorough import always, later
from vitexplorer.core.format import compact, fine_percent, measured, percent, signed
from vitexplorer.core.text import Text, same
from vitexplorer.core.types import (
    BeforeAfterResult,
    BoardResult,
    ColoursResult,
    CostResult,
    CountResult,
    CurvesResult,
    FaithfulnessResult,
    FiltersResult,
    GalleryResult,
    GrowthResult,
    LensResult,
    MapResult,
    MatrixResult,
    MethodsResult,
    OffsetsResult,
    PatchGrid,
    PoolingResult,
    Prediction,
    PredictionChange,
    Provenance,
    ReadOut,
    ReconstructionResult,
    TreeResult,
)
from vitexplorer.quantities.on_the_map import extreme, tenth, where_most
from vitexplorer.views import NO_NUMBERS, VIEWS

# ---------------------------------------------------------------------------------------------- the contract

FEW = ("vit", "encoder", "deit_distilled", "registers_only", "siglip", "beit", "swin_padded")
"""Models with each kind of prefix token, position and window, and a model without a classifier"""


@pytest.mark.contract
@pytest.mark.parametrize(
    ("view", "key"),
    [
        always(view, key) if key == "vit" or (key in FEW and view in run_once()) else later(view, key)
        for view, key in product(VIEWS, RECIPES)
        if not is_refused(view, key)
    ],
)
def test_every_view_is_read(view, key):
    checked_reading(cheaply(view, capture_small(key)))


SETTINGS = [
    ("attention_map", {"head": "max"}),
    ("attention_map", {"head": "min"}),
    ("attention_map", {"query": (0, 0)}),
    ("logit_lens", {"token": "patches"}),
]


@pytest.mark.parametrize(("view", "settings"), SETTINGS, ids=str)
def test_a_view_is_read_under_other_settings(view, settings):
    checked_reading(vx.compute(view, capture_small("vit"), **settings))


def test_missing_numbers_are_stated():
    result = vx.compute("attention_map", capture_small("vit"))
    assert vx.reading(replace(result, values=np.full_like(result.values, np.nan))) == NO_NUMBERS.en


# ---------------------------------------------------------------------------------------------- numbers and places


def test_numbers_are_written_with_three_digits_and_no_exponent_of_a_machine():
    written = [measured(value) for value in (116.49, 0.42, -0.5, 12345, 12345678, 3.2e-5, 0, 1, float("nan"))]
    assert written == ["116", "0.420", "−0.500", "12,300", "1.23 × 10⁷", "3.2 × 10⁻⁵", "0", "1.00", "–"]
    assert [signed(2.5), signed(-2.5), signed(0)] == ["+2.50", "−2.50", "0"]
    assert [compact(999), compact(17_563_345_920), compact(999_999)] == ["999", "17.6 G", "1.0 M"]
    assert [fine_percent(0.00779), fine_percent(0.0496), fine_percent(0)] == ["0.779 %", "4.96 %", "0 %"]
    assert [percent(0.0001), percent(0.5), percent([0.1, 0.2]), percent([])] == [
        "< 0.1 %",
        "50.0 %",
        "10.0–20.0 %",
        "– %",
    ]


def test_most_is_more_than_half_and_lies_in_the_named_place():
    cells = np.zeros((6, 9), dtype=bool)
    cells[4:, 6:] = True
    assert where_most(cells) == (", most of them in the lower right", "，多数位于右下方")
    cells[4:, :] = True
    assert where_most(cells).en == ", most of them in the lower third"
    cells[:] = True
    assert where_most(cells).en == ", scattered over the image"


def test_the_largest_is_named_or_counted():
    values = np.array([[0.1, 0.3], [0.3, 0.2]])
    assert extreme(values).en == "2 equal patches"
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
    """Make a result by hand."""
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
    """Make a map of 5 x 6 patches; three, in the lower right, have 0.2, 0.15 and 0.1, the others 0.01."""
    values = np.full((5, 6), 0.01)
    values[4, 3:] = (0.1, 0.15, 0.2)
    return values


def test_an_even_map_and_one_beside_the_patches_are_called_so():
    on = {"query": "cls", "prefix_names": ("cls",)}
    even = np.full((5, 6), 0.9 / 30)
    even[0, 0] *= 1.2
    nearly = planted_map("attention_map", even, {"head": "mean"}, prefix_weights=np.array([0.1]), **on)
    assert vx.reading(nearly).startswith(
        "The attention of the class token is nearly even: each token would get 3.23\u00a0%, and no patch gets more "
        "than 3.60\u00a0%"
    )
    even[0, 0] *= 1.5  # 1.67 times what each token would get
    assert "looks most at" in vx.reading(replace(nearly, values=even))
    assert "nearly even" not in vx.reading(replace(nearly, settings={"head": "max"}))
    in_window = np.zeros((5, 6))
    in_window[:2, :3] = np.array([[0.16, 0.17, 0.17], [0.17, 0.17, 0.16]])
    windowed = planted_map("attention_map", in_window, {"head": 0}, query=(0, 1), window=(0, 0, 2, 3))
    assert "nearly even: each token would get 16.7\u00a0%" in vx.reading(windowed)
    beside = planted_map("attention_map", even / 100, {"head": 0}, prefix_weights=np.array([0.99]), **on)
    assert vx.reading(beside).startswith(
        "Hardly any attention of the class token goes to patches: at most 0.0540\u00a0%"
    )


def test_reading_of_attention_map():
    on = {"query": "cls", "prefix_names": ("cls",), "prefix_weights": np.array([0.28])}
    result = planted_map("attention_map", corner(), {"head": "mean"}, **on)
    assert checked_reading(result) == (
        "The class token looks most at the patch in row 4, column 5, with 20.0 % of its attention. The top tenth of "
        "the patches holds 45.0 %, most of them in the lower right; 28.0 % goes to the class token.",
        "类别标记最关注第 4 行第 5 列的图块，占其注意力的 20.0 %。最受关注的十分之一图块共占 45.0 %，多数位于右下方；"
        "另有 28.0 % 给了类别标记。",
    )
    even = planted_map("attention_map", np.full((5, 6), 1 / 30), {"head": "mean"}, query=(0, 1))
    assert (
        checked_reading(even)[0]
        == "The patch in row 0, column 1 gives every patch the same share of its attention: 3.33 %."
    )


def test_attention_rollout_counts_padding_and_several_prefix_tokens():
    on = {
        "query": "mean",
        "prefix_names": ("cls", "reg1"),
        "prefix_weights": np.array([0.2, 0.05]),
        "padding_mass": 0.03,
    }
    assert checked_reading(planted_map("attention_rollout", corner(), **on)) == (
        "Through all these blocks the mean over patches gathered most from the patch in row 4, column 5: 20.0 %. The "
        "top tenth of the patches holds 45.0 %, most of them in the lower right; 25.0 % goes to the "
        "2 prefix tokens and 3.0 % is lost in padding.",
        "经过所有这些块，图块平均从第 4 行第 5 列的图块汇集的信息最多：20.0 %。贡献最大的十分之一图块共占 45.0 %，"
        "多数位于右下方；另有 25.0 % 给了 2 个前缀标记，3.0 % 落在填充上。",
    )


@pytest.mark.parametrize("view", ["generic_relevance", "grad_rollout", "legrad", "grad_cam"])
def test_a_map_of_what_speaks_for_a_class(view):
    named = {"target": (Text("Class", "类别"), Text("9 (flower)", "9（花）"))}
    share = percent(0.45 / 0.72)
    assert checked_reading(planted_map(view, corner(), {"target": 9}, settings_said=named)) == (
        f"The top tenth of the patches holds {share} of the evidence for class 9 (flower), most of them in the lower "
        "right; most comes from the patch in row 4, column 5.",
        f"在对类别“9（花）”的全部支持中，最高的十分之一图块占 {share}，多数位于右下方；"
        "贡献最大的是第 4 行第 5 列的图块。",
    )
    zero, even = (planted_map(view, np.full((5, 6), value), {"target": 3}) for value in (0, 0.2))
    assert "no patch supports class 3" in checked_reading(zero)[0]
    assert checked_reading(even)[0] == "All patches support class 3 equally."


@pytest.mark.parametrize("view", ["input_x_gradient", "integrated_gradients", "occlusion"])
def test_a_map_with_signs(view):
    values = corner() - 0.02
    assert checked_reading(planted_map(view, values, {"target": 3}))[0] == (
        "3 of 30 patches support class 3, most of all the patch in row 4, column 5 (+0.180 logits); strongest "
        "against it: 27 equal patches (−0.0100 logits)."
    )
    assert checked_reading(planted_map(view, values - 1, {"target": 3}))[0].startswith(
        "Not one of the 30 patches supports"
    )
    assert "none counts against it" in checked_reading(planted_map(view, corner(), {"target": 3}))[0]
    assert "zero everywhere" in checked_reading(planted_map(view, 0 * values, {"target": 3}))[0]


def lens(*answers: tuple[int, float], named: bool = True) -> LensResult:
    """Make a lens result with one top class and its probability after each block."""
    names = (Text("fish", "鱼"), Text("flower", "花"), Text("mug", "杯子")) if named else ()
    top = tuple((Prediction(index, names[index] if names else same(""), 0.0, share),) for index, share in answers)
    return planted(
        LensResult, "logit_lens", np.zeros((len(top), 3)), ("blocks", "classes"), {"token": "cls"},
        blocks=tuple(range(len(top))), top=top, class_names=names, grid=PatchGrid(5, 6, 16), image=IMAGE,
    )  # fmt: skip


def test_logit_lens_says_when_the_model_makes_up_its_mind():
    assert checked_reading(lens((0, 0.4), (0, 0.5), (1, 0.825))) == (
        "Until block 1 the answer is fish; at block 2 it decides: flower 82.5 %.",
        "到块 1 为止，模型倾向于“鱼”；在块 2 作出判断：“花”，82.5 %。",
    )
    assert checked_reading(lens((0, 0.4), (1, 0.5), (1, 0.825)))[0] == (
        "Until block 0 the answer is fish; at block 1 it decides for flower (50.0 %) and ends at 82.5 %."
    )
    assert checked_reading(lens((0, 0.4), (1, 0.5), (2, 0.3), (1, 0.825)))[0] == (
        "The model changes its answer until block 2, where it is mug; at block 3 it decides: flower 82.5 %."
    )
    assert checked_reading(lens((1, 0.4), (1, 0.825), named=False))[0] == (
        "The answer is class 1 (40.0 %) already after block 0 and does not change: 82.5 % at the end."
    )
    assert checked_reading(lens((2, 0.4)))[0] == "Only block 0 can be read; its answer is mug: 40.0 %."


def test_reading_of_head_gallery():
    values = np.stack([np.full((5, 6), 0.01), corner(), corner() / 2])
    on = {"grid": PatchGrid(5, 6, 16, 1), "image": IMAGE, "query": "cls", "prefix_names": ("cls",)}
    axes = ("heads", "rows", "cols")
    result = planted(GalleryResult, "head_gallery", values, axes, prefix_weights=np.array([[0.7], [0.28], [0.1]]), **on)
    assert checked_reading(result)[0] == (
        "Head 1 is the sharpest, with 20.0 % on the patch in row 4, column 5. Head 0 is the most even, with at most "
        "1.00 % on one patch; head 0 gives the prefix tokens most, 70.0 %."
    )
    assert "No head is sharper" in checked_reading(planted(GalleryResult, "head_gallery", values[1:2], axes, **on))[0]


def matrix(view: str, values, settings=None, **more) -> MatrixResult:
    axes = ("blocks", "tokens" if view == "token_norms" else "heads")
    return planted(MatrixResult, view, np.asarray(values, dtype=float), axes, settings, **more)


def test_head_atlas_names_the_ends_and_counts_what_is_alike():
    values = [[10, 20, 30], [5, 98.3, np.nan], [5, 7, np.nan]]
    assert checked_reading(matrix("head_atlas", values, {"metric": "distance"})) == (
        "Head 1 of block 1 looks farthest, 98.3 px on average; head 0 of block 1, with 1 other alike, looks nearest, "
        "5.00 px.",
        "看得最远的是块 1 的头 1，平均 98.3 像素；最近的是块 1 的头 0（另有 1 个相同），为 5.00 像素。",
    )
    shares = np.array([[0.1, 0.2], [0.4, 0.3]])
    for metric in ("class_mass", "prefix_mass", "self_mass", "peak"):
        sentence = checked_reading(matrix("head_atlas", shares, {"metric": metric}))[0]
        assert sentence.startswith("Head 0 of block 1 ")
        assert "40.0 %" in sentence
        assert sentence.endswith("10.0 %.")
    sentence = checked_reading(matrix("head_atlas", 10 * shares, {"metric": "entropy"}, relative=shares))[0]
    assert sentence.startswith("Head 0 of block 1 is the most even, with 4.00 nats (40.0 % of")
    assert checked_reading(matrix("head_atlas", [[0.0, 0.0]], {"metric": "peak"}))[0] == (
        "All heads are the same: largest weight 0.0 %."
    )


def test_reading_of_attention_distance():
    assert checked_reading(matrix("attention_distance", [[10, 20], [50, 70], [5, 60]]))[0] == (
        "Block 1 looks farthest, with a mean of 60.0 px over its heads; block 0 looks nearest, with 15.0 px. The heads "
        "of one block differ most in block 2: from 5.00 to 60.0 px."
    )
    assert (
        checked_reading(matrix("attention_distance", [[8]]))[0]
        == "The heads look 8.00 px away on average, in every block."
    )


def test_reading_of_token_norms():
    values = np.array([[2, 2, 2, 2], [4, 4, 4, 20.0]])
    marked = values == 20
    assert checked_reading(matrix("token_norms", values, marked=marked))[0] == (
        "1 of 2 blocks has outliers, block 1 the most: 1. The longest, after block 1, is 5.00 times as long "
        "as the median token there."
    )
    assert checked_reading(matrix("token_norms", values, marked=values > 99))[0] == (
        "No block has an outlier; the median length of a token is 2.00 after block 0 and 4.00 after block 1."
    )


def colours(red: np.ndarray, mask: np.ndarray) -> ColoursResult:
    """Make a PCA result in which only the first component varies."""
    values = np.stack([red, 0 * red, 0 * red], axis=-1) * mask[..., None]
    axes = ("rows", "cols", "channels")
    return planted(ColoursResult, "token_pca", values, axes, grid=PatchGrid(5, 6, 16), image=IMAGE, shown=mask)


def test_reading_of_token_pca():
    red, mask = np.full((5, 6), 0.3), np.ones((5, 6), dtype=bool)
    red[0, 0], red[4, 5] = 1, 0
    assert checked_reading(colours(red, mask))[0] == (
        "Where the tokens differ most, shown in red, the patch in row 0, column 0 is at one end and the patch in row "
        "4, column 5 at the other; 1 of 30 patches lies nearer to the first."
    )
    mask[2:] = False
    assert checked_reading(colours(red, mask))[0].startswith(
        "12 of 30 patches are taken as the object, most of them in the upper third. Where the tokens differ most"
    )
    assert "All their tokens are equal" in checked_reading(colours(0 * red + 0.5, mask))[0]


def test_patch_similarity_leaves_the_patch_itself_out():
    values = np.array([[1.0, 0.9, 0.5], [0.4, -0.2, 0.6]])
    assert checked_reading(planted_map("patch_similarity", values, query=(0, 0))) == (
        "The patch most similar to the patch in row 0, column 0 is the patch in row 0, column 1, with cosine 0.900; "
        "the least similar is the patch in row 1, column 1, with −0.200. The median is 0.500.",
        "与第 0 行第 0 列的图块最相似的是第 0 行第 1 列的图块，余弦 0.900；最不相似的是第 1 行第 1 列的图块，"
        "为 −0.200。中位数为 0.500。",
    )
    assert "no other patch" in checked_reading(planted_map("patch_similarity", [[1.0]], query=(0, 0)))[0]


def test_reading_of_patch_filters():
    filters = np.zeros((3, 4, 4, 3))
    axes = ("filters", "height", "width", "channels")
    for shares, ending in [
        ((0.4, 0.2, 0.1), "the first 2 explain more than half, all 3 shown explain 70.0 %."),
        ((0.2, 0.1, 0.1), "all 3 shown explain 40.0 %."),
    ]:
        result = planted(FiltersResult, "patch_filters", filters, axes, shares=np.array(shares))
        assert checked_reading(result)[0].endswith(ending)


def pooled(*answers: int) -> PoolingResult:
    """Make a pooling result with these top classes by class token and mean."""
    tokens = ("cls", "mean")
    return planted(
        PoolingResult, "pooling", np.array([0.9, 0.5, 0.1]), ("blocks",), x=np.arange(3), x_name=same(""), curves=(),
        readings=tuple(
            ReadOut(token, token == "cls", (Prediction(answer, same(f"class{answer}"), 0.0, 0.6),), ())
            for token, answer in zip(tokens, answers, strict=False)
        ),
    )  # fmt: skip


def test_pooling_says_whether_the_readings_agree():
    assert checked_reading(pooled(1, 2))[0] == (
        "The readings differ: through the class token class1 (60.0 %), through the mean over patches class2 (60.0 %). "
        "The cosine of class token and mean patch is 0.900 after block 0 and 0.100 after block 2."
    )
    assert checked_reading(pooled(1, 1))[0].startswith("All readings agree: through the class token class1")
    assert checked_reading(pooled())[0].startswith("The cosine of class token and mean patch")


def test_position_similarity_counts_who_is_most_like_a_neighbour():
    """In a row of three, the third is most like the first."""
    board = np.array([[1, 0.8, 0.1], [0.8, 1, 0.5], [0.6, 0.5, 1]]).reshape(1, 3, 1, 3)
    axes = ("rows", "cols", "rows", "cols")
    result = planted(BoardResult, "position_similarity", board, axes, grid=PatchGrid(1, 3, 16))
    assert checked_reading(result)[0] == (
        "For 2 of 3 patches the most similar position is a neighbour; the cosine of two opposite corners is 0.100."
    )
    alone = planted(BoardResult, "position_similarity", np.ones((1, 1, 1, 1)), axes, grid=PatchGrid(1, 1, 16))
    assert "only one patch" in checked_reading(alone)[0]
    one = planted_map("position_similarity", board[0, 2], query=(0, 2))
    assert checked_reading(one)[0].startswith(
        "The position most similar to that of the patch in row 0, column 2 is the patch in row 0, column 0"
    )


def test_relative_position_bias_is_read_from_the_query():
    """Offsets are query minus key: -1, -1 is a key one row below, one column to the right."""
    values = np.zeros((2, 3, 3))
    values[1, 0, 0], values[1, 1, 1], values[0, 2, 1] = 2.5, -1, 0.5
    more = {"row_offsets": (-1, 0, 1), "col_offsets": (-1, 0, 1)}
    result = planted(OffsetsResult, "relative_position_bias", values, ("heads", "row_offsets", "col_offsets"), **more)
    assert checked_reading(result) == (
        "Head 1 depends on the place most: it prefers the key 1 row below and 1 column to the right (+2.50) and "
        "avoids the key at its own place (−1.00). Head 0 depends on it least: 0 to +0.500.",
        "头 1 最在意位置：它偏好下方 1 行、右侧 1 列的键（+2.50），避开自身的键（−1.00）。"
        "头 0 最不在意，从 0 到 +0.500。",
    )
    flat = planted(OffsetsResult, "relative_position_bias", 0 * values, ("heads", "row_offsets", "col_offsets"), **more)
    assert "No head prefers a position" in checked_reading(flat)[0]


def test_scaled_dot_product_without_its_factor():
    """softmax((8, 0) / 4) = (0.881, 0.119), and softmax((8, 0)) = (0.9997, 0.0003)."""
    result = vx.compute("scaled_dot_product", capture_small("vit"))
    weights, scores = np.array([0.119, 0.881]), np.array([0.0, 8.0])
    on = {"scores": scores, "scaled": scores / 4, "scale": 0.25, "bias": np.zeros(2), "keys": ("cls", "3,1")}
    assert checked_reading(replace(result, values=weights, **on))[0] == (
        "The patch in row 3, column 1 gets most, 88.1 % of the attention: its score 8.00 times 0.250. Without that "
        "factor the softmax would give it 100.0 %."
    )
    with_bias = replace(result, values=weights, **(on | {"bias": np.array([-100.0, 2])}))
    assert "times 0.250 plus the bias 2.00." in checked_reading(with_bias)[0]


def test_causal_attention_counts_what_is_hidden():
    """Three tokens: 3 of 9 weights lie above the diagonal; the first patch sees two."""
    result = vx.compute("causal_attention", capture_small("vit"))
    values = np.array([[0.2, 0.3, 0.5], [0.25, 0.75, 0], [0.1, 0.2, 0.7]])
    on = {"values": values, "query": (0, 0), "at": 1, "sequence": ("cls", (0, 0), (0, 1))}
    assert checked_reading(replace(result, **on))[0] == (
        "The patch in row 0, column 0 sees 2 of 3 tokens and gives the most, 75.0 %, to the patch in row 0, column 0; "
        "3 of 9 weights are masked and exactly 0."
    )
    plain = checked_reading(replace(result, **(on | {"query": "cls", "at": 0, "masked": False})))
    assert plain[0].startswith("Without the mask the class token gives 80.0 % of its attention to tokens that come")


def test_translation_names_the_curves_it_has():
    values, x = np.array([[1, 0.4], [1, 0.9], [1, 0.8]]), np.array([0.0, 16])
    model, without, cnn = Text("vit", "vit"), Text("without positions", "去掉位置编码"), Text("a CNN", "卷积网络")
    for rows, curves, text in [
        ([0, 1, 2], (model, without, cnn), "vit falls to 0.400, without its positions to 0.900; that of the CNN falls"),
        ([0, 2], (model, cnn), "vit falls to 0.400; that of the CNN falls to 0.800."),
    ]:
        on = {"x": x, "x_name": same(""), "curves": curves}
        assert (
            text in checked_reading(planted(CurvesResult, "translation", values[rows], ("curves", "points"), **on))[0]
        )


def changed(*classes: PredictionChange, values: np.ndarray) -> BeforeAfterResult:
    """Make a result of two runs with these answers."""
    return planted(
        BeforeAfterResult, "before_after", values, ("rows", "cols"), grid=PatchGrid(5, 6, 16), before=0 * values,
        after=values, image=IMAGE, changed_image=IMAGE, query="cls", classes=classes, cosines=np.array([1, 0.8]),
        token="cls",
    )  # fmt: skip


def test_reading_of_before_and_after():
    fish, mug = Text("fish", "鱼"), Text("mug", "杯子")
    stays = changed(PredictionChange(0, fish, 0.9, 0.6), PredictionChange(2, mug, 0.1, 0.4), values=-corner())
    assert checked_reading(stays)[0] == (
        "The answer stays fish, 90.0 % before and 60.0 % after. The cosine between the class token of both runs is "
        "0.800 after the last block, and the map changes most at the patch in row 4, column 5."
    )
    turns = changed(PredictionChange(0, fish, 0.9, 0.2), PredictionChange(2, mug, 0.1, 0.8), values=0 * corner())
    assert checked_reading(turns)[0].startswith("The answer changes from fish (90.0 %) to mug (80.0 %).")
    assert checked_reading(turns)[0].endswith("and the map does not change.")
    assert checked_reading(changed(values=corner()))[0].startswith("The cosine between the class token of both runs")


def counted_parts(view: str, **parts: int):
    """Make parameter counts by part, `_` for a space."""
    names, counts = tuple(name.replace("_", " ") for name in parts), np.array([*parts.values()])
    return planted(CountResult, view, counts, ("parts",), parts=names, total=int(counts.sum()))


def test_reading_of_parameters():
    assert checked_reading(counted_parts("parameters", head=100, block_0=400, block_1=500))[0] == (
        "90.0 % of the 1,000 parameters are in the 2 blocks; the largest part outside, classifier, has 10.0 %."
    )
    assert checked_reading(counted_parts("parameters", head=250, stem=750))[0] == (
        "75.0 % of 1,000 parameters are in the largest part, stem."
    )
    assert checked_reading(counted_parts("parameters", block_0=5))[0] == "All 5 parameters lie in the only block."


def test_parameter_tree_counts_what_is_inside_another_once():
    more = {"names": ("block 0", "attn", "mlp", "mlp", "head"), "parents": (-1, 0, 0, 2, -1), "total": 1000}
    tree = planted(TreeResult, "parameter_tree", np.array([900, 300, 600, 100, 100]), ("modules",), modules=(), **more)
    assert checked_reading(tree)[0] == "60.0 % of 1,000 parameters are in the MLPs, 30.0 % in attention."
    plain = replace(tree, names=("stem", "a", "b", "c", "head"))
    assert checked_reading(plain)[0] == "90.0 % of 1,000 parameters are in the largest part, stem."


def test_reading_of_cost():
    split = np.array([[0, 0, 0, 100_000], [300_000, 200_000, 400_000, 0]])
    result = planted(
        CostResult, "cost", split.sum(1), ("parts",), {"image_size": (192, 320)}, parts=("patch_embed", "block 0"),
        total=int(split.sum()), kinds=(), split=split,
    )  # fmt: skip
    assert checked_reading(result)[0] == (
        "One image of 192 × 320 px takes 1.0 M multiply-accumulates: 40.0 % in MLPs, 30.0 % in projections, 20.0 % in "
        "products of attention, 10.0 % in the rest."
    )


def test_reading_of_cost_growth():
    values = np.array([[[10, 40], [1, 200], [20, 80]], [[10, 40], [1, 8], [20, 80]]]) * 1000
    more = {"kinds": ("projections", "attention", "mlp"), "kind_texts": (), "designs": ("global", "windowed")}
    result = planted(GrowthResult, "cost_growth", values, ("designs", "kinds", "sizes"), sizes=(64, 128), **more)
    assert checked_reading(result)[0] == (
        "At 128 × 128 px the blocks cost 320.0 k MACs with global attention and 128.0 k in windows. The products of "
        "global attention cost more than the MLPs from 128 px on."
    )
    assert "Up to there the MLPs cost more" in checked_reading(replace(result, values=values[::-1]))[0]


def redrawn(hidden: np.ndarray, error: float, simplest: float) -> ReconstructionResult:
    """Make an MAE reconstruction with these errors."""
    return planted(
        ReconstructionResult, "mae_reconstruction", IMAGE, ("height", "width", "channels"), grid=PatchGrid(5, 6, 16),
        image=IMAGE, hidden=hidden, error=error, simplest_error=simplest,
    )  # fmt: skip


def test_reading_of_mae_reconstruction():
    hidden = np.arange(30).reshape(5, 6) < 20
    assert checked_reading(redrawn(hidden, 0.01, 0.04))[0] == (
        "20 of 30 patches are hidden. The mean squared error of their reconstruction is 0.0100; filling them with the "
        "mean colour of the others gives 0.0400."
    )
    assert "No patch is hidden" in checked_reading(redrawn(hidden & False, np.nan, np.nan))[0]
    assert checked_reading(redrawn(hidden | True, 0.01, np.nan))[0].startswith("All 30 patches are hidden")


def explained(*gains: float) -> FaithfulnessResult:
    """Make a faithfulness result with these areas between insertion and deletion; the last is random order."""
    areas = np.array([(0.5, 0.5 + gain) for gain in gains])
    names = ("LeGrad", "Grad-CAM", "Random map")[-len(gains) :]
    return planted(
        FaithfulnessResult, "faithfulness", np.zeros((len(gains), 2, 3)), ("methods", "curves", "steps"),
        methods=names, titles=tuple(map(same, names)), curves=("deletion", "insertion"), steps=(0, 0.5, 1), areas=areas,
    )  # fmt: skip


def test_faithfulness_says_whether_anything_beats_chance():
    assert checked_reading(explained(0.3, 0.2, 0.05))[0] == (
        "LeGrad is ahead of Grad-CAM by 0.100 ± 0 in the area between the curves; a random order is 0.250 ± 0 behind."
    )
    assert checked_reading(explained(0.01, 0.02, 0.05))[0] == (
        "No method beats random order here: the area between insertion and deletion is 0.0500 ± 0 for random order and "
        "0.0200 ± 0 for the best, Grad-CAM."
    )
    assert checked_reading(explained(0.05))[0].startswith("A random order alone gives an area of 0.0500")


def beside(values: np.ndarray, *gains: float) -> MethodsResult:
    """Make maps (methods, rows, cols) with the area between their curves where measured; the last is random."""
    grid, names = PatchGrid(*values.shape[1:], 16), ("LeGrad", "Grad-CAM", "Random map")[-len(values) :]
    areas = np.array([(0.5, 0.5 + gain) for gain in gains]) if gains else None
    return planted(
        MethodsResult, "side_by_side", values, ("methods", "rows", "cols"), methods=names,
        titles=tuple(map(same, names)), units=(same("1"),) * len(names), grids=(grid,) * len(names), grid=grid,
        image=IMAGE, curves=("deletion", "insertion"), areas=areas, passes=9,
        uncertainties=np.full(len(names), 0.01) if gains else None,
    )  # fmt: skip


def test_side_by_side_says_who_agrees_and_once_measured_whom_to_trust():
    maps = np.array([[[1.0, 2, 3, 4]], [[1.0, 2, 4, 3]], [[4.0, 1, 3, 2]]])
    assert checked_reading(beside(maps))[0] == (
        "LeGrad and Grad-CAM put the patches in the most similar order (rank correlation 0.800). Whether the model "
        "follows any of them has not been measured."
    )
    assert checked_reading(beside(maps[1:]))[0] == "There are no two maps to compare here."
    assert checked_reading(beside(maps, 0.3, 0.02, 0.05))[0] == (
        "LeGrad is ahead of a random order by 0.250 ± 0.014 in the area between the curves. "
        "Grad-CAM is the worst with 0.0200; methods no better than random order: 1 of 2."
    )
    assert checked_reading(beside(maps, 0.3, 0.2, 0.05))[0].endswith("with 0.200, still better than random order.")
    assert checked_reading(beside(maps, 0.01, 0.02, 0.05))[0].startswith("No method beats random order here")
    assert checked_reading(beside(maps[1:], 0.3, 0.05))[0].endswith("by 0.250 ± 0.014 in the area between the curves.")
    assert checked_reading(beside(maps[2:], 0.05))[0].startswith("A random order alone gives an area of 0.0500")
