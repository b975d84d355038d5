"""Drawn figures: a few pixels are probed, files are read back, and all text is in both languages."""

from __future__ import annotations

import dataclasses
import errno
import io
import itertools
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from html import unescape

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from PIL import Image

from vitexplorer.core.format import percent
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.text import Text, same
from vitexplorer.core.types import (
    CountResult,
    GalleryResult,
    MapResult,
    PatchesResult,
    PatchGrid,
    Provenance,
    Result,
    Term,
)
from vitexplorer.figures import browser, files, render, save
from vitexplorer.figures.caption import SCALE, Fact, caption, facts
from vitexplorer.figures.colors import ANCHORS, grey_of, lookup_table, scale_of
from vitexplorer.figures.renderers.count import place, rows_of
from vitexplorer.figures.renderers.map import window_parts
from vitexplorer.figures.renderers.patches import exploded
from vitexplorer.figures.rendering import NoRendererError
from vitexplorer.figures.scaling import RAW, painted
from vitexplorer.figures.themes import SMALL_SIZE
from vitexplorer.figures.typesetting import escape, width, wrap

LANGUAGES, THEMES = ("en", "zh"), ("light", "dark")
ROWS, COLS, P = 3, 5, 8
GRID = PatchGrid(ROWS, COLS, P, num_prefix_tokens=2)
TRAINED = Provenance("tiny", "pretrained", "hub/tiny", image_hash="0123456789", fit="crop", input_size=(24, 40))
COMMON = {
    "unit": Text("share of the query's attention", "占该查询注意力的份额"),
    "formula": "softmax(q kᵀ / √d + bias)",
    "provenance": TRAINED,
}
IMAGE = np.random.default_rng(0).integers(0, 256, (ROWS * P, COLS * P, 3), dtype=np.uint8)


def a_map(**changes) -> MapResult:
    values = np.arange(ROWS * COLS, dtype=np.float32).reshape(ROWS, COLS) / 200
    return MapResult(
        **{
            **COMMON,
            "view": "attention_map",
            "title": Text("Attention map", "注意力图"),
            "values": values,
            "axes": ("rows", "cols"),
            "settings": {"block": 4, "head": 2, "query": (1, 3), "discard_ratio": 0.9},
            "notes": (Text("a note", "一条说明"),),
            "grid": GRID,
            "image": IMAGE,
            "query": (1, 3),
            "prefix_names": ("cls", "reg1"),
            "prefix_weights": np.array([0.3, 0.125], np.float32),
            "padding_mass": 0.05,
            **changes,
        }
    )


def a_gallery(heads: int = 6, **changes) -> GalleryResult:
    values = np.random.default_rng(1).random((heads, ROWS, COLS)).astype(np.float32)
    return GalleryResult(
        **{
            **COMMON,
            "view": "head_gallery",
            "title": Text("All heads", "全部注意力头"),
            "values": values,
            "axes": ("heads", "rows", "cols"),
            "grid": GRID,
            "image": IMAGE,
            "query": "cls",
            **changes,
        }
    )


def some_patches() -> PatchesResult:
    values = IMAGE.reshape(ROWS, P, COLS, P, 3).swapaxes(1, 2).reshape(-1, P, P, 3)
    axes = ("patches", "height", "width", "channels")
    title = Text("Patch grid", "图块网格")
    return PatchesResult(**COMMON, view="patch_grid", title=title, values=values, axes=axes, grid=GRID, image=IMAGE)


def a_count(**changes) -> CountResult:
    parts = {"embed": 7, "blocks.0.attn.qkv": 30, "blocks.0.mlp": 50, "blocks.1.attn.qkv": 30, "blocks.1.mlp": 50}
    return CountResult(
        **{
            **COMMON,
            "view": "parameters",
            "title": Text("Parameters", "参数"),
            "values": np.array(list(parts.values())),
            "axes": ("parts",),
            "parts": tuple(parts),
            "total": 167,
            "terms": (Term(Text("blocks", "块"), "L n", "2 · 80", 160),),
            **changes,
        }
    )


RESULTS = {"map": a_map(), "gallery": a_gallery(), "patches": some_patches(), "count": a_count()}


