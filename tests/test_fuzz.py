"""A few hundred damaged inputs of every kind: each is read right or refused. `benchmarks.fuzz` tries more."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
import safetensors.torch
import torch
from hypothesis import HealthCheck, Phase, given, settings

from tests.helpers.fuzz_subject import Subject, outcome
from tests.helpers.fuzzed import MODEL, subjects
from tests.helpers.fuzzed_views import ask, asked
from tests.helpers.small_models import load_small
from vitexplorer.finetune import storing
from vitexplorer.finetune.attaching import attach
from vitexplorer.finetune.data import DataError
from vitexplorer.finetune.data.archive import unpack_only
from vitexplorer.finetune.peft import WEIGHTS
from vitexplorer.finetune.storing import save_tuned
from vitexplorer.models.checkpoints import WeightsError
from vitexplorer.models.loading import load_model
from vitexplorer.storage.checked_reading import read_tensors
from vitexplorer.views import VIEWS

CASES = {
    "images": 40, "weights safetensors": 15, "weights pth": 15, "weights header": 25, "tuned": 15, "tuned words": 30,
    "merged words": 4, "peft": 20, "zips": 20, "tables": 25, "run files": 20, "checkpoints": 20, "addresses": 40,
    "events": 40, "calls": 40, "page events": 20,
    "views, one wrong": 60,
}  # fmt: skip


@pytest.fixture(scope="module")
def ways_in(tmp_path_factory) -> Iterator[dict[str, Subject]]:
    with subjects(tmp_path_factory.mktemp("fuzz")) as result:
        yield result


def test_every_way_in_is_tried(ways_in):
    assert ways_in.keys() == {*CASES, "views"}


@pytest.mark.parametrize("name", CASES)
def test_what_is_damaged_is_right_or_a_sentence(ways_in, name):
    assert set(outcomes(ways_in[name], CASES[name])) <= {"right", "sentence"}


# ---------------------------------------------------------------------------------------------- what is asked rightly


def test_views_answer_what_their_controls_offer():
    answered = {
        view: outcomes(Subject(view, asked(view), ask), 1 if VIEWS[view].runs == "many" else 3) for view in VIEWS
    }
    assert {view: outcomes for view, outcomes in answered.items() if set(outcomes) != {"right"}} == {}


def outcomes(subject: Subject, cases: int) -> list[str]:
    """Return the results of several cases, the same ones each time."""
    result = []

    @settings(
        max_examples=cases,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(subject.cases)
    def one(case: Any) -> None:
        result.append(outcome(subject, case))

    one()
    return result


# ---------------------------------------------------------------------------------------------- what it has found


def test_a_file_without_a_name_in_a_zip(ways_in):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("x", b"")
    nameless = packed.getvalue().replace(b"x", b"").replace(b"\x01\x00\x00\x00", b"\x00\x00\x00\x00")
    assert outcome(ways_in["zips"], nameless) == "sentence"


# ---------------------------------------------------------------------------------------------- memory


def test_a_small_file_of_millions_of_classes_takes_no_memory(tmp_path, monkeypatch):
    """Compare a file's claims with its header before a model of that size is made."""
    base, file = load_small("vit"), tmp_path / "tuned.safetensors"
    save_tuned(attach(base, "linear", 3), file)
    tensors, header = read_tensors(file)
    words = json.loads(header["vitexplorer"])
    attached = []

    def seen(model, *given, **named):
        attached.append(model)
        return attach(model, *given, **named)

    monkeypatch.setattr(storing, "attach", seen)
    for classes in (90_000, 5_000_000):
        safetensors.torch.save_file(tensors, file, {"vitexplorer": json.dumps({**words, "num_classes": classes})})
        with pytest.raises(WeightsError):
            storing.load_tuned(file, base)
    assert all(parameter.is_meta for model in attached for parameter in model.module.parameters())
    assert len(attached) == 1


@pytest.mark.parametrize("shape", [(5_000_000, 0), (99_000, 7)])
def test_a_checkpoint_has_no_more_classes_than_its_numbers_are_enough_for(tmp_path, shape):
    file = tmp_path / "w.safetensors"
    safetensors.torch.save_file({"head.weight": torch.zeros(shape, dtype=torch.int8)}, file)
    with pytest.raises(WeightsError, match="declares more numbers"):
        load_model(MODEL, weights=file)


def test_a_lora_in_a_zip_that_would_fill_the_memory_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "lora.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"lora/{WEIGHTS}", bytes(2**24 + 1))
    with pytest.raises(DataError, match="as images and weights never do"):
        unpack_only(tmp_path / "lora.zip", (WEIGHTS,), tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["lora.zip"]
