"""Canvas without a browser: packed bytes, files, words, and input from clients."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import gradio as gr
import numpy as np
import PIL.Image
import pytest

import vitexplorer.ui.canvas.canvas as canvas_module
from tests.helpers.attention_payload import unpack_attention
from vitexplorer.controls import written_value
from vitexplorer.core.types import PADDING, PatchGrid, WindowLayout
from vitexplorer.service.cache_folder import files_folder
from vitexplorer.ui.canvas.canvas import AttentionCanvas, CanvasData, Selection, looks, query_of
from vitexplorer.ui.canvas.files import attention_file
from vitexplorer.ui.canvas.payload import MEAN, pack_attention, packed_bytes
from vitexplorer.ui.canvas.words import CANVAS_WORDS, canvas_words
from vitexplorer.ui.kit.served_files import image_file
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.frame import frame_words

FOLDER = Path(canvas_module.__file__).parent
MODULES = "\n".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.js")))
COLORMAPS = {
    name: re.findall(r"\b[0-9a-f]{6}\b", nodes)
    for name, nodes in re.findall(r"^  (\w+): \[(.*?)\]", (FOLDER / "colours.js").read_text(), re.MULTILINE | re.DOTALL)
}


def softmax_rows(*shape: int, sharpness: float = 3.0) -> np.ndarray:
    scores = np.exp(np.random.default_rng(0).normal(0, sharpness, shape))
    return (scores / scores.sum(-1, keepdims=True)).astype(np.float32)


def test_by_hand():
    # one window, one head, one query (patch 0), keys: class token, patch 0, padding. None is below 0 and the largest is
    # 0.5, so 0.5 is byte 255, 0.4 is round(204) and 0.1 is round(51).
    packed = pack_attention(np.array([[[[0.1, 0.5, 0.4]]]], np.float32), np.array([[-1, 0, PADDING]]), np.array([[0]]))
    expected = struct.pack("<5I", 0x32415856, 1, 1, 1, 3) + struct.pack("<3i", -1, 0, PADDING) + struct.pack("<i", 0)
    assert packed == expected + struct.pack("<4f", 0, 0.5, 0.5, np.float32(0.4)) + bytes([51, 255, 204])


@pytest.mark.parametrize("shape", [(1, 12, 50, 50), (4, 3, 49, 49), (1, 2, 1, 65)])
def test_a_weight_is_off_by_at_most_its_rows_maximum_by_510(shape):
    weights = softmax_rows(*shape)
    windows, _, queries, keys = shape
    positions = np.arange(windows * keys).reshape(windows, keys)
    packed = pack_attention(weights, positions, positions[:, :queries])
    read, keys_read, queries_read = unpack_attention(packed)
    assert len(packed) == packed_bytes(*shape)
    assert (np.abs(read - weights) <= weights.max(-1, keepdims=True) / 510 * (1 + 1e-4)).all()
    assert (keys_read == positions).all()
    assert (queries_read == positions[:, :queries]).all()


def test_a_row_of_zeros_stays_zero():
    weights = np.zeros((1, 1, 2, 2), np.float32)
    assert not unpack_attention(pack_attention(weights, np.array([[0, 1]])))[0].any()


def test_weights_below_zero_keep_their_sign():
    # 255 steps from -0.2 to 0.31, each 0.002: 0 is byte 100
    weights = np.array([[[[-0.2, 0.0, 0.31]], [[-0.3, -0.2, -0.1]]]], np.float32)
    packed = pack_attention(weights, np.array([[0, 1, 2]]), np.array([[0]]))
    assert packed[-6:-3] == bytes([0, 100, 255])
    np.testing.assert_allclose(unpack_attention(packed)[0], weights, atol=0.3 / 510)


def test_queries_and_keys_may_be_counted_on_two_grids():
    weights = softmax_rows(1, 2, 12, 3)
    packed = pack_attention(weights, np.arange(3)[None], np.arange(12)[None])
    read, keys, queries = unpack_attention(packed)
    assert (keys.shape, queries.shape, read.shape) == ((1, 3), (1, 12), (1, 2, 12, 3))
    assert len(packed) == packed_bytes(1, 2, 12, 3)


def test_sums_over_patches_and_padding_travel_exactly():
    grid, layout = PatchGrid(5, 6, 16), WindowLayout((4, 4), (2, 2))
    positions = layout.positions(grid)
    weights = softmax_rows(len(positions), 2, 16, 16)
    packed = pack_attention(weights, positions)
    rows = len(positions) * 2 * 16
    sums = np.frombuffer(packed, "<f4", 2 * rows, 20 + 8 * positions.size + 8 * rows).reshape(len(positions), 2, 16, 2)
    for window, at in enumerate(positions):
        patches = [sum(float(row[k]) for k in range(16) if at[k] >= 0) for row in weights[window].reshape(-1, 16)]
        np.testing.assert_allclose(sums[window, ..., 0].ravel(), patches, rtol=1e-5)
    np.testing.assert_allclose(sums.sum(-1), 1, rtol=1e-5)


def test_one_averaged_row():
    packed = pack_attention(softmax_rows(1, 3, 1, 9), np.arange(9)[None], np.array([[MEAN]]))
    assert unpack_attention(packed)[2].tolist() == [[MEAN]]


@pytest.mark.parametrize(
    ("weights", "positions", "sentence"),
    [
        (np.ones((1, 1, 2, 2)), np.zeros((1, 3), int), "wants positions"),
        (np.ones((1, 1, 2, 2)), np.zeros((2, 2), int), "wants positions"),
        (np.full((1, 1, 2, 2), np.nan), np.zeros((1, 2), int), "finite"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_cannot_be_packed(weights, positions, sentence):
    with pytest.raises(ValueError, match=sentence):
        pack_attention(weights, positions)


def test_what_cannot_be_read():
    packed = pack_attention(np.ones((1, 1, 1, 1), np.float32), np.array([[0]]))
    for wrong in (packed[:-1], b"x" * len(packed)):
        with pytest.raises(ValueError, match="no packed attention"):
            unpack_attention(wrong)


def test_files_are_named_by_content_and_lie_in_the_folder_that_is_swept():
    weights, positions = softmax_rows(1, 2, 4, 4), np.arange(4)[None]
    first, second = attention_file(weights, positions), attention_file(weights, positions)
    other = attention_file(weights[:, ::-1], positions)
    assert first == second
    assert first.url != other.url
    assert first.path.is_relative_to(files_folder())
    assert first.path.read_bytes() == pack_attention(weights, positions)
    assert not [file for file in first.path.parent.iterdir() if file.name != "attention.bin"]


def test_pixels_travel_without_loss():
    pixels = np.random.default_rng(0).integers(0, 256, (24, 40, 3)).astype(np.uint8)
    with PIL.Image.open(image_file(pixels).path) as image:
        assert (np.asarray(image) == pixels).all()


# ---- colours


def test_there_is_a_colour_map_for_every_choice():
    assert Address.read({"colormap": "jet"}).colormap == ""
    assert [Address.read({"colormap": name}).colormap for name in COLORMAPS] == list(COLORMAPS)


def lightness(colours: np.ndarray) -> np.ndarray:
    """Return CIELAB L* of sRGB colours, 0-255 (IEC 61966-2-1)."""
    linear = np.where(colours <= 0.04045 * 255, colours / 255 / 12.92, ((colours / 255 + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    return np.where(luminance > 0.008856, 116 * np.cbrt(luminance) - 16, 903.3 * luminance)


@pytest.mark.parametrize("name", COLORMAPS)
def test_colour_maps_get_lighter_in_even_steps(name):
    nodes = COLORMAPS[name]
    steps = np.diff(lightness(np.array([[int(hex_[i : i + 2], 16) for i in (0, 2, 4)] for hex_ in nodes])))
    assert len(nodes) == 52
    assert (steps > 0).all()
    assert steps.max() < 2.5 * steps.mean()


# ---- words and templates


def test_every_word_is_there_in_both_languages_with_the_same_places():
    for key, text in CANVAS_WORDS.items():
        assert text.en, key
        assert text.zh, key
        assert set(re.findall(r"\{(\w+)", text.en)) == set(re.findall(r"\{(\w+)", text.zh)), key


def test_script_and_template_use_the_words_that_exist_and_no_other():
    html, js = (FOLDER / "canvas.html").read_text(), MODULES
    named = set(re.findall(r'data-(?:word|label)="(\w+)"', html)) | set(re.findall(r"say\([\w.]+, '(\w+)'", js))
    assert named <= {*CANVAS_WORDS, *frame_words("en")}
    composed = tuple(re.findall(r"`(\w+_)\$\{", js))
    for key in set(CANVAS_WORDS) - named:
        assert (
            f"'{key}'" in js
            or f"{key}:" in js
            or key.startswith(composed)
            or key.startswith("hint")
            or f'"{key}"' in js
        )


def test_templates_hold_no_text_and_nothing_that_gradio_evaluates():
    html = (FOLDER / "canvas.html").read_text()
    assert not re.sub(r"<[^>]*>", "", html).strip()
    assert not re.search(r"\$\{|\{\{|`", html)
    assert "innerHTML" not in MODULES


def test_words_travel_as_plain_strings():
    assert canvas_words("zh")["query"] == "查询"


# ---- what a client may send

DATA = CanvasData(rows=3, cols=5, prefix=["cls"], heads=4, depth=12, block=7)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("cls", "cls"),
        ("mean", "mean"),
        ("2,4", (2, 4)),
        ("dist", None),
        ("3,0", None),
        ("0,5", None),
        ("-1,0", None),
        ("1,1\n", None),
        ("99999,1", None),
        (None, None),
    ],
)
def test_queries_are_read_within_the_grid(text, query):
    assert query_of(text, DATA) == query
    if query is not None:
        assert written_value(query) == text


def test_what_does_not_look_in_a_block():
    queries = ("cls", "mean", (1, 2))
    assert [looks(query, ["patches"]) for query in queries] == [True, False, False]
    assert [looks(query, ["cls"]) for query in queries] == [False, True, True]
    assert all(looks(query, []) for query in queries)


def test_selection_of_an_event():
    event = {"block": 7, "head": "3", "query": "1,2", "pinned": True}
    assert Selection.read(event, DATA) == Selection(7, "3", (1, 2), True)
    assert Selection.read({"block": 7, "head": 2, "query": "mean"}, DATA) == Selection(7, "2", "mean", False)
    for wrong in (
        {"head": "4"},
        {"head": "-1"},
        {"head": None},
        {"head": "1e2"},
        {"query": "9,9"},
        {"block": 12},
        {"block": None},
        {"block": -1},
        {"query": None},
    ):
        assert Selection.read({**event, **wrong}, DATA) is None, wrong
    assert Selection.read({}, DATA) is None


async def test_component_in_a_page():
    with gr.Blocks(analytics_enabled=False):
        canvas = AttentionCanvas()
        canvas.patch_select(lambda: None)
    assert canvas.preprocess(CanvasData(rows=2, cols=3)) is None
