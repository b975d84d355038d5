"""Comparisons of two captures: numbers of each capture's own view, matched by place, class and depth."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

import vitexplorer as vx
from tests.helpers.figure_words import CHINESE, all_words, every_word
from tests.helpers.reference_cka import slow_cka, slow_places
from tests.helpers.reference_places import slow_place
from tests.helpers.small_models import capture_small, load_small, picture
from tests.helpers.thorough import quick
from vitexplorer.capturing.capture import Capture
from vitexplorer.comparisons import reading, refusal
from vitexplorer.comparisons.maps import how_different
from vitexplorer.comparisons.relevance import same_class
from vitexplorer.comparisons.sides import names_of
from vitexplorer.core.format import fine_percent
from vitexplorer.core.settings import ASSETS
from vitexplorer.core.text import SettingError, UnsupportedError
from vitexplorer.figures import render
from vitexplorer.figures.identity import file_stem
from vitexplorer.figures.previews import preview
from vitexplorer.figures.rendering import slide, windows
from vitexplorer.figures.tables import as_csv, as_json
from vitexplorer.quantities.places import matched
from vitexplorer.views.token_pca import shared_token_pca

KEYS = tuple(vx.comparisons())


@cache
def seen(key: str, seed: int = 0) -> Capture:
    return vx.capture(load_small(key), picture(64, 64, seed), fit="squash")


@cache
def scene(model: str, image: str = "scene_gear", weights: str = "auto", size: int | None = None) -> Capture:
    loaded = vx.load_model(f"scenes_{model}", weights=weights)
    return vx.capture(loaded, ASSETS / "examples" / f"{image}.webp", size=size)


VIT, SWIN = "vit_patch16_192", "swin_patch4_window6_192"


# ------------------------------------------------------------------------------------------------ contract


REFUSED = {
    ("vit", "swin_padded"): {"shared_pca"},  # other widths
    ("encoder", "vit"): {"answers", "own_answers", "relevance"},  # without a classifier
    ("swin", "swin"): set(),
    ("dinov2_registers", "beit"): set(),
}
"""Comparisons computed by hand"""


@pytest.mark.parametrize("pair", quick(REFUSED, keep=[("vit", "swin_padded"), ("encoder", "vit")]))
@pytest.mark.parametrize("key", KEYS)
def test_every_comparison_answers_or_says_why_not(key, pair):
    left, right = map(seen, pair)
    assert (refusal(key, left, right) is not None) == (key in REFUSED[pair])
    if key in REFUSED[pair]:
        with pytest.raises(UnsupportedError):
            vx.compare(key, left, right)
        return
    result = vx.compare(key, left, right)
    assert result.view == key
    assert result.provenance.beside == right.provenance
    assert preview(result)
    assert as_csv(result).count("\n") == result.values.size + 1
    assert not {"image", "other_image"} & json.loads(as_json(result)).keys()
    for language in ("en", "zh"):
        assert bool(CHINESE.search(reading(result, language))) == (language == "zh")
        words = " ".join(every_word(render(result, language=language)))
        assert bool(CHINESE.search(words)) == (language == "zh")


def test_random_weights_on_one_side_carry_the_warning():
    trained, random = scene(VIT), scene(VIT, weights="random")
    for left, right in ((trained, random), (random, trained)):
        assert "has learned nothing" in all_words(render(vx.compare("maps", left, right)))
    assert "has learned nothing" not in all_words(render(vx.compare("maps", trained, scene(SWIN))))


def test_a_file_and_its_rows_name_both_sides():
    result = vx.compare("maps", scene(VIT), vx.intervene(scene(VIT), "top_k:k=4"))
    assert "plain_scenes_vit_patch16_192_changed-" in file_stem(result)
    assert "right_changed" in as_csv(result).splitlines()[0]
    assert "Changed run" in all_words(render(result))
    assert [name.en for name in names_of(scene(VIT), scene(VIT))] == ["left", "right"]
    assert names_of(scene(VIT), scene(VIT, size=384))[1].en == "right: 384 × 384 px"


# ------------------------------------------------------------------------------------------------ numbers


@pytest.mark.parametrize(("kind", "view"), [("rollout", "attention_rollout"), ("attention", "attention_map")])
def test_the_difference_is_that_of_the_two_views(kind, view):
    left, right = seen("vit"), vx.intervene(seen("vit"), "temperature:temperature=4")
    more = {"block": 1} if kind == "attention" else {}
    result = vx.compare("maps", left, right, map=kind, attention_block=1, query="cls")
    one, other = (vx.compute(view, capture, query="cls", **more).values for capture in (left, right))
    np.testing.assert_array_equal(result.values, np.stack([one, other]))
    np.testing.assert_array_equal(result.difference, other - one)
    assert np.abs(result.difference).max() > 1e-4


@pytest.mark.parametrize(("one", "other"), [("vit", "swin"), ("swin_padded", "vit")])
def test_maps_of_other_grids_are_read_at_their_places(one, other):
    left, right = seen(one), seen(other)
    block, to = 1, matched(1, left.depth, right.depth)
    result = vx.compare("maps", left, right, map="attention", attention_block=block, query=(1, 2))
    there = slow_place(1, 2, left, block, right, to)
    own = vx.compute("attention_map", right, block=to, query=there).values
    np.testing.assert_array_equal(result.other, own)
    grid = left.grid(block)
    for row in range(grid.rows):
        for col in range(grid.cols):
            assert result.values[1, row, col] == own[slow_place(row, col, left, block, right, to)]
    assert result.difference is None


@torch.no_grad()
def test_a_model_beside_its_lora_differs_by_what_was_learned():
    left = seen("vit")
    tuned = vx.attach(left.model, "lora", num_classes=3, r=2)
    begun = vx.compare("maps", left, vx.capture(tuned, picture(64, 64), fit="squash"))
    np.testing.assert_allclose(begun.difference, 0, atol=1e-6)
    for name, parameter in tuned.module.named_parameters():
        if parameter.requires_grad and "blocks" in name:
            parameter.normal_(generator=torch.Generator().manual_seed(0))
    right = vx.capture(tuned, picture(64, 64), fit="squash")
    learned = vx.compare("maps", left, right)
    own = [vx.compute("attention_rollout", capture).values for capture in (left, right)]
    np.testing.assert_array_equal(learned.difference, own[1] - own[0])
    assert np.abs(learned.difference).max() > 1e-3


def test_two_images_have_no_difference():
    assert vx.compare("maps", seen("vit"), seen("vit", 1)).difference is None


def test_how_different_two_maps_are_by_hand():
    left, right = np.array([[0.1, 0.3, 0.0]]), np.array([[0.2, 0.15, 0.25]])
    # shares of each map: 1/4, 3/4, 0 and 1/3, 1/4, 5/12, which differ by 1/12, -1/2, 5/12
    assert how_different(left, right).en == (
        "Of the attention on patches, 50.0 % lies elsewhere on the right than on the left. The two maps differ most at "
        "the patch in row 0, column 2 (0 % on the left, 25.0 % on the right), and their correlation is −0.982."
    )
    assert how_different(left, left).en == "Both maps are the same."
    swapped = how_different(np.array([[0.2, 0.1]]), np.array([[0.1, 0.2]]))
    assert swapped.zh == (
        "落在图块上的注意力中，有 33.3 % 在左右两侧位置不同。两幅图在并列的 2 个图块差别最大（相差 10.0 %），"
        "两者的相关系数为 −1.00。"
    )
    nothing = how_different(np.zeros((1, 2)), np.array([[0.5, 0.0]])).en
    assert nothing == "The two maps differ most at the patch in row 0, column 0 (0 % on the left, 50.0 % on the right)."


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_difference_is_large_and_each_map_says_its_range(language):
    left, right = seen("vit"), vx.intervene(seen("vit"), "temperature:temperature=4")
    result = vx.compare("maps", left, right)
    figure = render(result, language=language)
    difference, *small = (trace for trace in figure.data if trace.type == "heatmap")
    np.testing.assert_array_equal(difference.z, result.difference)
    for trace, values in zip(small, result.values, strict=True):
        np.testing.assert_array_equal(trace.z, values)
        assert np.ptp(difference.x) > 1.5 * np.ptp(trace.x)
        assert trace.zmax == result.values.max()
        largest = {"en": "up to {}", "zh": "最大 {}"}[language].format(
            fine_percent(values.max()).replace(" %", "\u00a0%")
        )
        assert largest in all_words(figure)
    assert ("right − left" in all_words(figure)) == (language == "en")


def test_a_window_lies_both_maps_under_the_difference():
    left, right = seen("vit"), vx.intervene(seen("vit"), "temperature:temperature=4")
    result = vx.compare("maps", left, right)
    for document in windows(result)[0]:
        maps = [trace for trace in document["data"] if trace["type"] == "heatmap"]
        layers = {trace["meta"]["layer"]: trace for trace in maps if "layer" in trace["meta"]}
        for layer, values in enumerate((result.difference, *result.values)):
            np.testing.assert_array_equal(layers[layer]["z"], values)
            np.testing.assert_array_equal(layers[layer]["x"], layers[0]["x"])
            assert layers[layer]["visible"] == (layer == 0)
        assert [trace["meta"]["mix"] for trace in maps if "mix" in trace["meta"]] == [0, 1]
        assert document["layout"]["meta"]["fade"]["names"] == ["right − left", "left", "right", "Blink"]
    assert len([trace for trace in slide(result)["data"] if trace["type"] == "heatmap"]) == 3


def test_a_click_shows_another_map_large():
    left, right = seen("vit"), vx.intervene(seen("vit"), "temperature:temperature=4")
    chosen = "difference"
    for expected in ("left", "right", "difference"):
        result = vx.compare("maps", left, right, large=chosen)
        large, *small = (trace for trace in render(result).data if trace.type == "heatmap")
        maps = dict(zip(("left", "right"), result.values, strict=True)) | {"difference": result.difference}
        np.testing.assert_array_equal(large.z, maps[chosen])
        assert [trace.meta["settings"]["large"] for trace in small] == ["left", "right"]
        chosen = large.meta["settings"]["large"]
        assert chosen == expected


def test_maps_without_a_difference_say_why():
    of_image = all_words(render(vx.compare("maps", seen("vit"), seen("vit", 1))))
    assert "the two sides saw different images" in of_image
    of_grid = all_words(render(vx.compare("maps", seen("vit"), seen("swin"))))
    assert re.search(r"the left map has \d+ × \d+ patches, the right one \d+ × \d+\.", of_grid)
    assert of_image.count("up to") == of_grid.count("up to") == 2


def test_sides_have_the_names_of_the_menu():
    one, other = names_of(scene(VIT), scene(SWIN))
    assert (one.en, other.zh) == ("left: ViT (drawn scenes)", "右：Swin（合成场景）")


def test_token_similarity_is_that_of_the_definition():
    left, right = seen("vit"), seen("swin")
    result = vx.compare("cka", left, right)
    assert result.values.shape == (left.depth, right.depth)
    a, b = left.depth - 1, 0
    rows, cols = (min(getattr(c.grid(n), side) for c, n in ((left, a), (right, b))) for side in ("rows", "cols"))
    expected = slow_cka(slow_places(left, a, rows, cols), slow_places(right, b, rows, cols))
    assert result.values[a, b] == pytest.approx(expected, abs=1e-9)
    with pytest.raises(UnsupportedError, match="same image on both sides"):
        vx.compare("cka", left, seen("swin", 1))


def test_one_basis_is_that_of_both():
    left, right = seen("vit"), seen("vit", 1)
    result = vx.compare("shared_pca", left, right, block=1)
    one, other = shared_token_pca([left, right], 1)
    np.testing.assert_array_equal(result.values[0], one.values)
    np.testing.assert_array_equal(result.other, other.values)


def test_more_pictures_share_the_basis():
    one, other, third, fourth = (seen("vit", seed) for seed in range(4))
    result = vx.compare("shared_pca", one, other, block=1, images=[third, fourth])
    together = shared_token_pca([one, other, third, fourth], 1)
    np.testing.assert_array_equal(result.values, np.stack([each.values for each in together]))
    rows = as_csv(result, "zh").splitlines()
    assert [len(rows), rows[-1].split(",")[-2]] == [1 + result.values.size, fourth.input.image_hash[:8]]
    document = json.loads(as_json(result))
    assert document["settings"]["images"] == [capture.input.image_hash[:8] for capture in (third, fourth)]
    assert all("image" not in one for one in document["pictures"])
    assert preview(result)
    means = [float(each.values[..., 0].mean()) for each in together]
    assert f"最低的是{result.pictures[int(np.argmin(means))].title.zh}（" in reading(result, "zh")
    assert all(name in all_words(render(result)) for name in ("left", "right", "picture 3", "picture 4"))


def test_pictures_that_cannot_share_it_are_refused():
    one, other = seen("vit"), seen("vit", 1)
    for images, message in (
        ("scene_gear", "give the captures"),
        ([seen("swin")], "captures of one model"),
        ([other] * 5, "4 at most"),
    ):
        with pytest.raises(SettingError, match=message):
            vx.compare("shared_pca", one, other, images=images)


def test_relevance_is_of_the_class_of_that_name():
    left, right = scene(VIT), scene(SWIN)
    names = tuple(reversed(right.model.class_names))
    turned = replace(right, model=replace(right.model, class_names=names))
    target = left.model.class_names.index("fish")
    assert names[same_class(left, turned, target)] == "fish"
    result = vx.compare("relevance", left, right, method="grad_cam", target="fish")
    for capture, values in ((left, result.values[0]), (right, result.other)):
        np.testing.assert_array_equal(values, vx.compute("grad_cam", capture, target="fish").values)
    strange = replace(right, model=replace(right.model, class_names=tuple(f"x{n}" for n in range(len(names)))))
    assert "no class in common" in refusal("relevance", left, strange).en
    some = replace(right, model=replace(right.model, class_names=("gear", *(f"x{n}" for n in range(len(names) - 1)))))
    with pytest.raises(UnsupportedError, match=r"has no class fish: choose a class of both models"):
        vx.compare("relevance", left, some, target="fish")


def test_each_answer_is_explained_by_the_view_of_its_own_model():
    left, right = scene(VIT), scene(SWIN, "scene_flower")
    result = vx.compare("own_answers", left, right)
    for capture, values, name in zip((left, right), (result.values[0], result.other), result.names, strict=True):
        best = int(capture.logits.argmax())
        np.testing.assert_array_equal(values, vx.compute("grad_cam", capture, target=best).values)
        assert capture.model.class_names[best] in name.en
    assert result.names[0].en.endswith("for gear")
    assert result.names[1].en.endswith("for flower")


def test_answers_are_the_probabilities_of_each():
    left, right = scene(VIT), scene(SWIN)
    result = vx.compare("answers", left, right)
    for entry, row in zip(result.entries, result.values, strict=True):
        for capture, share in zip((left, right), row, strict=True):
            exps = np.exp(capture.logits.double().numpy())
            assert share == pytest.approx(exps[capture.model.class_names.index(entry.en)] / exps.sum())
    other = replace(
        right, model=replace(right.model, class_names=tuple(f"x{n}" for n in range(right.model.num_classes)))
    )
    apart = vx.compare("answers", left, other)
    assert np.isnan(apart.values).sum(1).tolist() == [1] * len(apart.values)
    assert "none" in all_words(render(apart))


def test_costs_are_those_of_the_views():
    left, right = capture_small("vit"), capture_small("swin")
    result = vx.compare("costs", left, right)
    for capture, column in zip((left, right), result.values.T, strict=True):
        module = capture.model.module
        assert column[0] == sum(parameter.numel() for parameter in module.parameters())
        assert column[1] == vx.compute("cost", capture).total
        assert column[4] == capture.depth
