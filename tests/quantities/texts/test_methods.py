"""Maps of texts against a slow twin on transformers' own CLIP, and what a method refuses."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import vitexplorer as vx
from tests.helpers import reference_texts
from tests.helpers.reference_texts import Twin
from tests.helpers.small_models import capture_small, load_small, picture
from tests.helpers.small_texts import JOINT, SIDE, save_clip, save_siglip
from vitexplorer.capturing.capture import Capture
from vitexplorer.controls.explained import LikeText
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.quantities.scores import score_of
from vitexplorer.quantities.texts.methods import METHODS

FEATURES = ("raw", "maskclip", "clip_surgery", "gem", "sclip", "clearclip", "naclip")
GRADIENTS = ("bimodal", "legrad", "grad_eclip")
DRAW = np.random.default_rng(5)
VECTORS = DRAW.standard_normal((3, JOINT)).astype(np.float32)
VECTORS /= np.linalg.norm(VECTORS, axis=-1, keepdims=True)
TEXTS = [torch.from_numpy(vector).double() for vector in VECTORS]


@pytest.fixture(scope="module", params=[7, 3], ids=["7 blocks", "3 blocks"])
def both(request, tmp_path_factory) -> tuple[Capture, Twin]:
    folder = tmp_path_factory.mktemp("clip")
    library = save_clip(folder, blocks=request.param, tokenizer=False)
    captured = vx.capture(vx.load_model(folder, device="cpu"), picture(SIDE, SIDE))
    return captured, Twin(library, captured.input.tensor)


def test_every_method_has_its_twin():
    others = {"dino_txt", "class_half", "proxyclip", "siglip_pooling", "text_decomposition"}
    assert {*FEATURES, *GRADIENTS} | others == METHODS.keys()


@pytest.mark.parametrize("method", FEATURES)
def test_features(both, method):
    captured, twin = both
    values = vx.compute("text_map", captured, text=VECTORS[0], method=method).values
    np.testing.assert_allclose(values, reference_texts.feature_map(twin, method, TEXTS[0]), atol=1e-5)


@pytest.mark.parametrize("method", GRADIENTS)
def test_gradients(both, method):
    captured, twin = both
    most = []
    for sign in (1, -1):  # what speaks for a text only, so nothing may be left of one of them
        values = vx.compute("text_map", captured, text=sign * VECTORS[1], method=method).values
        expected = reference_texts.gradient_map(twin, method, sign * TEXTS[1])
        np.testing.assert_allclose(values, expected, atol=1e-4 * expected.max() + 1e-9)
        most.append(expected.max())
    assert max(most) > 0


def test_the_attention_of_a_second_model(both):
    captured, twin = both
    other = vx.capture(load_small("dinov3"), picture(SIDE, SIDE), size=128)
    fine = other.grid(other.depth - 1)
    tokens = other.residual_after(other.depth - 1)[len(other.prefix_tokens) :]
    features = F.layer_norm(
        tokens, tokens.shape[-1:], other.model.module.norm.weight, other.model.module.norm.bias, 1e-5
    )
    result = vx.compute("text_map", captured, text=VECTORS[0], method="proxyclip", other=other)
    assert result.values.shape == (fine.rows, fine.cols) == (8, 8)
    np.testing.assert_allclose(result.values, reference_texts.proxy_map(twin, features, fine.rows, TEXTS[0]), atol=2e-5)


@pytest.mark.parametrize("others", [0, 1, 2])
def test_shares_of_the_class_tokens_answer(both, others):
    captured, twin = both
    values = vx.compute(
        "text_map", captured, text=VECTORS[0], method="text_decomposition", texts=list(VECTORS[1 : 1 + others])
    ).values
    np.testing.assert_allclose(
        values, reference_texts.decomposition_map(twin, TEXTS[0], TEXTS[1 : 1 + others]), atol=1e-5
    )


def test_a_pooling_head_reads_one_patch_alone(tmp_path):
    library = save_siglip(tmp_path)
    captured = vx.capture(vx.load_model(tmp_path, device="cpu"), picture(SIDE, SIDE))
    vision = library.vision_model
    with torch.no_grad():
        tokens = vision(captured.input.tensor).last_hidden_state[0]
        features = torch.stack([vision.head(token[None, None])[0] for token in tokens])
        whole = library.get_image_features(captured.input.tensor).pooler_output[0]
    vector = DRAW.standard_normal(features.shape[-1]).astype(np.float32)
    expected = F.cosine_similarity(features, torch.from_numpy(vector)[None], dim=-1).reshape(4, 4).numpy()
    for method in ("siglip_pooling", "raw"):
        np.testing.assert_allclose(
            vx.compute("text_map", captured, text=vector, method=method).values, expected, atol=1e-5
        )
    score = vx.compute("text_scores", captured, texts=[vector]).values[0]
    assert score == pytest.approx(float(F.cosine_similarity(whole, torch.from_numpy(vector), dim=0)), abs=1e-5)
    for method in ("bimodal", "grad_eclip", "text_decomposition"):
        with pytest.raises(UnsupportedError, match="does not read a class token"):
            vx.compute("text_map", captured, text=vector, method=method)


def test_each_patch_takes_its_best_text(both):
    captured, _ = both
    result = vx.compute("text_segmentation", captured, texts=list(VECTORS), method="maskclip")
    maps = [vx.compute("text_map", captured, text=vector, method="maskclip").values for vector in VECTORS]
    for row, col in np.ndindex(result.values.shape):
        assert result.values[row, col] == max(range(3), key=lambda at: (maps[at][row, col], -at))
    np.testing.assert_allclose(result.scores, maps, atol=1e-6)


def test_shares_of_the_answer_are_compared_with_the_mean_text(both):
    captured, _ = both
    result = vx.compute("text_segmentation", captured, texts=list(VECTORS), method="text_decomposition")
    maps = [
        vx.compute("text_map", captured, text=vector, method="text_decomposition", texts=list(VECTORS)).values
        for vector in VECTORS
    ]
    np.testing.assert_allclose(result.scores, maps, atol=1e-6)
    np.testing.assert_allclose(result.scores.sum(0), 0, atol=1e-6)


def test_a_vector_is_a_text_where_the_model_has_a_joint_space(both):
    captured, _ = both
    result = vx.compute("input_x_gradient", captured, target=VECTORS[0])
    assert isinstance(result.settings["target"], LikeText)
    score = vx.compute("text_scores", captured, texts=[VECTORS[0]]).values[0]
    assert float(score_of(captured, result.settings["target"])) == pytest.approx(score)
    for wrong, message in ((np.zeros(JOINT), "no direction"), (np.ones(48), "has 48 numbers")):
        with pytest.raises(SettingError, match=message):
            vx.compute("input_x_gradient", captured, target=wrong)
    with pytest.raises(SettingError, match="no direction"):
        vx.compute("input_x_gradient", capture_small("vit"), target=np.full(48, np.nan))


def test_clip_surgery_takes_away_what_all_texts_have_in_common(both):
    captured, twin = both
    result = vx.compute("text_segmentation", captured, texts=list(VECTORS), method="clip_surgery")
    path = reference_texts.second_path(twin, "clip_surgery")
    whole = twin.read(twin.streams[-1][0])
    shares = reference_texts.softmax_rows(
        torch.stack([2 * reference_texts.cosine(whole, text) for text in TEXTS])[None]
    )[0]
    weights = (shares / shares.mean()).tolist()
    for patch in range(16):
        feature: Tensor = twin.read(path[1 + patch])
        unit = feature / feature.norm()
        products = [unit * text * weight for text, weight in zip(TEXTS, weights, strict=True)]
        common = sum(products) / 3
        expected = [float((product - common).sum().detach()) for product in products]
        np.testing.assert_allclose(result.scores[:, patch // 4, patch % 4], expected, atol=1e-5)


@pytest.mark.parametrize(
    ("key", "method"),
    [("swin", "maskclip"), ("norm_last", "gem"), ("swin", "legrad"), ("vit", "siglip_pooling"), ("siglip", "bimodal")],
)
def test_a_method_without_a_meaning_is_refused(key, method):
    captured = capture_small(key)
    with pytest.raises(UnsupportedError):
        vx.compute("text_map", captured, text=np.ones(len(captured.joint_embedding)), method=method)


def test_a_second_model_is_asked_for_and_must_see_the_same_picture(both):
    captured, _ = both
    with pytest.raises(UnsupportedError, match="second model"):
        vx.compute("text_map", captured, text=VECTORS[0], method="proxyclip")
    other = vx.capture(load_small("vit"), picture(SIDE, SIDE, seed=3))
    with pytest.raises(SettingError, match="another picture"):
        vx.compute("text_map", captured, text=VECTORS[0], method="proxyclip", other=other)
    with pytest.raises(SettingError, match="second model"):
        vx.compute("text_map", captured, text=VECTORS[0], method="proxyclip", other="dino")


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        (np.zeros(JOINT), "no direction"),
        (np.full(JOINT, np.nan), "no direction"),
        (np.full(JOINT, np.inf), "no direction"),
        (np.ones(JOINT + 1), "has 25 numbers"),
        (np.ones((2, JOINT)), "Texts are sentences or vectors"),
        (7, "Texts are sentences or vectors"),
        ({"a": 1}, "Texts are sentences or vectors"),
        ("", "Texts must not be empty"),
        ("  \n", "Texts must not be empty"),
    ],
    ids=str,
)
def test_what_is_no_text_gets_a_sentence(both, vector, message):
    captured, _ = both
    with pytest.raises(SettingError, match=message):
        vx.compute("text_map", captured, text=vector)


def test_a_sentence_for_a_model_that_reads_none_is_refused_and_a_vector_is_not(both):
    captured, _ = both
    with pytest.raises(UnsupportedError, match="reads no texts"):
        vx.compute("text_map", captured, text="a red gear")
    plain = capture_small("vit")
    assert np.isfinite(vx.compute("text_map", plain, text=np.ones(48)).values).all()
    many = [np.eye(JOINT)[at % JOINT] * (1 + at) for at in range(101)]
    with pytest.raises(SettingError, match="101 texts are too many"):
        vx.compute("text_scores", captured, texts=many)


def test_a_map_is_sharpened_but_not_with_a_second_model(both):
    captured, _ = both
    assert vx.compute("text_map", captured, text=VECTORS[0], sharpen=4).values.shape == (8, 8)
    other = vx.capture(load_small("vit"), picture(SIDE, SIDE))
    with pytest.raises(SettingError, match="second model's capture would stay"):
        vx.compute("text_map", captured, text=VECTORS[0], method="proxyclip", other=other, sharpen=4)


def test_scale_and_length_of_a_vector_do_not_matter(both):
    captured, _ = both
    first, second = (
        vx.compute("text_map", captured, text=factor * VECTORS[0], method="maskclip").values for factor in (1.0, 30.0)
    )
    np.testing.assert_allclose(first, second, atol=1e-6)
    tensor = vx.compute("text_map", captured, text=torch.from_numpy(VECTORS[0]), method="maskclip").values
    np.testing.assert_array_equal(tensor, first)


def test_a_model_may_have_fewer_blocks_than_a_method_asks_for(both):
    captured, _ = both
    notes = vx.compute("text_map", captured, text=VECTORS[0], method="gem").notes
    assert any("has 3 blocks only" in note.en for note in notes) == (captured.depth == 3)


@pytest.mark.parametrize("method", ["dino_txt", "class_half"])
def test_a_clip_has_no_halves(both, method):
    captured, _ = both
    with pytest.raises(UnsupportedError, match="its texts have no half of their own for patches"):
        vx.compute("text_map", captured, text=VECTORS[0], method=method)
