"""Unsupported views show the picture, and offer the bundled model that supports them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import vitexplorer as vx
from tests.helpers.small_models import capture_small
from vitexplorer.capturing.capture import Capture
from vitexplorer.core.settings import ASSETS
from vitexplorer.core.text import SettingError, same
from vitexplorer.models.catalog import catalog
from vitexplorer.ui.panel.figure_panel import OF_CHANGES, Question, capture_views, nearest_model, panel_data
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


def test_the_offer_knows_the_kind_of_picture() -> None:
    for kind, model in (("scene", "scenes_vit_patch16_192"), ("creature", "creatures_vit_patch16_192")):
        offer = nearest_model("trust", captured("scenes_dino_patch16_192", PICTURES[kind]))
        assert offer
        assert offer.model == model


def test_a_refused_view_keeps_the_picture_and_says_the_offer() -> None:
    source = capture_views(captured("scenes_dino_patch16_192", PICTURES["scene"]))
    data, _ = panel_data(source, ("trust", "before_after"), "zh", Question("trust"), None)
    assert data.refused
    assert data.image
    assert Path(data.image.path).is_file()
    assert data.elsewhere
    assert (data.elsewhere.show, data.elsewhere.back) == ("改用“ViT（合成场景）”查看", "回到“DINO（合成场景）”")
    assert [view.needs for view in data.views] == ["换模型", "不适用"]


def test_a_refused_setting_keeps_the_picture_too() -> None:
    source = capture_views(capture_small("vit"))
    data, _ = panel_data(source, ("random",), "en", Question("random"), SettingError(same("No such seed.")))
    assert (data.refused, data.elsewhere) == ("No such seed.", None)
    assert data.image
