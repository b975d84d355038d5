"""Text halves of transformers and open_clip: vectors and answers are the library's own."""

from __future__ import annotations

import inspect
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import AutoTokenizer

import vitexplorer as vx
from tests.helpers.small_models import load_small, picture
from tests.helpers.small_texts import (
    CONTEXT,
    SIDE,
    open_clip_tokens,
    save_clip,
    save_open_clip,
    save_siglip,
    save_siglip_2,
)
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.models.texts.text_tower import embed_text

TEXTS = ["a red gear", "the blue cat", "a photo of an object"]


def transformers_answers(library: nn.Module, folder: Path, pixels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    if library.config.model_type == "clip":
        tokens = tokenizer(TEXTS, padding=True, return_tensors="pt")
    else:
        ids = tokenizer(TEXTS, padding="max_length", max_length=CONTEXT, return_tensors="pt")["input_ids"]
        tokens = {"input_ids": ids}
    if library.config.model_type == "siglip2":  # takes patches, each pixel by pixel
        vectors = library.get_text_features(**tokens).pooler_output
        return vectors, torch.zeros(0), torch.zeros(0)
    answers = library(pixel_values=pixels, **tokens)
    logits = answers.logits_per_image[0]
    chances = logits.softmax(0) if library.config.model_type == "clip" else logits.sigmoid()
    return answers.text_embeds, logits, chances


def open_clip_answers(library: nn.Module, folder: Path, pixels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    image, text = (
        F.normalize(part, dim=-1)
        for part in (library.encode_image(pixels), library.encode_text(open_clip_tokens(TEXTS)))
    )
    logits = library.logit_scale.exp() * (image @ text.T)[0]
    if library.logit_bias is not None:
        return text, logits + library.logit_bias, (logits + library.logit_bias).sigmoid()
    return text, logits, logits.softmax(0)


CASES: dict[str, tuple[Callable[[Path], nn.Module], Callable[..., tuple[Tensor, Tensor, Tensor]]]] = {
    "clip": (save_clip, transformers_answers),
    "siglip": (save_siglip, transformers_answers),
    "siglip 2": (save_siglip_2, transformers_answers),
    "open_clip": (save_open_clip, open_clip_answers),
    "open_clip with a sigmoid": (lambda folder: save_open_clip(folder, sigmoid=True), open_clip_answers),
}


@pytest.mark.parametrize("case", CASES)
def test_vectors_and_answers_are_the_librarys_own(tmp_path, case):
    save, answers = CASES[case]
    library = save(tmp_path)
    model = vx.load_model(tmp_path, device="cpu")
    captured = vx.capture(model, picture(SIDE, SIDE))
    with torch.no_grad():
        vectors, logits, chances = answers(library, tmp_path, captured.input.tensor)
    embedded = vx.embed_text(model, TEXTS)
    assert embedded.dtype == np.float32
    np.testing.assert_allclose(embedded, F.normalize(vectors, dim=-1).numpy(), atol=1e-5)
    result = vx.compute("text_scores", captured, texts=TEXTS)
    assert result.texts == tuple(TEXTS)
    if len(logits):
        np.testing.assert_allclose(model.text.logits(result.values), logits.numpy(), atol=1e-4)
        np.testing.assert_allclose(result.answers, chances.numpy(), atol=1e-5)
    assert np.isfinite(vx.compute("text_map", captured, text="a red gear").values).all()
    target = vx.compute("input_x_gradient", captured, target="text: a red gear vs the cat")
    assert target.settings["target"].described.text == "a red gear vs the cat"
    again = pickle.loads(pickle.dumps(model.text))
    np.testing.assert_array_equal(again.embed(TEXTS), embedded)


@pytest.mark.parametrize("save", [save_clip, save_open_clip])
def test_a_zip_of_the_folder_says_the_same(tmp_path, save):
    save(tmp_path / "clip")
    zipped = shutil.make_archive(str(tmp_path / "clip"), "zip", tmp_path / "clip")
    expected, given = (vx.embed_text(vx.load_model(at, device="cpu"), TEXTS) for at in (tmp_path / "clip", zipped))
    np.testing.assert_array_equal(given, expected)


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clip")
    save_clip(folder)
    return vx.load_model(folder, device="cpu")


def test_templates_are_averaged_at_unit_length(clip):
    templates = ["a photo of {}", "the {}"]
    each = [vx.embed_text(clip, [template.replace("{}", "cat")])[0] for template in templates]
    mean = np.mean(each, axis=0)
    np.testing.assert_allclose(
        vx.embed_text(clip, ["cat"], templates=templates)[0], mean / np.linalg.norm(mean), atol=1e-6
    )
    np.testing.assert_array_equal(vx.embed_text(clip, "cat"), vx.embed_text(clip, ["cat"]))
    many = ["cat", "gear"] * 70
    np.testing.assert_allclose(vx.embed_text(clip, many)[-1], vx.embed_text(clip, ["gear"])[0], atol=1e-6)


@pytest.mark.parametrize(
    ("texts", "templates", "message"),
    [
        ([""], None, "Texts must not be empty"),
        ([], None, "Texts must not be empty"),
        ([3], None, "Texts must not be empty"),
        (["cat"], ["no place"], "with {} in place of the text"),
        (["cat"], [5], "with {} in place of the text"),
        (["cat " * 5000], None, f"A text has 5002 tokens, and this model reads {CONTEXT} at most"),
    ],
    ids=str,
)
def test_what_is_no_text_gets_a_sentence(clip, texts, templates, message):
    with pytest.raises(SettingError, match=message):
        inspect.unwrap(embed_text)(clip, texts, templates)  # as users have it, without the type checks of the tests


@pytest.mark.parametrize("text", ["\N{GEAR}️", "\x00\x07", "القط", "<b>cat</b>", "cat; gear"])
def test_odd_letters_are_read(clip, text):
    assert np.isfinite(vx.embed_text(clip, [text])).all()


def test_a_model_without_a_text_half_says_so(tmp_path):
    with pytest.raises(UnsupportedError, match="reads no texts"):
        vx.embed_text(load_small("vit"), ["cat"])
    save_clip(tmp_path, tokenizer=False)
    assert vx.load_model(tmp_path, device="cpu").text is None


def test_a_damaged_tokenizer_gets_a_sentence(tmp_path):
    save_clip(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{", encoding="utf-8")
    model = vx.load_model(tmp_path, device="cpu")
    with pytest.raises(UnsupportedError, match="refuses its weights or its tokenizer"):
        vx.embed_text(model, ["cat"])


def test_one_text_has_no_softmax(clip):
    result = vx.compute("text_scores", vx.capture(clip, picture(SIDE, SIDE)), texts=["a cat"])
    assert np.isnan(result.answers).all()
    assert "softmax over one text" in result.how.en
