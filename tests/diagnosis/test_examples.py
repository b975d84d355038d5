"""Examples of the page: each fault is as planted, and named; the healthy one is healthy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import vitexplorer as vx
from vitexplorer.diagnosis import CAUSES, diagnose
from vitexplorer.diagnosis.examples import EXAMPLES, MEAN, MODEL, PICTURES, STD
from vitexplorer.diagnosis.loading import block_tensors


def test_four_faults_of_three_kinds_and_a_healthy_one():
    assert [*EXAMPLES][-1] == "healthy"
    causes = [CAUSES[key] for key in EXAMPLES if key != "healthy"]
    assert len(causes) == 4
    assert {cause.group for cause in causes} == {"pictures", "labels", "weights"}


def test_each_fault_is_as_its_story_says():
    cases = {key: example.make() for key, example in EXAMPLES.items()}
    healthy, plain = cases["healthy"], vx.load_model(MODEL)
    assert {len(case.labels) for case in cases.values()} == {PICTURES}
    assert (plain.preprocessing.mean, plain.preprocessing.std) == ((MEAN,) * 3, (STD,) * 3)
    assert 250 < float(cases["not_scaled"].data.max()) <= 255
    first = torch.from_numpy(healthy.data[0]).float() / 255
    mean, std = (torch.tensor(numbers) for numbers in (plain.preprocessing.mean, plain.preprocessing.std))
    expected = ((first - mean) / std).reshape(3, 192, 192)
    torch.testing.assert_close(cases["axes_swapped"].data[0], expected, atol=1e-5, rtol=0)
    by_name = sorted(plain.class_names)
    believed = [by_name[label] for label in cases["labels_sorted_as_text"].labels]
    assert believed == [plain.class_names[label] for label in healthy.labels]
    tensors, own = block_tensors(cases["half_loaded"].model), block_tensors(plain)
    same = np.mean([torch.equal(tensors[name], own[name]) for name in own])
    assert same == pytest.approx(0.5, abs=0.05)
    assert healthy.model.module.state_dict().keys() == plain.module.state_dict().keys()


@pytest.mark.parametrize("key", EXAMPLES)
def test_the_picture_on_the_page_is_what_the_model_gets(key: str) -> None:
    model, data, labels = EXAMPLES[key].make()
    first = data[0] if torch.is_tensor(data) else torch.from_numpy(data[0]).permute(2, 0, 1) / 255 * 4 - 2
    expected = ((first * 0.25 + 0.5) * 255).clamp(0, 255).permute(1, 2, 0).numpy()
    pixels, label = EXAMPLES[key].first()
    np.testing.assert_allclose(pixels, expected, atol=1)
    assert label.en == model.class_names[labels[0]]


@pytest.mark.thorough
@pytest.mark.parametrize("key", EXAMPLES)
def test_every_example_gets_its_verdict(key: str) -> None:
    report = diagnose(*EXAMPLES[key].make(), seconds=3600)
    if key == "healthy":
        assert report.healthy
    else:
        assert report.findings[0].cause == key
        assert ("colour axis" in report.findings[0].sentence) == (key == "axes_swapped")
        assert report.findings[0].proof is not None