def words_of(figure) -> str:
    """Return all text of a figure without line breaks and tags."""
    annotations = " ".join(annotation.text for annotation in figure.layout.annotations)
    bars = [figure.layout[name].colorbar.title.text or "" for name in figure.layout if name.startswith("coloraxis")]
    return unescape(re.sub("<br>|</?b>", "", " ".join([annotations, *bars]))).replace("\u00a0", " ")


def squeezed(text: str) -> str:
    """Remove spaces: a line break takes the place of one."""
    return re.sub(r"\s", "", text)


# ---------------------------------------------------------------------------------------------- what is said


@pytest.mark.parametrize(("name", "language", "theme"), [*itertools.product(RESULTS, LANGUAGES, THEMES)])
def test_a_figure_says_what_it_is_in_its_language(name, language, theme):
    result = RESULTS[name]
    figure = render(result, language=language, theme=theme)
    text = squeezed(words_of(figure))
    assert squeezed(result.title.in_(language)) in text
    formula = "2 · 80" if name == "count" else result.formula  # a table, term by term
    for part in (TRAINED.model, TRAINED.weights_text.in_(language), result.unit.in_(language), formula):
        assert squeezed(part) in text
    other = "zh" if language == "en" else "en"
    assert squeezed(result.title.in_(other)) not in text
    chinese = re.findall(r"[\u4e00-\u9fff]", text)
    assert bool(chinese) == (language == "zh")


@pytest.mark.parametrize("name", RESULTS)
def test_nothing_is_too_small_to_read_or_off_the_page(name):
    figure = render(RESULTS[name])
    for annotation in figure.layout.annotations:
        assert annotation.font.size >= SMALL_SIZE
        assert 0 <= annotation.x <= figure.layout.width
        assert 0 <= -annotation.y <= figure.layout.height


def test_caption_has_every_part():
    text = caption(a_map())
    for word in ("Attention map", "tiny", "pretrained weights (hub/tiny)", "24 × 40 px", "block 4", "head 2"):
        assert word in text.en
    for word in ("Query → keys patch in row 1, column 3 → patches", "softmax(q kᵀ", "discard_ratio = 0.9", "a note"):
        assert word in text.en
    for word in ("class token: 30.0 %", "register 1: 12.5 %", "all prefix tokens: 42.5 %", "padding of windows: 5.0 %"):
        assert word in text.en
    for word in ("块 4", "头 2", "查询 → 键", "类别标记", "寄存器标记 1", "窗口填充", "一条说明"):
        assert word in text.zh
    assert Fact(SCALE, RAW) in facts(a_map(), RAW)


def test_caption_of_a_gallery_gives_the_range_over_heads():
    result = a_gallery(2, prefix_names=("cls",), prefix_weights=np.array([[0.1], [0.4]]))
    assert "class token: 10.0–40.0 %" in caption(result).en


@pytest.mark.parametrize(
    ("share", "words"), [(0, "0.0 %"), (0.0001, "< 0.1 %"), (0.1234, "12.3 %"), (np.nan, "– %"), ([0.1, 0.1], "10.0 %")]
)
def test_percent(share, words):
    assert percent(share) == words


@pytest.mark.parametrize("name", RESULTS)
def test_random_weights_always_carry_a_warning(name):
    untrained = dataclasses.replace(TRAINED, weights="random", weights_source="seed 0")
    result = dataclasses.replace(RESULTS[name], provenance=untrained)
    assert "Random weights" in words_of(render(result))
    assert "随机权重" in words_of(render(result, language="zh"))
    assert "Random weights" not in words_of(render(RESULTS[name]))


def test_shares_off_the_patches_are_bars():
    text = words_of(render(a_map(values=np.full((ROWS, COLS), 0.525 / 15))))
    for words in ("patches (the map)", "52.5 %", "class token", "30.0 %", "register 1", "12.5 %", "padding of windows"):
        assert words in text
    fused_by_max = words_of(render(a_map(values=np.full((ROWS, COLS), 0.5))))
    assert "patches (the map)" not in fused_by_max  # it is no share of anything


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.zeros((ROWS, COLS)), "This map is zero everywhere."),
        (np.full((ROWS, COLS), np.nan), "This map has no finite number."),
        (np.where(np.eye(ROWS, COLS), np.inf, 1.0), "3 of 15 cells are not finite numbers"),
    ],
)
@pytest.mark.parametrize("normalise", ["raw", "max"])
def test_a_map_that_cannot_be_painted_says_so(values, words, normalise):
    assert words in words_of(render(a_map(values=values), normalise=normalise))
    assert words in words_of(render(a_map(values=values), normalise=normalise, arrangement="side_by_side"))


