"""The view of captions, with the bundled captioner."""

from __future__ import annotations

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers.small_captioner import with_captioner
from tests.helpers.small_models import capture_small
from vitexplorer.core.settings import ASSETS
from vitexplorer.core.text import UnsupportedError
from vitexplorer.figures.tables import as_csv
from vitexplorer.models.texts.captioner import BEGIN, Captioner
from vitexplorer.quantities.texts.captions import READINGS, caption_of


@pytest.fixture(scope="module")
def captured():
    return vx.capture(vx.load_model("scenes_captioner", device="cpu"), ASSETS / "examples" / "scene_red_gear.webp")


@pytest.mark.parametrize(
    ("language", "sentence", "has_place"),
    [
        ("en", "a red gear left of a green ring", [False, True, True, False, False, False, True, True]),
        ("zh", "绿色的圆环左边有一个红色的齿轮", [True, False, True, False, False, False, True, False, True]),
    ],
)
def test_it_names_the_things(captured, language, sentence, has_place):
    result = vx.compute("caption", captured, written_in=language)
    assert result.sentence == sentence
    assert result.has_place.tolist() == has_place
    assert (result.probabilities > 0.5).all()
    assert sentence in vx.reading(result, language)


def test_its_maps_are_those_of_the_readings(captured):
    result = vx.compute("caption", captured)
    caption = caption_of(captured, "en")
    rows, cols = captured.grid(captured.depth - 1).rows, captured.grid(captured.depth - 1).cols
    assert result.values.shape == (len(READINGS), len(result.words), rows, cols)
    for maps, reading in zip(result.values, READINGS.values(), strict=True):
        np.testing.assert_allclose(maps.reshape(len(maps), -1), reading.maps(caption), rtol=1e-6)


def test_its_words_read_the_tokens_of_the_pass(captured):
    """With its patches shuffled the picture is another one."""
    plain = vx.compute("caption", captured)
    changed = vx.compute("caption", vx.intervene(captured, "shuffle_patches:seed=0"))
    assert changed.sentence != plain.sentence or not np.allclose(changed.probabilities, plain.probabilities)


def test_its_table_names_reading_and_word(captured):
    head, first, *_ = as_csv(vx.compute("caption", captured)).splitlines()
    assert head.endswith("method,word,row,col,value")
    assert ",cross_attention,a,0,0," in first


def test_other_models_are_refused():
    with pytest.raises(UnsupportedError, match="writes no captions"):
        vx.compute("caption", capture_small("vit"))


def test_a_caption_may_be_empty(monkeypatch):
    """A model that ends its sentence at once writes nothing."""
    monkeypatch.setattr(Captioner, "write", lambda _captioner, _image, language: [BEGIN[language]])
    result = vx.compute("caption", with_captioner(capture_small("vit")))
    assert (result.sentence, result.values.shape) == ("", (3, 0, 4, 4))
    assert "nothing to read" in vx.reading(result)
    vx.render(result)
