"""Titles of runs."""

from __future__ import annotations

import pytest

from vitexplorer.finetune.job.plan import Candidate
from vitexplorer.finetune.run_titles import run_title


@pytest.mark.parametrize(
    ("candidate", "en", "zh"),
    [
        (Candidate("linear"), "Linear probe", "线性探测"),
        (Candidate("lora", {"r": 4}, 1e-9), "LoRA (r=4, lr=1e-09)", "LoRA（低秩适配）（r=4, lr=1e-09）"),
        (Candidate("mlp_k", {"k": 2}), "MLP probe (k=2)", "MLP 探测（k=2）"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.key,
)
def test_a_run_is_called_by_its_method_and_its_settings(candidate: Candidate, en: str, zh: str) -> None:
    assert (run_title(candidate.key).en, run_title(candidate.key).zh) == (en, zh)


def test_a_run_of_no_known_method_keeps_its_name() -> None:
    assert run_title("a-b").en == "a-b"