def test_normalisation_by_hand():
    values = np.array([[-0.5, 0.25]])
    raw, by_most = painted(values, "raw"), painted(values, "max")
    assert (raw.values.tolist(), raw.normalisation, raw.rescaled) == ([[-0.5, 0.25]], RAW, False)
    assert (by_most.values.tolist(), by_most.rescaled) == ([[-1.0, 0.5]], True)
    assert "0.5" in by_most.normalisation.en


def test_a_gallery_with_an_empty_head_says_so():
    values = np.stack([np.zeros((ROWS, COLS)), np.full((ROWS, COLS), np.nan), np.ones((ROWS, COLS))])
    for shared in (True, False):
        text = words_of(render(a_gallery(values=values), shared_scale=shared))
        assert "zero everywhere" in text
        assert "no finite number" in text


def test_names_from_visitors_are_drawn_letter_by_letter():
    evil = '<a href="javascript:alert(1)">x</a> & $x$ %{z}\x00'
    result = dataclasses.replace(
        a_map(), provenance=dataclasses.replace(TRAINED, weights="file", weights_source=evil), title=same(evil)
    )
    figure = render(result)
    raw = " ".join(annotation.text for annotation in figure.layout.annotations)
    assert "<a" not in raw
    assert "$" not in raw
    assert "\x00" not in raw
    assert squeezed(evil.replace("\x00", "\ufffd")) in squeezed(words_of(figure))


def test_lines_fit_and_lose_nothing():
    text = "a few words, then averyveryveryveryverylongnamewithoutspaces，再来一些没有空格的中文，直到换行。"
    for pixels in (60, 120, 400):
        lines = wrap(text, pixels, 15)
        assert squeezed("".join(lines)) == squeezed(text)
        assert all(width(line.rstrip("，。"), 15) <= pixels for line in lines)
        assert not any(line.startswith(("，", "。")) for line in lines)
    assert wrap("右：DINO（合成场景）", 95, 15) == ["右：DINO", "（合成场景）"]
    assert wrap("its accuracy is 95.1\u00a0%, as measured", 126, 15) == [
        "its accuracy is",
        "95.1\u00a0%, as",
        "measured",
    ]
    assert wrap("准确率 95.1\u00a0%；注意力", 84, 15) == ["准确率", "95.1\u00a0%；注", "意力"]
    assert wrap("", 100, 15) == [""]
    assert escape("a<b>&") == "a&lt;b&gt;&amp;"


# ---------------------------------------------------------------------------------------------- what is painted


@pytest.mark.parametrize("name", ANCHORS)
def test_colour_tables(name):
    table = lookup_table(name)
    assert table.shape == (256, 3)
    assert table.dtype == np.uint8
    lightness = table @ np.array([0.2126, 0.7152, 0.0722])
    if name == "ice_inferno":
        assert (np.diff(lightness[128:]) > -1).all()  # its upper half, as inferno
        assert (np.diff(lightness[:127]) < 1).all()
        assert lightness[[0, 255]].min() > lightness[127:129].max() + 100
    elif name != "balance":
        assert (np.diff(lightness) > -1).all()  # brighter is more
        assert lightness[-1] > lightness[0] + 100
    else:
        assert lightness[128] > lightness[[0, 255]].max() + 100


def test_scale_starts_at_zero_or_is_symmetric():
    assert scale_of(np.array([0.2, 0.5]), None) == scale_of(np.array([0.2, 0.5, np.nan]), "inferno")
    positive, signed = scale_of(np.array([0.2, 0.5]), None), scale_of(np.array([-0.2, 0.5]), None)
    assert (positive.low, positive.high) == (0, 0.5)
    assert (signed.colormap, signed.low, signed.high) == ("ice_inferno", -0.5, 0.5)
    assert scale_of(np.zeros(3), None).high == 1


