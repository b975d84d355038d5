"""Two passes beside each other: each is its view, in one basis where that has a meaning."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import vitexplorer as vx
from tests.helpers.figure_words import all_words
from tests.helpers.readings import BROKEN, HALF_WIDTH, NUMBER, TIGHT
from tests.helpers.reference_network import colours_of_stage
from tests.helpers.reference_places import slow_place
from tests.helpers.small_models import capture_small, load_small, picture
from tests.helpers.thorough import quick
from vitexplorer.capturing.capture import Capture
from vitexplorer.comparisons import reading
from vitexplorer.core.network_result import NetworkPairResult
from vitexplorer.core.settings import ASSETS
from vitexplorer.core.types import Output
from vitexplorer.figures import render
from vitexplorer.figures.rendering import windows
from vitexplorer.figures.sheets import WINDOWS, Sheet
from vitexplorer.figures.tables import as_csv


def changed(capture: Capture, change: str = "temperature:temperature=4") -> Capture:
    return vx.intervene(capture, change)


@pytest.mark.parametrize("key", ["vit", "swin", "dinov2_registers"])
def test_two_runs_of_one_model_have_one_basis(key):
    left = capture_small(key)
    right = changed(left)
    result = vx.compare("network", left, right)
    prefix, rows = len(left.prefix_tokens), range(left.depth + 1)
    streams = [[side.residual(0), *map(side.residual_after, range(side.depth))] for side in (left, right)]
    streams = [[stream[prefix:].double().numpy() for stream in side] for side in streams]
    for shape in {stream.shape for stream in streams[0]}:
        stage = [row for row in rows if streams[0][row].shape == shape]
        together = [side[row] for side in streams for row in stage]
        expected = colours_of_stage(together).reshape(2, len(stage), shape[0], 3)
        np.testing.assert_allclose(result.values[:, stage, : shape[0]], expected, atol=1e-6)
    assert "have one basis" in result.notes[0].en
    assert np.nanmax(np.abs(result.values[0] - result.values[1])) > 0.01


def test_no_answer_is_cut_in_the_window_of_a_laptop():
    left = vx.capture(vx.load_model("scenes_vit_patch16_192"), ASSETS / "examples" / "scene_gear.webp")
    names = tuple(text.en for text in left.model.class_texts)
    documents, _ = windows(vx.compare("network", left, changed(left)))
    notes = documents[WINDOWS.index(Sheet(880, 8, 600))]["layout"]["annotations"]
    right = max(note["x"] for note in notes if note["text"].startswith(names))
    answers = [note["text"] for note in notes if note["x"] == right and note["text"].startswith(names)]
    assert len(answers) == 2 * 5
    assert not [answer for answer in answers if "…" in answer]


def test_another_size_shares_the_basis_and_another_model_does_not():
    model = load_small("vit")
    left, large = (vx.capture(model, picture(64, 64), fit="squash", size=size) for size in (64, 96))
    shared = vx.compare("network", left, large)
    assert [each.grids[0].num_patches for each in shared.passes] == [
        left.grid(0).num_patches,
        large.grid(0).num_patches,
    ]
    assert shared.values.shape[2] == large.grid(0).num_patches
    assert np.isnan(shared.values[0, :, left.grid(0).num_patches :]).all()
    swin = capture_small("swin")
    apart = vx.compare("network", left, swin)
    for capture, each in zip((left, swin), apart.passes, strict=True):
        np.testing.assert_array_equal(each.values, vx.compute("network", capture, query=each.query).values)
    assert "basis of their own" in apart.notes[0].en
    assert (left.depth == swin.depth) == all("share of the depth" not in note.en for note in apart.notes)


@pytest.mark.parametrize(("one", "other"), [("vit", "swin"), ("swin_padded", "vit")])
def test_a_patch_is_followed_at_its_place_on_both_sides(one, other):
    left, right = capture_small(one), capture_small(other)
    result = vx.compare("network", left, right, query=(1, 2), links=3)
    assert result.passes[0].query == (1, 2)
    assert result.passes[1].query == slow_place(1, 2, left, 0, right, 0)
    for capture, each in zip((left, right), result.passes, strict=True):
        own = vx.compute("network", capture, query=each.query, links=3)
        for block in range(capture.depth):
            np.testing.assert_array_equal(each.links[block].weights, own.links[block].weights)


def test_blocks_that_agree_are_those_with_the_same_class():
    left = capture_small("vit")
    right = changed(left, "positions:how=off")
    result = vx.compare("network", left, right)
    for block, agrees in enumerate(result.agree):
        classes = [vx.compute("logit_lens", side, token="own").top[block][0].index for side in (left, right)]
        assert agrees == (classes[0] == classes[1])
    names = tuple(f"x{n}" for n in range(right.model.num_classes))
    named = replace(left, model=replace(left.model, class_names=tuple(f"y{n}" for n in range(len(names)))))
    other = replace(right, model=replace(right.model, class_names=names))
    assert set(vx.compare("network", named, other).agree) == {False}


# ------------------------------------------------------------------------------------------ in words


def verdict_of(result: NetworkPairResult) -> str:
    english, chinese = (reading(result, language) for language in ("en", "zh"))
    assert sorted(re.findall(NUMBER, english)) == sorted(re.findall(NUMBER, chinese))
    assert len(re.findall(r"\. [A-Z]", english)) <= 1, "two sentences at most"
    for pattern in (BROKEN, TIGHT, HALF_WIDTH):
        assert not pattern.search(chinese), chinese
    assert not BROKEN.search(english), english
    return english


def test_the_verdict_counts_the_blocks_that_agree():
    left = capture_small("vit")
    result = vx.compare("network", left, changed(left))
    for agree, words in (
        ((True,), "agree after 1 of 1 readable block."),
        ((False, None, False), "agree after 0 of 2 readable blocks."),
        ((False, True, True), "agree after 2 of 3 readable blocks."),
    ):
        verdict = verdict_of(replace(result, agree=agree))
        assert words in verdict
        assert ("The answer of both is" in verdict) == agree[-1]
        assert "Attention adds" in verdict


PAIRS = {
    ("encoder", "vit"): "The left model has no classifier, so answers cannot be compared",
    ("vit", "encoder"): "The right model has no classifier, so answers cannot be compared",
    ("encoder", "encoder"): "Neither model has a classifier",
    ("vit", "swin_padded"): "read from block",
    ("registers_only", "dinov2_registers"): "agree after",
}


@pytest.mark.parametrize("pair", quick(PAIRS, keep=[("encoder", "vit"), ("vit", "swin_padded")]))
def test_the_verdict_names_what_cannot_be_compared(pair):
    result = vx.compare("network", *map(capture_small, pair))
    assert PAIRS[pair] in verdict_of(result)


def test_one_output_is_a_number_on_each_side():
    left = capture_small("vit")
    result = vx.compare("network", left, changed(left))
    outputs = [
        replace(each, top=(Output(0, each.top[0].name, value),))
        for each, value in zip(result.passes, (0.5, -2.0), strict=True)
    ]
    verdict = verdict_of(replace(result, passes=tuple(outputs), agree=None))
    assert verdict.startswith("On the left, the output")
    assert "0.5" in verdict
    assert "−2" in verdict


# ------------------------------------------------------------------------------------------ drawn


def test_both_passes_are_drawn_under_their_names():
    left, right = capture_small("vit"), capture_small("swin")
    result = vx.compare("network", left, right)
    words = all_words(render(result))
    assert all(name.en in words for name in result.names)
    assert words.count("block 0") == words.count("answer") == 2
    rows = as_csv(result).splitlines()
    assert rows[0].endswith("side,block,patch,channel,whose,value")
    assert rows[-1].split(",")[-2] == result.names[1].en
