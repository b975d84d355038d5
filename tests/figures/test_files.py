"""Every view promised to scripts is computed, drawn, and saved as PNG, SVG, CSV and JSON.

The table is written down here by hand: a view that loses its name or the shape of its values breaks somebody's script.
A browser makes one of the pictures; of the others the figure that it would be given is looked at.
"""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import plotly.graph_objects as go
import pytest
from PIL import Image

import vitexplorer as vx
from tests.helpers.small_models import capture_small, load_small, picture
from vitexplorer.capturing.capture import Capture
from vitexplorer.core.types import Result
from vitexplorer.figures import browser
from vitexplorer.models.mae import MaeDecoder
from vitexplorer.models.seeding import seeded

FEW = {"target": 1}
MAP = (4, 4)
PROMISED = {
    "patch_grid": ("vit", {}, (16, 16, 16, 3)),
    "attention_map": ("vit", {"block": 1, "head": "max", "query": (1, 2)}, MAP),
    "head_gallery": ("vit", {"block": 1, "query": "cls"}, (3, *MAP)),
    "head_atlas": ("vit", {"metric": "entropy"}, (3, 3)),
    "attention_distance": ("vit", {"normalise": "renormalised"}, (3, 3)),
    "causal_attention": ("vit", {"block": 0, "head": 1, "query": (2, 1), "mask": "on"}, (17, 17)),
    "scaled_dot_product": ("vit", {"block": 0, "head": 1, "query": "cls"}, (17,)),
    "attention_rollout": ("vit", {"head_fusion": "mean", "discard_ratio": 0.5, "start_block": 1}, MAP),
    "grad_rollout": ("vit", FEW, MAP),
    "generic_relevance": ("vit", FEW, MAP),
    "legrad": ("vit", FEW, MAP),
    "attn_lrp": ("vit", FEW, MAP),
    "grad_cam": ("vit", {**FEW, "block": 1}, MAP),
    "integrated_gradients": ("vit", {**FEW, "steps": 2}, MAP),
    "input_x_gradient": ("vit", FEW, MAP),
    "occlusion": ("vit", FEW, MAP),
    "activation_patching": ("vit", FEW, MAP),
    "random": ("vit", {**FEW, "seed": 3}, MAP),
    "trust": ("vit", {**FEW, "methods": "grad_cam", "steps": 2}, (2, 1)),
    "faithfulness": ("vit", {**FEW, "methods": "grad_cam", "steps": 2}, (2, 2, 3)),
    "side_by_side": ("vit", {**FEW, "methods": "grad_cam", "measure": "on", "steps": 2}, (2, *MAP)),
    "pooling": ("vit", {}, (3,)),
    "logit_lens": ("vit", {"token": "patches"}, (3, *MAP)),
    "logit_attribution": ("vit", FEW, (8,)),
    "network": ("vit", {**FEW, "links": 3}, (4, 16, 3)),
    "token_pca": ("vit", {"block": 1, "norm": True, "foreground": True}, (*MAP, 3)),
    "patch_similarity": ("vit", {"block": 1, "query": (0, 0)}, MAP),
    "token_norms": ("vit", {}, (3, 17)),
    "patch_filters": ("vit", {"count": 5}, (5, 16, 16, 3)),
    "position_similarity": ("vit", {}, (*MAP, *MAP)),
    "relative_position_bias": ("swin", {"block": 0}, (2, 7, 7)),
    "parameters": ("vit", {}, None),
    "cost": ("vit", {"image_size": 128}, None),
    "mae_reconstruction": ("mae", {"mask_ratio": 0.5, "seed": 1}, (64, 64, 3)),
    "parameter_tree": ("vit", {}, None),
    "cost_growth": ("vit", {"largest": 128}, (2, 3, 8)),
    "patch_to_token": ("vit", {"patch": (1, 2)}, (48,)),
}
"""Small model, settings, and shape of `values` by view (None where the parts of a model are counted)"""


@cache
def captured(key: str) -> Capture:
    """A capture of a small model; "mae" is the small ViT with a decoder that has learned nothing."""
    if key != "mae":
        return capture_small(key)
    model, grid = load_small("vit"), capture_small("vit").grid(0)
    with seeded(0):
        decoder = MaeDecoder(model.module.embed_dim, 32, 1, (grid.rows, grid.cols), grid.patch_size).eval()
    return vx.capture(replace(model, decoder=decoder), picture(64, 64), fit="squash")


@cache
def computed(view: str) -> Result:
    key, settings, _ = PROMISED[view]
    return vx.compute(view, captured(key), **settings)


@pytest.mark.parametrize("view", PROMISED)
def test_values_have_the_promised_shape(view):
    result, (_, _, shape) = computed(view), PROMISED[view]
    assert result.values.shape == shape or (shape is None and result.values.ndim == 1)
    assert len(result.axes) == result.values.ndim


@pytest.mark.parametrize("view", PROMISED)
def test_numbers_are_saved(view, tmp_path):
    result = computed(view)
    with vx.save(result, tmp_path / "numbers.csv").open(encoding="utf-8-sig", newline="") as file:
        head, *rows = csv.reader(file)
    assert head[-1] == "value"
    assert {dict(zip(head, row, strict=True))["model"] for row in rows} == {result.provenance.model}
    written = [float(row[-1]) for row in rows if row[-1]]
    assert len(rows) == result.values.size
    assert written == pytest.approx([value for value in result.values.ravel().tolist() if value == value])
    document = json.loads(vx.save(result, tmp_path / "numbers.json").read_text("utf-8"))
    assert document["view"] == view
    assert document["type"] == type(result).__name__
    assert document["provenance"]["image_hash"] == result.provenance.image_hash
    assert set(PROMISED[view][1]) <= set(document["settings"])


@pytest.mark.parametrize("form", ["png", "svg"])
@pytest.mark.parametrize("view", PROMISED)
def test_figures_are_saved(view, form, tmp_path, monkeypatch):
    given = []

    def draw(figure: go.Figure, asked: str, scale: float) -> bytes:
        given.append((figure, asked, scale))
        return f"{asked} of {len(figure.data)}".encode()

    monkeypatch.setattr(browser, "picture", draw)
    path = vx.save(computed(view), tmp_path / f"figure.{form}", language="zh", theme="dark")
    ((figure, asked, scale),) = given
    assert path.read_bytes() == f"{form} of {len(figure.data)}".encode()
    assert (asked, scale) == (form, 2 if form == "png" else 1)
    words = " ".join(note.text for note in figure.layout.annotations)
    assert computed(view).title.zh in words.replace("<br>", "")
    assert figure.layout.paper_bgcolor == "#14171b"
    assert len(figure.data) > 1 or figure.layout.images  # the first trace is only the ground
    assert figure.layout.height > 200


@pytest.mark.browser
def test_one_of_them_is_drawn_by_a_browser(tmp_path):
    path: Path = vx.save(computed("parameter_tree"), tmp_path / "tree.png")
    with Image.open(path) as drawn:
        assert drawn.size[0] == 2 * 1280
        colors = drawn.convert("RGB").resize((64, 64)).getcolors(4096)
    assert len(colors) > 20
    svg = vx.save(computed("parameter_tree"), tmp_path / "tree.svg").read_text("utf-8")
    assert "block 0" in svg