def test_window_wraps_around_the_grid():
    assert window_parts(None, 3, 5) == []
    assert window_parts((1, 2, 2, 2), 3, 5) == [(1, 2, 2, 2)]
    assert window_parts((2, 4, 2, 3), 3, 5) == [(2, 4, 1, 1), (2, 0, 1, 2), (0, 4, 1, 1), (0, 0, 1, 2)]
    for window in itertools.product(range(3), range(5), range(1, 4), range(1, 6)):
        cells = {((window[0] + i) % 3, (window[1] + j) % 5) for i in range(window[2]) for j in range(window[3])}
        parts = [
            (top + i, left + j)
            for top, left, height, wide in window_parts(window, 3, 5)
            for i in range(height)
            for j in range(wide)
        ]
        assert len(parts) == len(set(parts))
        assert set(parts) == cells


def test_exploded_patches_keep_their_pixels():
    patches = some_patches().values
    sheet = exploded(patches, ROWS, COLS, gap=2)
    factor = sheet.shape[0] // (ROWS * (P + 2))
    for patch in (0, 7, 14):
        row, col = divmod(patch, COLS)
        top, left = row * (P + 2) * factor, col * (P + 2) * factor
        result = sheet[top : top + P * factor : factor, left : left + P * factor : factor]
        assert (result[..., :3] == patches[patch]).all()
        assert (result[..., 3] == 255).all()
        assert sheet[top + P * factor, left, 3] == 0  # the gap


@pytest.mark.parametrize(("height", "width"), [(ROWS * P + 5, COLS * P + 7), (ROWS * P - 3, COLS * P - 6)])
def test_cells_lie_on_the_pixels_of_their_patches(height, width):
    """Patches that leave a rest of the image, and padded ones that reach over its edge."""
    image = np.zeros((height, width, 3), np.uint8)
    for result, options in [(a_map(image=image), {}), (a_gallery(2, image=image), {"opacity": 0.5})]:
        figure = render(result, **options)
        (picture_size,) = {(round(picture.sizex, 6), round(picture.sizey, 6)) for picture in figure.layout.images}
        scale = picture_size[0] / width
        assert picture_size[1] / height == pytest.approx(scale)
        for trace in (trace for trace in figure.data if trace.type == "heatmap"):
            np.testing.assert_allclose(np.diff(trace.x), P * scale)
            np.testing.assert_allclose(np.diff(trace.y), -P * scale)
            assert any(trace.x[0] == picture.x and trace.y[0] == picture.y for picture in figure.layout.images)


@pytest.mark.parametrize("heads", [1, 3, 6, 12, 16, 24])
def test_gallery_has_a_map_for_each_head_and_they_do_not_touch(heads):
    figure = render(a_gallery(heads))
    maps = [trace for trace in figure.data if trace.type == "heatmap"]
    assert len(maps) == heads
    boxes = [(trace.x[0], -trace.y[0], trace.x[-1], -trace.y[-1]) for trace in maps]
    for (x0, y0, x1, y1), (u0, v0, u1, v1) in itertools.combinations(boxes, 2):
        assert x1 < u0 or u1 < x0 or y1 < v0 or v1 < y0
    assert all(x1 - x0 >= 100 and abs((x1 - x0) / (y1 - y0) - COLS / ROWS) < 1e-6 for x0, y0, x1, y1 in boxes)
    text = words_of(figure)
    for head in range(heads):
        assert f"head {head}" in text


def test_gallery_scale_is_shared_or_each_heads_own():
    result = a_gallery(values=np.stack([np.ones((ROWS, COLS)), np.full((ROWS, COLS), 4.0)]))
    shared, own = render(result), render(result, shared_scale=False)
    assert [trace.z.max() for trace in shared.data if trace.type == "heatmap"] == [1, 4]
    assert [trace.z.max() for trace in own.data if trace.type == "heatmap"] == [1, 1]
    assert shared.layout.coloraxis.cmax == 4
    assert "one scale for all heads" in words_of(shared)
    assert "each head divided by its own maximum" in words_of(own)
    assert "max 4" in words_of(own)


