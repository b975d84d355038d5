"""A training judged by its first updates: those of a fine-tuning, and those of a caller."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest

from tests.helpers.finetune_folders import class_folder
from tests.helpers.small_models import load_small
from vitexplorer.core.text import SettingError
from vitexplorer.diagnosis import Diagnosis, diagnose
from vitexplorer.finetune.in_process import finetune
from vitexplorer.finetune.job.folder import UPDATES, Update, Updates
from vitexplorer.finetune.results.records import FinetuneResult
from vitexplorer.finetune.training import setup as setups


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Return a function that fine-tunes a small model on three colours, at a learning rate of its own."""
    monkeypatch.setattr(setups, "load_backbone", lambda name, *_, **__: load_small(name))
    colours = class_folder(tmp_path / "colours")

    def train(method: str, learning_rate: float | None = None) -> FinetuneResult:
        options = {"epochs": 4, "batch_size": 4, "augmentation": "none"}
        return finetune(colours, "vit", method, out=tmp_path / method, learning_rate=learning_rate, **options)

    return train


def judged(training: object) -> Diagnosis:
    report = diagnose(load_small("vit"), training=training)
    assert {"rate_too_high", "nothing_trains"} <= {*report.checked}
    return report


def causes(report: Diagnosis) -> set[str]:
    return {finding.cause for finding in report.findings} & {"rate_too_high", "nothing_trains"}


@pytest.mark.parametrize("method", ["linear", "lora", "full"])
def test_a_usual_fine_tuning_is_healthy(trained, method: str) -> None:
    assert causes(judged(trained(method))) == set()


def test_a_rate_that_is_far_too_high_is_named_from_a_result_and_its_folder(trained, tmp_path: Path) -> None:
    result = trained("lora", learning_rate=1.0)
    reports = [judged(training) for training in (result, tmp_path / "lora", str(result.file.parent))]
    assert [causes(report) for report in reports] == [{"rate_too_high"}] * 3
    assert reports[0].findings[-1].evidence["median_share"] > 0.2


@pytest.mark.parametrize(("change", "expected"), [(0.5, set()), (math.nan, {"rate_too_high"})])
def test_a_new_head_may_take_large_steps_but_not_diverge(tmp_path: Path, change: float, expected: set[str]) -> None:
    UPDATES.write(tmp_path, Updates(("head.weight",), (Update(0, {"head.weight": (change, 1.0)}),)))
    assert causes(judged(tmp_path)) == expected


def test_what_begins_at_zero_has_no_share() -> None:
    steps = [{"new": (0.1, 0.0), "old": (0.001, 1.0)}, {"new": (0.1, 0.1), "old": (0.001, 1.0)}]
    assert causes(judged(steps)) == set()
    assert causes(judged([{**step, "frozen": (0.0, 1.0)} for step in steps])) == {"nothing_trains"}


def test_the_proof_has_the_median_share_of_each_parameter() -> None:
    steps = [{"a": (0.1, 1.0), "b": (0.0, 1.0), "c": (1.0, 2.0)}, {"a": (1.0, 1.0), "b": (0.0, 1.0), "c": (8.0, 2.0)}]
    report = judged(steps)
    assert causes(report) == {"rate_too_high", "nothing_trains"}
    for number, finding in enumerate(report.findings):
        if finding.cause in causes(report):
            sizes, usual = finding.proof.values
            assert sizes == pytest.approx([-0.5, math.nan, (math.log10(0.5) + math.log10(4)) / 2], nan_ok=True)
            assert set(usual) == {-3}
            assert report.figure(number, language="zh").layout.width


def test_a_folder_without_a_record_and_one_of_several_trainings_get_a_sentence(trained, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="holds no record"):
        diagnose(load_small("vit"), training=tmp_path)
    run = trained("linear").file.parent
    shutil.copytree(run, run.with_name("other"))
    with pytest.raises(SettingError, match=r"several trainings; .* such as linear/runs/linear"):
        diagnose(load_small("vit"), training=tmp_path / "linear")
    (run / UPDATES.name).unlink()
    assert judged(tmp_path / "linear").healthy is not None
