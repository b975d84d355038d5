"""Unsupported views show the picture, and offer the bundled model that supports them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

import vitexplorer as vx
from tests.helpers.plain_page import PlainPage
from tests.helpers.small_families import capture_case
from tests.helpers.small_models import capture_small
from vitexplorer.capturing.capture import Capture
from vitexplorer.core.settings import ASSETS
from vitexplorer.core.text import SettingError, same
from vitexplorer.models.catalog import catalog
from vitexplorer.ui.panel.figure_panel import (
    OF_CHANGES,
    FigurePanel,
    PanelData,
    Question,
    capture_views,
    nearest_model,
    panel_data,
)
from vitexplorer.views import VIEWS, refusal

BUNDLED = [entry.name for entry in catalog() if entry.bundled]
PICTURES = {"scene": "scene_gear.webp", "creature": "creature_forktail.webp"}


@cache
def captured(model: str, picture: str) -> Capture:
    return vx.capture(vx.load_model(model), ASSETS / "examples" / picture)


@pytest.mark.parametrize("model", BUNDLED)
@pytest.mark.parametrize("kind", PICTURES)
def test_the_model_that_is_offered_has_the_view(model: str, kind: str) -> None:
    capture = captured(model, PICTURES[kind])
    refused = [view for view in VIEWS if refusal(view, capture) is not None]
    offers = {view: nearest_model(view, capture) for view in refused}
    assert {view for view, offer in offers.items() if offer is None} == set(OF_CHANGES)
    for view, offer in offers.items():
        if offer:
            assert (offer.former, offer.changes["size"]) == (model, "")
            assert refusal(view, captured(offer.model, PICTURES[kind])) is None, view


def test_a_model_stands_in_for_plain_runs_on_pictures_that_it_names() -> None:
    dino = captured("scenes_dino_patch16_192", PICTURES["scene"])
    changed = vx.intervene(dino, "shuffle_patches:seed=0")
    photograph = captured("scenes_dino_patch16_192", "chelsea.png")
    pooled = vx.capture(vx.load_model("pvt_v2_b0", weights="random"), ASSETS / "examples" / PICTURES["scene"])
    for capture, stands_in in ((dino, True), (changed, False), (photograph, False), (pooled, False)):
        nearest = nearest_model("trust", capture)
        assert nearest
        assert nearest.stands_in == stands_in
    data, _ = panel_data(capture_views(photograph), ("trust",), "en", Question("trust"), None)
    assert data.refused
    assert data.elsewhere
    assert (data.elsewhere.reason, data.elsewhere.show) == (data.refused, "Show it with ViT (drawn scenes)")


def test_the_offer_knows_the_kind_of_picture() -> None:
    for kind, model in (("scene", "scenes_vit_patch16_192"), ("creature", "creatures_vit_patch16_192")):
        offer = nearest_model("trust", captured("scenes_dino_patch16_192", PICTURES[kind]))
        assert offer
        assert offer.model == model


def test_a_view_of_another_model_says_so_and_one_that_no_model_has_keeps_the_picture() -> None:
    source = capture_views(captured("scenes_dino_patch16_192", PICTURES["scene"]))
    views = ("logit_lens", "before_after")
    nearest = source.nearest("logit_lens")
    assert nearest
    other = captured(nearest.model, PICTURES["scene"])
    lens = vx.compute("logit_lens", other)
    data, _ = panel_data(source, views, "zh", Question("logit_lens"), lens, capture_views(other))
    assert data.figure
    assert (data.refused, data.opens) == ("", False)
    assert data.elsewhere
    assert data.elsewhere.reason.startswith("DINO（合成场景）")
    assert data.elsewhere.reason.endswith("这里给出的是“ViT（合成场景）”的结果。")
    assert data.elsewhere.back == "回到“DINO（合成场景）”"
    assert [(view.needs, bool(view.refused)) for view in data.views] == [("换模型", False), ("不适用", True)]

    data, _ = panel_data(source, views, "zh", Question("before_after"), None)
    assert data.refused
    assert data.image
    assert Path(data.image.path).is_file()
    assert (data.figure, data.elsewhere) == (None, None)


def test_a_refused_setting_keeps_the_picture_too() -> None:
    source = capture_views(capture_small("vit"))
    data, _ = panel_data(source, ("random",), "en", Question("random"), SettingError(same("No such seed.")))
    assert (data.refused, data.elsewhere) == ("No such seed.", None)
    assert data.image


@pytest.mark.browser
def test_patches_are_picked_only_in_blocks_where_they_are_queries(desktop: BrowserContext, pages: str) -> None:
    """CaiT: in the last blocks only the class token attends, in the first ones only the patches."""
    source, tab = capture_views(capture_case("cait")), PlainPage(desktop.new_page(), pages)

    def data(block: int) -> PanelData:
        question = Question("head_gallery", {"block": str(block)})
        result = vx.compute("head_gallery", source.capture, block=block)
        return panel_data(source, ("head_gallery",), "en", question, result)[0]

    tab.open(("panel", FigurePanel, data(3)))
    query = tab.page.locator("#panel select[name=query]")
    expect(query.locator("option")).to_have_text(["class token"])
    expect(tab.page.locator("#panel .vx-picker")).to_have_count(0)
    tab.send("panel", data(0))
    expect(query.locator("option")).to_have_text(["mean over patches"])
    expect(tab.page.locator("#panel .vx-picker")).to_be_visible()
    tab.page.close()