def test_parts_are_gathered_by_their_names():
    assert place("blocks.3.attn.qkv") == ("blocks.3", "attn", "attn.qkv")
    assert place("layers.1.blocks.0.mlp.fc1") == ("layers.1", "mlp", "mlp.fc1")
    assert place("head.weight") == ("head", "head", "head.weight")
    assert place("layers.0") == ("layers.0", "layers", "layers")
    assert place("block 3") == ("block 3", "block", "block")
    assert place("patch_embed.norm1.bias") == ("patch_embed", "patch_embed", "patch_embed.norm1.bias")
    assert place("0.weight") == ("0", "weight", "weight")
    swin = rows_of([("block 0", 5), ("block 1", 5), ("downsample 1", 5), ("block 2", 9), ("block 3", 9), ("norm", 9)])
    assert [row.label.en for row in swin] == [
        "block 0 … 1 (2 × 5)",
        "merging before stage 1",
        "block 2 … 3 (2 × 9)",
        "final norm",
    ]
    result = a_count()
    rows = rows_of(zip(result.parts, result.values.tolist(), strict=True))
    assert [(row.label.en, row.total) for row in rows] == [("embed", 7), ("blocks.0 … 1 (2 × 80)", 160)]
    assert {(kind, piece): n for kind, piece, n in rows[1].together} == {("attn", "attn.qkv"): 60, ("mlp", "mlp"): 100}
    different = rows_of([("blocks.0.a", 1), ("blocks.1.a", 2), ("blocks.2.a", 2)])
    assert [row.total for row in different] == [1, 4]


def test_count_lengths_table_and_difference():
    figure = render(a_count())
    (bars,) = (trace for trace in figure.data if trace.type == "bar")
    np.testing.assert_allclose(np.array(bars.x) / np.sum(bars.x), np.array([7, 60, 100]) / 167)
    text = words_of(figure)
    for words in ("167", "2 · 80", "closed formula", "160", "counted minus formula", "95.8 %"):
        assert words in text
    assert "counted minus formula" not in words_of(render(a_count(total=160)))
    assert "0 parameters" in words_of(
        render(a_count(parts=(), values=np.zeros(0, int), total=0, terms=(), unit=same("parameters")))
    )


# ---------------------------------------------------------------------------------------------- errors


