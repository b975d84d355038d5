"""Plans: written and read back, named by their differences, refused with a sentence."""

from __future__ import annotations

import math

import pytest

from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.text import SettingError
from vitexplorer.finetune.job.folder import CONFIG
from vitexplorer.finetune.job.plan import Candidate, JobConfig, Plan


def test_a_config_goes_to_its_file_and_back(tmp_path):
    config = JobConfig(
        "pets", "m", (Candidate("lora", {"r": 4}), Candidate("linear")), Plan(epochs=3), target_column="y"
    )
    CONFIG.write(tmp_path, config)
    assert CONFIG.read(tmp_path) == config


def test_runs_are_named_after_what_differs():
    assert Candidate("lora").key == "lora"
    assert Candidate("lora", {"r": 4}, 0.001).key == "lora-r=4-lr=0.001"
    assert "/" not in Candidate("lora", {"r": "../x"}).key


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"epochs": 0}, SettingError),
        ({"epochs": 1.5}, SettingError),
        ({"warmup": 2}, SettingError),
        ({"clip": math.nan}, SettingError),
        ({"augmentation": "crop_flipp"}, UnknownNameError),
    ],
)
def test_a_wrong_plan_is_answered_with_a_sentence(values, error, unchecked):
    with pytest.raises(error):
        Plan(**values)


def test_a_run_asked_for_twice_is_refused():
    with pytest.raises(SettingError, match="lora"):
        JobConfig("pets", "m", (Candidate("lora"), Candidate("lora")))
