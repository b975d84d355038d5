"""Bundled models with images unlike their training data: the map carries a warning."""

from __future__ import annotations

from importlib import import_module

import pytest

import vitexplorer as vx
from tests.helpers.small_models import picture
from vitexplorer.core.settings import Settings
from vitexplorer.figures.caption import caption
from vitexplorer.models.examples import examples
from vitexplorer.models.images import OpenedImage
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.photographs import photo_hint

CAREFUL, CERTAIN = "for any other image", "This is a photograph"


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    return vx.load_model("scenes_dino_patch16_192")


def hint_of(capture):
    return photo_hint(capture.model, capture.input.image_hash)


def caption_text(model: LoadedModel, image) -> str:
    """Return the caption of a figure."""
    result = vx.compute("attention_map", vx.capture(model, image), block=0)
    return caption(result).en


@pytest.mark.parametrize("example", examples().values(), ids=lambda example: example.id)
def test_an_example_is_known_by_its_hash(example):
    assert OpenedImage.of(example.path).hash == example.hash


def test_figures_say_what_the_model_does_not_know(model):
    drawn, photograph = (examples()[name].path for name in ("scene_mug", "chelsea"))
    assert CAREFUL not in caption_text(model, drawn)
    assert CERTAIN not in caption_text(model, drawn)
    assert CERTAIN in caption_text(model, photograph)
    assert CAREFUL in caption_text(model, picture(192, 192))


def test_weights_that_saw_no_scenes_say_nothing_of_it():
    untrained = vx.load_model("scenes_dino_patch16_192", weights="random")
    assert CAREFUL not in caption_text(untrained, picture(192, 192))
    assert hint_of(vx.capture(untrained, picture(192, 192))) is None


def test_one_like_it_is_named_that_knows_photographs(model, monkeypatch):
    assert hint_of(vx.capture(model, examples()["scene_mug"].path)) is None
    hint = hint_of(vx.capture(model, picture(192, 192)))
    assert hint.model == "vit_small_patch16_224.dino"
    assert hint.available
    assert hint.sentence.en == "This model knows drawn scenes only. DINO ViT-S/16, 87 MB, knows photographs."
    assert hint.sentence.zh == "该模型只认识合成场景。DINO ViT-S/16（87 MB）认识照片。"
    monkeypatch.setattr(import_module("vitexplorer.models.photographs"), "settings", lambda: Settings(downloads=False))
    assert not hint_of(vx.capture(model, picture(192, 192))).available


def test_a_drawn_picture_of_another_kind_gets_a_warning_that_names_its_model(model):
    """A creature with a model of scenes gets a warning, and the other way round."""
    creature, scene = (examples()[name].path for name in ("creature_forktail", "scene_gear"))
    knower = vx.load_model("creatures_vit_patch16_192")
    assert "This is a paper creature, but the model was trained only on drawn scenes" in caption_text(model, creature)
    assert "This is a scene of other things, but the model was trained only on drawn paper creatures" in caption_text(
        knower, scene
    )
    assert "trained only on" not in caption_text(knower, creature)
    assert hint_of(vx.capture(model, creature)).model == "creatures_vit_patch16_192"
    hint = hint_of(vx.capture(knower, scene))
    assert (hint.model, hint.available) == ("scenes_vit_patch16_192", True)
    assert hint.sentence.en == (
        "This model knows drawn paper creatures only. ViT (drawn scenes): that one knows this picture."
    )