@dataclasses.dataclass(frozen=True, kw_only=True)
class Strange(Result):
    """Result type without a renderer."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpecialMap(MapResult):
    """Subclass of a result type that has a renderer."""


def test_errors_are_sentences():
    result = a_map()
    fields = {field.name: getattr(result, field.name) for field in dataclasses.fields(Result)}
    with pytest.raises(
        NoRendererError, match="A Strange cannot be drawn; figures exist for AlikeResult, AnsweredPicturesResult"
    ) as caught:
        render(Strange(**fields))
    assert "无法绘制 Strange" in caught.value.text.zh
    for options, sentence in [
        ({"colormap": "viridsi"}, "Unknown colour map 'viridsi'. Did you mean 'viridis'?"),
        ({"colour": 1}, "Unknown option 'colour'"),
        ({"arrangement": "sideways"}, "Unknown arrangement"),
        ({"normalise": "maximum"}, "Unknown normalisation"),
        ({"theme": "drak"}, "Did you mean 'dark'?"),
    ]:
        with pytest.raises(UnknownNameError) as caught:
            render(result, **options)
        assert sentence in str(caught.value)


def test_a_type_made_from_another_is_drawn_as_that():
    special = SpecialMap(**{field.name: getattr(a_map(), field.name) for field in dataclasses.fields(MapResult)})
    assert words_of(render(special)) == words_of(render(a_map()))


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("map.gif", r"must end in one of \.png, \.svg, \.pdf, \.html, \.csv, \.json"),
        ("map", "must end in one of"),
        ("nowhere/map.csv", "There is no folder .*nowhere"),
        ("folder.csv", "is a folder"),
        ("file.txt/map.json", "is not a folder"),
        ("x" * 300 + ".csv", "too long"),
    ],
)
def test_where_a_file_cannot_be_a_sentence_says_why(tmp_path, path, sentence):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file.txt").write_text("")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(files.SaveError, match=sentence):
        save(a_map(), tmp_path / path)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("scale", [0, -1, 11, float("nan")])
def test_a_wrong_scale_is_refused(tmp_path, scale):
    with pytest.raises(files.SaveError, match="more than 0 and at most 10"):
        save(a_map(), tmp_path / "map.png", scale=scale)


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    path = save(a_map(), tmp_path / "map.csv")
    old = path.read_bytes()

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(files.SaveError, match="The disk is full"):
        save(a_gallery(), path)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


# ---------------------------------------------------------------------------------------------- numbers as files


@pytest.mark.parametrize("name", RESULTS)
def test_csv_is_tidy_and_exact(tmp_path, name):
    result = RESULTS[name]
    path = save(result, tmp_path / "numbers.csv")
    assert path.read_bytes().startswith("\ufeff".encode())  # a spreadsheet reads Chinese only so
    table = pd.read_csv(path, converters={"value": float})  # Python's own reading is exact
    singular = {"map": ["row", "col"], "gallery": ["head", "row", "col"], "count": ["part"]}
    singular["patches"] = ["patch", "height", "width", "channel"]
    facts = ["view", "settings", "model", "weights", "changed", "image"]
    assert list(table.columns) == [*facts, *singular[name], "value"]
    assert set(table["view"]) == {result.view}
    assert set(table["model"]) == {"tiny"}
    assert (table["value"].to_numpy(result.values.dtype).reshape(result.values.shape) == result.values).all()
    if name == "map":
        assert table.query("row == 1 and col == 3")["value"].item() == result.values[1, 3].item()
    if name == "count":
        assert list(table["part"]) == list(result.parts)


@pytest.mark.parametrize("name", RESULTS)
def test_json_has_everything_in_full_precision(tmp_path, name):
    result = RESULTS[name]
    read = json.loads(save(result, tmp_path / "numbers.json").read_text("utf-8"))
    assert (np.array(read["values"], result.values.dtype) == result.values).all()
    assert read["title"] == {"en": result.title.en, "zh": result.title.zh}
    assert read["unit"]["zh"] == result.unit.zh
    assert read["axes"] == list(result.axes)
    assert read["view"] == result.view
    assert read["formula"] == result.formula
    assert read["provenance"]["model"] == "tiny"
    assert read["caption"]["zh"].startswith(result.title.zh)
    if name == "map":
        assert read["notes"] == [{"en": "a note", "zh": "一条说明"}]
        assert read["settings"] == {"block": 4, "head": 2, "query": [1, 3], "discard_ratio": 0.9}
        assert np.float32(read["prefix_weights"][0]) == np.float32(0.3)
        assert read["grid"]["rows"] == ROWS


def test_what_is_not_a_number_is_empty_in_csv_and_null_in_json(tmp_path):
    result = a_map(values=np.array([[1.0, np.nan], [np.inf, 0.1]]))
    assert json.loads(save(result, tmp_path / "a.json").read_text())["values"] == [[1.0, None], [None, 0.1]]
    table = pd.read_csv(save(result, tmp_path / "a.csv"))
    assert table["value"].isna().tolist() == [False, True, False, False]
    assert table["value"][2] == np.inf


# ---------------------------------------------------------------------------------------------- pictures as files


@pytest.fixture(scope="module", autouse=True)
def _no_browser_stays():
    yield
    browser.close()


def cell_of(trace, row: int, col: int) -> tuple[int, int]:
    """Return the pixel (y, x) in the middle of a cell of a painted map."""
    return round(-(trace.y[row] + trace.y[row + 1]) / 2), round((trace.x[col] + trace.x[col + 1]) / 2)


@pytest.mark.browser
def test_the_picture_shows_each_value_at_its_place():
    window = (2, 4, 2, 3)  # wraps around both edges
    result = a_map(query=(1, 3), window=window)
    figure = render(result, arrangement="side_by_side", opacity=0.5)
    pixels = np.array(Image.open(io.BytesIO(browser.picture(figure, "png"))).convert("RGB")).astype(int)
    assert pixels.shape == (figure.layout.height, figure.layout.width, 3)
    alone, over = (trace for trace in figure.data if trace.type == "heatmap")
    table = lookup_table("inferno").astype(int)
    for (row, col), value in np.ndenumerate(result.values):
        y, x = cell_of(alone, row, col)
        expected = table[round(value / result.values.max() * 255)]
        assert np.abs(pixels[y, x] - expected).max() <= 4, (row, col)
        near_corner = pixels[round(-alone.y[row]) + 6, round(alone.x[col]) + 6]  # crisp, not blurred
        assert np.abs(near_corner - expected).max() <= 4, (row, col)
    y, x = cell_of(alone, ROWS - 1, COLS - 1)
    assert np.abs(pixels[y, x] - table[255]).max() <= 4
    _assert_clearer_where_less(pixels, over)
    _assert_outlined(pixels, alone, row=1, col=3)
    for row, col in ((2, 4), (0, 0)):  # two of the four parts of the window, in opposite corners of the grid
        left, right = (round(alone.x[c]) for c in ((4, 5) if col else (0, 2)))
        edge = pixels[round(-alone.y[row]) - 1 : round(-alone.y[row]) + 2, left + 2 : right - 2].reshape(-1, 3)
        assert (edge > 200).all(-1).any(), "white of the frame"


def _assert_clearer_where_less(pixels, over):
    """The mean over a cell is that of grey image and colour, mixed by a power of its share; zero is the image."""
    for col, value in ((0, 0), (3, 3)):
        top, bottom = (round(-over.y[row]) + 4 for row in (0, 1))
        left, right = (round(over.x[c]) + 4 for c in (col, col + 1))
        cell = pixels[top : bottom - 8, left : right - 8].mean((0, 1))
        image, part = grey_of(IMAGE)[:P, col * P : (col + 1) * P].mean((0, 1)), 0.5 * (value / 14) ** 0.7
        color = lookup_table("inferno").astype(int)[round(value / 14 * 255)]
        assert np.abs(cell - (part * color + (1 - part) * image)).max() <= 12


def _assert_outlined(pixels, alone, row: int, col: int):
    """White with black dashes along the upper edge of the cell."""
    y = round(-alone.y[row])
    edge = pixels[y, round(alone.x[col]) + 3 : round(alone.x[col + 1]) - 3]
    assert (edge > 230).all(-1).any()
    assert (edge < 25).all(-1).any()


@pytest.mark.browser
def test_svg_and_pdf_keep_text_as_text(tmp_path):
    result = a_map(provenance=dataclasses.replace(TRAINED, weights="file", weights_source="<b>&x</b>.pt"))
    svg = save(result, tmp_path / "map.svg", language="zh").read_text("utf-8")
    text = squeezed(unescape("".join(re.findall(r"<text[^>]*>.*?</text>", svg, re.DOTALL))))
    text = re.sub(r"<tspan[^>]*>|</tspan>|</?text[^>]*>", "", text)
    for words in ("注意力图", "权重来自<b>&x</b>.pt", "第1行第3列的图块→图块", "类别标记", "softmax(qkᵀ"):
        assert words in text
    with ThreadPoolExecutor() as pool:  # two savers at once, one browser
        paths = list(pool.map(lambda name: save(a_count(), tmp_path / name), ["a.pdf", "b.png"]))
    assert paths[0].read_bytes().startswith(b"%PDF")
    with Image.open(paths[1]) as picture:
        assert picture.size[0] == 2 * 1280


@pytest.mark.browser
def test_without_a_browser_a_sentence_says_what_to_install(tmp_path, monkeypatch):
    browser.close()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("choreographer.browsers.chromium.Chromium.find_browser", lambda **_: None)
    with pytest.raises(browser.PictureError, match="Chrome or Chromium, and none was found: install it") as caught:
        save(a_map(), tmp_path / "map.png")
    assert "安装" in caught.value.text.zh
    assert not list(tmp_path.iterdir())
    monkeypatch.setitem(sys.modules, "kaleido", None)
    with pytest.raises(browser.PictureError, match="pip install kaleido"):
        save(a_map(), tmp_path / "map.png")


def test_a_browser_that_fails_is_a_sentence_without_the_words_of_python(monkeypatch):
    def fails():
        raise KeyError("targets")

    browser.close()
    monkeypatch.setattr(browser, "_Browser", fails)
    with pytest.raises(browser.PictureError) as caught:
        browser.picture(go.Figure(), "png")
    assert caught.value.text.en.startswith("The browser did not draw the picture, twice. Saving as")
    assert "targets" not in "".join(caught.value.text)


def test_figures_load_neither_torch_nor_pandas_nor_kaleido():
    code = (
        "import sys, vitexplorer.figures; "
        "print([m for m in ('torch', 'pandas', 'kaleido', 'gradio', 'plotly.express') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
