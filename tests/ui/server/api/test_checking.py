"""Endpoint of the check-up: its report is that of `vx.diagnose`, and errors are sentences."""

from __future__ import annotations

import json

import gradio as gr
import pytest

import vitexplorer as vx
from tests.helpers.waiting import now
from vitexplorer.core.settings import Settings
from vitexplorer.models.examples import examples
from vitexplorer.service.engine import Engine
from vitexplorer.ui.server.api.checking import MOST, Checking

MODEL = "scenes_vit_patch16_192"


@pytest.fixture(scope="module")
def checking(tmp_path_factory: pytest.TempPathFactory) -> Checking:
    settings = Settings(runs_folder=str(tmp_path_factory.mktemp("runs")), model=MODEL)
    return Checking(settings, Engine(settings))


def test_the_report_is_that_of_diagnose(checking: Checking) -> None:
    images = [key for key, example in examples().items() if example.kind == "scene"][:3]
    report = json.loads(json.dumps(now(checking.diagnose(images=[*images, images[0]]))))
    own = vx.diagnose(MODEL, [examples()[key].path for key in [*images, images[0]]]).record("en")
    assert report.keys() == own.keys()
    assert [found["cause"] for found in report["findings"]] == ["duplicates"]
    assert report["undecided"] == own["undecided"]
    assert (report["healthy"], report["pictures"]) == (False, 4)


def test_weights_alone_and_in_chinese(checking: Checking) -> None:
    report = now(checking.diagnose(images=[], weights="random", language="zh"))
    assert report["findings"][0]["cause"] == "weights_not_loaded"
    assert report["verdict"].startswith("权重")


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"images": ["no_such"]}, "Unknown image 'no_such'"),
        ({"images": ["scene_fish"], "labels": ["fish", "mug"]}, "2 labels were given for 1 picture"),
        ({"images": [], "model": "no_such_model"}, "Unknown model"),
        ({"images": ["scene_fish"] * (MOST + 1)}, "images="),
    ],
)
def test_what_cannot_be_checked_gets_a_sentence(checking: Checking, asked: dict, sentence: str) -> None:
    with pytest.raises(gr.Error) as refused:
        now(checking.diagnose(**asked))
    assert sentence in refused.value.message


def test_labels_are_names_or_numbers(checking: Checking) -> None:
    names = vx.load_model(MODEL).class_names
    images, labels = ["scene_fish", "scene_mug"], ["fish", "mug"]
    by_name = now(checking.diagnose(images=images, labels=labels))
    by_number = now(checking.diagnose(images=images, labels=[str(names.index(label)) for label in labels]))
    assert by_name["checked"] == by_number["checked"]
