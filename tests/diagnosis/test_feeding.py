"""Check of how pictures are fed, and of labels, on a few scenes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import vitexplorer as vx
from vitexplorer.diagnosis.examination import Examination
from vitexplorer.diagnosis.feeding import check_feeding
from vitexplorer.diagnosis.labels import check_labels
from vitexplorer.diagnosis.subject import Subject
from vitexplorer.models.preprocess import normalise
from vitexplorer.scenes import draw_scene

SECONDS = 3600


@pytest.fixture(scope="module")
def subject() -> Subject:
    """Return a model with pictures as it wants them, and right labels."""
    scenes = [draw_scene("test", 5000 + number, 192) for number in range(48)]
    fed = torch.cat([normalise(scene.image, (0.5, 0.5, 0.5), (0.25, 0.25, 0.25)) for scene in scenes])
    return Subject(vx.load_model("scenes_vit_patch16_192"), fed, labels=np.array([scene.label for scene in scenes]))


def test_pixels_that_were_not_scaled_are_named(subject: Subject) -> None:
    few = Subject(subject.model, (subject.fed[:16] / 4 + 0.5) * 255, labels=subject.labels[:16])
    exam = Examination(few, SECONDS)
    check_feeding(exam)
    (found,) = exam.findings
    assert found.cause == "not_scaled"
    assert found.after > 0.8 > found.before
    torch.testing.assert_close(found.repaired(few.fed), subject.fed[:16], atol=2e-3, rtol=0)
    assert exam.feed is found.repaired


@pytest.mark.parametrize(
    ("cause", "order"),
    [
        ("labels_permuted", [(5 * label + 3) % 12 for label in range(12)]),
        ("labels_shifted", [label + 1 for label in range(12)]),
        ("labels_sorted_as_text", [sorted(range(12), key=str).index(label) for label in range(12)]),
        ("", list(range(12))),
    ],
)
def test_labels_of_another_order_are_named_and_mended(subject: Subject, cause: str, order: list[int]) -> None:
    exam = Examination(Subject(subject.model, subject.fed, labels=np.array(order)[subject.labels]), SECONDS)
    check_labels(exam)
    assert [finding.cause for finding in exam.findings] == ([cause] if cause else [])
    for finding in exam.findings:
        assert finding.repaired == subject.labels.tolist()
        assert finding.after > 0.8 > 0.3 > finding.before
