"""Verdict on comparisons of no, one, two and many methods, on one image and on many."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vitexplorer.finetune.comparison import Comparison
from vitexplorer.finetune.results.records import Epoch, FinetuneResult
from vitexplorer.finetune.verdict import verdict


def result_of(run: str, right: str) -> FinetuneResult:
    """Make the result of a run that is right on the images where the text has a 1."""
    outputs = np.eye(2)[[0 if one == "1" else 1 for one in right]]
    metrics = {"accuracy": right.count("1") / len(right), "loss": 1.0}
    epoch = Epoch(epoch=1, train_loss=1.0, metrics=metrics, learning_rate=1.0, seconds=1)
    return FinetuneResult(
        method=run.split("-")[0],
        settings={},
        epochs=(epoch,),
        best=0,
        seconds=1,
        total=10,
        trainable=1,
        head=1,
        file_bytes=1,
        run=run,
        base=("vit", "random", 0),
        task="classification",
        metric="accuracy",
        classes=("a", "b"),
        paths=tuple(f"{number}.png" for number in range(len(right))),
        targets=np.zeros(len(right), int),
        outputs=outputs,
        file=Path("tuned"),
    )


def english(**runs: str) -> str:
    """Return the English verdict; the Chinese one must have no field left."""
    results = tuple(result_of(run, right) for run, right in runs.items())
    text = verdict(Comparison(Path("job"), results, None))
    assert text is not None
    assert "{" not in text.en + text.zh
    return text.en


GOOD, FAIR, BAD = "1" * 40, "1" * 38 + "00", "1" * 10 + "0" * 30


def test_no_result_has_no_verdict() -> None:
    assert verdict(Comparison(Path("job"), (), None)) is None


@pytest.mark.parametrize(
    ("runs", "sentence"),
    [
        (
            {"lora": "1" * 36 + "0" * 4},
            "LoRA reaches an accuracy of 90.0 % on 40 validation images (95 % interval 76.9 % to 96.0 %).",
        ),
        ({"lora": "1"}, "LoRA reaches an accuracy of 100.0 % on 1 validation image (95 % interval 20.7 % to 100.0 %)."),
        (
            {"lora": GOOD, "linear": FAIR},
            "LoRA and Linear probe cannot be told apart on 40 validation images (95 % interval of the difference "
            "0.0 to 12.5 points).",
        ),
        (
            {"linear": BAD, "lora": GOOD},
            "LoRA is ahead of Linear probe by 75.0 points on 40 validation images (95 % interval 60.0 to 87.5).",
        ),
        (
            {"lora": GOOD, "linear": FAIR, "bitfit": FAIR},
            "LoRA comes first on 40 validation images, but none of the other 2 methods can be told apart from it (the "
            "next one, Linear probe: 95 % interval of the difference 0.0 to 12.5 points).",
        ),
        (
            {"lora": GOOD, "linear": BAD, "bitfit": BAD},
            "LoRA is ahead of each of the 2 other methods on 40 validation images, of the next one, Linear probe, by "
            "75.0 points (95 % interval 60.0 to 87.5).",
        ),
        (
            {"lora": GOOD, "linear": BAD, "bitfit": FAIR},
            "LoRA is ahead of Linear probe on 40 validation images, but cannot be told apart from BitFit (95 % "
            "interval of the difference 0.0 to 12.5 points).",
        ),
        (
            {"lora": GOOD, "bitfit": FAIR, "linear": BAD, "linear-lr=1": BAD, "linear-lr=2": BAD, "linear-lr=3": BAD},
            "LoRA is ahead of Linear probe, Linear probe (lr=1), Linear probe (lr=2) and 1 more on 40 validation "
            "images, but cannot be told apart from BitFit (95 % interval of the difference 0.0 to 12.5 points).",
        ),
    ],
)
def test_the_verdict_names_the_methods_and_the_uncertainty(runs: dict[str, str], sentence: str) -> None:
    assert english(**runs) == sentence
