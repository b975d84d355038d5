"""Images nearest to a text: the cosines are those of the view `text_scores`, and refusals are sentences."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

import vitexplorer as vx
from tests.helpers.survey_folder import synthetic_survey
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.scenes.worded import draw_worded
from vitexplorer.survey.answers import nearest_to_text
from vitexplorer.survey.conditions import Equals
from vitexplorer.survey.opened import Survey, open_survey

MODEL, SENTENCES, PICTURES = "scenes_clip", ["a red gear", "一条蓝色的鱼"], 6


@pytest.fixture(scope="module")
def worded(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    """Survey a few worded scenes with a model that reads sentences."""
    folder = tmp_path_factory.mktemp("worded")
    (folder / "pictures").mkdir()
    for number in range(PICTURES):
        PIL.Image.fromarray(draw_worded("test", number).image).save(folder / "pictures" / f"{number}.png")
    return vx.survey(folder / "pictures", MODEL, ask=["features"], out=folder / "survey", workers=1)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_finds_the_images_with_the_largest_cosines(worded: Survey, sentence: str) -> None:
    model = vx.load_model(MODEL)
    cosines = [
        vx.compute("text_scores", vx.capture(model, draw_worded("test", number).image), texts=[sentence]).values[0]
        for number in range(PICTURES)
    ]
    found = nearest_to_text(worded, vx.embed_text(model, [sentence])[0])
    order = np.argsort(-np.array(cosines)).tolist()
    assert [image.row for image in found.images] == order
    np.testing.assert_allclose([image.cosine for image in found.images], np.array(cosines)[order], atol=2e-3)
    assert nearest_to_text(worded, vx.embed_text(model, [sentence])[0], limit=2).images == found.images[:2]
    assert not nearest_to_text(worded, vx.embed_text(model, [sentence])[0], (Equals("path", "none.png"),)).images


def test_what_is_not_there_is_a_sentence(worded: Survey, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=re.escape("A vector of 128 numbers is needed, not of shape (3,).")):
        nearest_to_text(worded, np.ones(3, np.float32))
    with pytest.raises(SettingError, match="at most 500 images"):
        nearest_to_text(worded, np.ones(128, np.float32), limit=501)
    plain = open_survey(synthetic_survey(tmp_path / "plain", 20))
    with pytest.raises(UnsupportedError, match="its model reads no texts"):
        nearest_to_text(plain, np.ones(8, np.float32))
