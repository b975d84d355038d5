"""Saved files describe themselves: file names, and table columns beside the numbers."""

from __future__ import annotations

import io

import pandas as pd
import pytest

import vitexplorer as vx
from tests.helpers.small_models import capture_small
from vitexplorer.core.types import Provenance
from vitexplorer.figures import tables
from vitexplorer.figures.identity import file_stem, run_of
from vitexplorer.ui.rooms.flow.room import rollout_frame


@pytest.fixture(scope="module")
def scene():
    return vx.capture(vx.load_model("scenes_vit_patch16_192"), "assets/examples/scene_fish.webp")


def table(result, language="en") -> pd.DataFrame:
    return pd.read_csv(io.StringIO(tables.as_csv(result, language)), keep_default_na=False)


def test_classes_stand_with_name_and_probability(scene):
    lens = table(vx.compute("logit_lens", scene))
    last = lens[lens["block"] == 5].set_index("class_name")
    assert last["probability"].astype(float).idxmax() == "fish"
    assert last.loc["fish", "class"] == 10
    assert float(last["probability"].sum()) == pytest.approx(1)
    assert set(table(vx.compute("logit_lens", scene), "zh")["class_name"]) >= {"鱼"}
    patches = table(vx.compute("logit_lens", scene, token="patches"))
    assert list(patches["class_name"]) == [scene.model.class_names[index] for index in patches["value"]]
    assert list(table(vx.compute("pooling", scene))["cls_class_name"])[-1] == "fish"


def test_a_map_of_a_class_names_it(scene):
    named = table(vx.compute("generic_relevance", scene))
    assert set(named["target_name"]) == {"fish"}
    assert set(named["target"]) == {10}
    assert float(named["target_probability"][0]) == pytest.approx(float(scene.logits.softmax(0)[10]), rel=1e-6)


def test_a_changed_run_and_the_plain_one_have_different_names(scene):
    changed = vx.intervene(scene, "heads_off:heads=3.1")
    plain, other = (vx.compute("attention_rollout", run) for run in (scene, changed))
    assert file_stem(plain) != file_stem(other)
    assert file_stem(plain).startswith("attention_rollout_scenes_vit_patch16_192_plain_")
    assert "_changed-" in file_stem(other)
    assert set(table(plain)["changed"]) == {""}
    assert set(table(other)["changed"]) == {changed.provenance.changes[0].en}
    answers = table(vx.compute("before_after", changed))
    assert answers["answer_before"][0].startswith("fish ")


def test_the_canvas_calls_a_rollout_a_rollout(scene):
    frame = rollout_frame(scene, "max", 0.1, 0, "en")
    assert frame.saved_as == ["attention_rollout", "scenes_vit_patch16_192", "plain", "max-discard0.1-from0"]
    assert frame.saved_facts["view"] == "attention_rollout"
    assert frame.saved_facts["settings"] == "head_fusion=max; discard_ratio=0.1; start_block=0"


@pytest.mark.parametrize(
    ("weights", "source", "expected"),
    [
        ("bundled", "x", "plain"),
        ("random", "seed 0", "random"),
        ("fine-tuned", "lora, base: bundled", "lora"),
        ("file", "my weights.pth", "my-weights.pth"),
    ],
)
def test_a_run_is_named(weights, source, expected):
    assert run_of(Provenance("m", weights, source)) == expected


def test_of_a_long_table_the_first_row_says_what_it_is_of(monkeypatch):
    monkeypatch.setattr(tables, "REPEATED", 3)
    read = table(vx.compute("attention_map", capture_small("vit")))
    assert list(read["view"][:2]) == ["attention_map", ""]
