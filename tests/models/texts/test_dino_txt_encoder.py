"""Text encoder of dino.txt against a slow twin, with CLIP's own tokens."""

from __future__ import annotations

import sys

import numpy as np
import open_clip
import pytest
import torch

import vitexplorer as vx
from tests.helpers.reference_dino_txt import Twin, text_vector
from tests.helpers.small_dino_txt import BACKBONES, CONTEXT, GRID, PATCH, Files
from tests.helpers.small_models import picture
from vitexplorer.core.text import SettingError, UnsupportedError

TEXTS = ["a red gear", "the blue cat on a mat", "an"]

each_release = pytest.mark.parametrize("release", BACKBONES)


def tokens_of(text: str) -> list[int]:
    return [49406, *open_clip.SimpleTokenizer().encode(text), 49407]


@each_release
@pytest.mark.parametrize("projection", [None, 48])
def test_vectors_are_those_of_the_twin(tmp_path, release, projection):
    files = Files(release, projection=projection)
    model = vx.load_model(files.save(tmp_path / "m"), device="cpu")
    expected = torch.stack([text_vector(files, tokens_of(text)) for text in TEXTS])
    vectors = vx.embed_text(model, TEXTS)
    assert vectors.shape == (3, files.joint)
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    in_template = vx.embed_text(model, ["cat"], templates=["a {}", "the {}"])[0]
    mean = sum(text_vector(files, tokens_of(text)) for text in ("a cat", "the cat"))
    np.testing.assert_allclose(in_template, mean / mean.norm(), atol=1e-5)


@each_release
def test_scores_of_texts(tmp_path, release):
    files, side = Files(release), PATCH[release] * GRID
    model = vx.load_model(files.save(tmp_path / "m"), device="cpu", size=side)
    captured = vx.capture(model, picture(side, side), fit="squash")
    result = vx.compute("text_scores", captured, texts=TEXTS)
    image = Twin(files, captured.input.tensor[0]).vector
    cosines = np.array([float(text_vector(files, tokens_of(text)) @ image) for text in TEXTS])
    np.testing.assert_allclose(result.values, cosines, atol=1e-5)
    if release == "dinov2":  # no file states the scale
        assert np.isnan(result.answers).all()
        assert "the scale of the model's training is not known" in result.how.en
    else:
        shares = np.exp(np.exp(2.5) * cosines)
        np.testing.assert_allclose(result.answers, shares / shares.sum(), atol=1e-4)


def test_a_text_that_is_too_long(tmp_path):
    model = vx.load_model(Files("dinov2").save(tmp_path / "m"), device="cpu")
    vx.embed_text(model, ["cat " * (CONTEXT - 2)])
    with pytest.raises(SettingError, match=f"has {CONTEXT + 1} tokens, and this model reads {CONTEXT} at most"):
        vx.embed_text(model, ["cat " * (CONTEXT - 1)])


@pytest.mark.parametrize("odd", ["words", "part", "further"])
def test_an_encoder_of_other_parts_is_refused(tmp_path, odd):
    files = Files("dinov2")
    if odd == "words":
        files.texts["backbone.token_embedding.weight"] = torch.zeros(100, 128)
    elif odd == "part":
        del files.texts["backbone.ln_final.bias"]
    else:
        files.texts["head.ln_final.weight"] = torch.ones(128)
    model = vx.load_model(files.save(tmp_path / "m"), device="cpu")
    with pytest.raises(UnsupportedError, match="The text half in m cannot be loaded"):
        vx.embed_text(model, ["a cat"])


def test_vectors_of_another_width_are_refused(tmp_path):
    files = Files("dinov2")
    files.texts["head.linear_projection.weight"] = files.texts["head.linear_projection.weight"][:100]
    model = vx.load_model(files.save(tmp_path / "m"), device="cpu")
    captured = vx.capture(model, picture(56, 56))
    with pytest.raises(SettingError, match=r"vector has 100 numbers and images of .* have 256"):
        vx.compute("text_scores", captured, texts=["a cat"])


def test_the_tokenizers_package_is_missing(tmp_path, monkeypatch):
    model = vx.load_model(Files("dinov2").save(tmp_path / "m"), device="cpu")
    monkeypatch.setitem(sys.modules, "open_clip", None)
    with pytest.raises(UnsupportedError, match="Sentences need the package open_clip"):
        vx.embed_text(model, ["a cat"])


def test_without_an_encoder_vectors_are_taken(tmp_path):
    files = Files("dinov3")
    model = vx.load_model(files.save(tmp_path / "m", texts=False), device="cpu", size=64)
    captured = vx.capture(model, picture(64, 64), fit="squash")
    with pytest.raises(UnsupportedError, match="reads no texts"):
        vx.embed_text(model, ["a cat"])
    with pytest.raises(UnsupportedError, match=f"Give a vector of {files.joint} numbers instead"):
        vx.compute("text_map", captured, text="a cat")
    vectors = np.stack([text_vector(files, tokens_of(text)) for text in TEXTS]).astype(np.float32)
    vx.save_texts(tmp_path / "texts.safetensors", TEXTS, vectors)
    result = vx.compute("text_scores", captured, texts=vx.load_texts(tmp_path / "texts.safetensors"))
    image = Twin(files, captured.input.tensor[0]).vector
    np.testing.assert_allclose(result.values, vectors @ image.numpy(), atol=1e-5)
