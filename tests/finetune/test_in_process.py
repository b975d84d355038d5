"""Whole trainings in this process, started from Python and from the command line."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from tests.helpers.documentation import code_blocks
from tests.helpers.finetune_folders import class_folder, number_folder
from tests.helpers.small_models import load_small
from vitexplorer.capturing.capture import capture
from vitexplorer.cli import build_app
from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError
from vitexplorer.finetune.in_process import finetune
from vitexplorer.finetune.storing import load_tuned
from vitexplorer.finetune.training import setup as setups
from vitexplorer.finetune.training.loop import Run
from vitexplorer.models import loading
from vitexplorer.models.seeding import seeded


@pytest.fixture
def small(monkeypatch):
    """Train a small model in jobs of this process, whatever model they name."""
    monkeypatch.setattr(setups, "load_backbone", lambda name, *_, **__: load_small(name))


@pytest.fixture(scope="module")
def colours(tmp_path_factory) -> Path:
    return class_folder(tmp_path_factory.mktemp("data") / "colours")


def run(colours: Path, out: Path, method: str = "lora", **options):
    options = {"epochs": 2, "batch_size": 8, "augmentation": "none", **options}
    return finetune(colours, "vit", method, out=out, **options)


def test_a_run_learns_and_says_how(small, colours, tmp_path):
    result = run(colours, tmp_path / "run", "linear", epochs=12, listen=(events := []).append)
    assert result.value == 1.0 == result.baseline.value
    assert len(result.epochs) == 12
    assert result.epochs[-1].train_loss < result.epochs[0].train_loss
    assert result.outputs.sum(1) == pytest.approx(1)
    assert result.confusion.trace() == len(result.targets)
    assert result.wrong == ()
    assert result.per_class.classes == ("blue", "green", "red")
    assert result.trainable == result.head == 3 * 49
    assert result.file.stat().st_size == result.file_bytes
    kinds = [event.kind for event in events]
    assert list(dict.fromkeys(kinds)) == [
        "started", "reading", "data", "extracting", "baseline", "estimate", "step", "epoch", "finished",
    ]  # fmt: skip
    estimate = next(event for event in events if event.kind == "estimate")
    assert estimate.values["trainable"] == result.trainable
    assert estimate.values["cache_bytes"] == 4 * 48 * 24
    assert estimate.values["steps"] == 12 * round(len(read_split(tmp_path / "run")["train"]) / 8)


def test_what_is_validated_is_what_the_file_gives(small, colours, tmp_path):
    """Stochastic depth is on while training, and off while measuring."""
    result = run(colours, tmp_path / "run", drop_path=0.9)
    tuned = load_tuned(result.file, load_small("vit"))
    seen = [capture(tuned, colours / path).logits.softmax(0).tolist() for path in result.paths]
    assert result.outputs == pytest.approx(np.array(seen), abs=1e-3)


def read_split(folder: Path) -> dict:
    return json.loads((folder / "split.json").read_text())


def test_the_base_model_stays_as_it_was(small, colours, tmp_path):
    before = {name: tensor.clone() for name, tensor in load_small("vit").module.state_dict().items()}
    run(colours, tmp_path / "run", "full", epochs=1)
    assert all(torch.equal(tensor, before[name]) for name, tensor in load_small("vit").module.state_dict().items())


def test_cached_and_live_training_are_the_same(small, colours, tmp_path, monkeypatch):
    cached = run(colours, tmp_path / "cached", "partial_k", drop_path=0.0)
    monkeypatch.setattr(setups, "settings", lambda: settings().model_copy(update={"feature_cache_megabytes": 0}))
    events: list = []
    live = run(colours, tmp_path / "live", "partial_k", drop_path=0.0, listen=events.append)
    assert next(event for event in events if event.kind == "estimate").values["cache_bytes"] == 0
    assert cached.outputs == pytest.approx(live.outputs, abs=1e-4)


def test_a_batch_in_pieces_gives_the_same_gradient(small, colours, tmp_path):
    whole = run(colours, tmp_path / "whole", drop_path=0.0, class_weights="balanced")
    pieces = run(colours, tmp_path / "pieces", drop_path=0.0, class_weights="balanced", accumulate=3)
    assert pieces.outputs == pytest.approx(whole.outputs, abs=1e-3)


def test_a_run_without_patience_ends_early(small, colours, tmp_path):
    result = run(colours, tmp_path / "run", "linear", epochs=40, patience=2, learning_rate=1e-9)
    best = result.best
    assert len(result.epochs) == best + 3 < 40
    assert not result.stopped


def diverging(monkeypatch, epoch: int) -> None:
    """Make validation outputs NaN from this epoch on, counted from 1."""
    validate, epochs = Run.validate, itertools.count(1)

    def later_nan(self):
        metrics, outputs = validate(self)
        return (metrics, outputs) if next(epochs) < epoch else (dict.fromkeys(metrics, math.nan), outputs * math.nan)

    monkeypatch.setattr(Run, "validate", later_nan)


def test_a_run_that_diverges_says_so(small, colours, tmp_path, monkeypatch):
    diverging(monkeypatch, epoch=1)
    with pytest.raises(ExplainedError, match=r"diverged.*well below 0\.5") as error:
        run(colours, tmp_path / "run", "linear", learning_rate=0.5)
    assert "发散" in error.value.text.zh


def test_a_run_that_diverges_late_ends_with_its_best_epoch(small, colours, tmp_path, monkeypatch):
    diverging(monkeypatch, epoch=3)
    result = run(colours, tmp_path / "run", "linear", epochs=6)
    assert len(result.epochs) == 3
    assert result.best < 2
    assert np.isfinite(result.outputs).all()
    assert math.isfinite(result.value)


@pytest.mark.parametrize("loss", ["mse", "bce"])
def test_numbers_are_learned(small, tmp_path, loss):
    folder = number_folder(tmp_path / "data")
    result = finetune(folder, "vit", "linear", epochs=15, out=tmp_path / "run", batch_size=8, loss=loss, views=2)
    assert result.metric == "rmse"
    assert result.value < result.baseline.constant * 0.7
    assert result.confusion is None
    assert result.residuals == pytest.approx(result.outputs - result.targets)
    if loss == "bce":
        assert 10 <= result.outputs.min() <= result.outputs.max() <= 90


def test_a_convolutional_network_trains_too(colours, tmp_path):
    result = finetune(
        colours, "test_resnet", "partial_k", epochs=1, out=tmp_path / "run", weights="random", batch_size=8
    )
    assert result.model.module is not None
    assert len(result.epochs) == 1


def test_augmentation_is_a_function_of_seed_epoch_and_image(small, colours, tmp_path):
    from vitexplorer.finetune.data import read_folder
    from vitexplorer.finetune.training.pixels import PLAIN, PixelFeed

    facts = replace(load_small("vit").preprocessing, crop_pct=0.9)
    feed = PixelFeed(read_folder(colours), range(4), facts, "crop_flip_colour", seed=1)
    with seeded(5):
        one = feed.image(2, epoch=3)
    assert one.shape == (3, 64, 64)
    assert one.dtype == torch.uint8
    with seeded(6):
        assert torch.equal(feed.image(2, epoch=3), one)
    assert not torch.equal(feed.image(2, epoch=4), one)
    assert torch.equal(feed.image(2, PLAIN), feed.image(2, PLAIN))


def test_the_example_of_the_documentation_runs(monkeypatch, colours, tmp_path):
    (code,) = (code for code in code_blocks("python") if "vx.finetune" in code)
    for module in (setups, loading):
        monkeypatch.setattr(module, "load_backbone", lambda name, *_, **__: load_small("vit"))
    image = next((colours / "red").iterdir())
    replaced = {"pets": colours, "cat.jpg": image, "runs/pets": tmp_path / "one", "runs/both": tmp_path / "two"}
    for name, path in replaced.items():
        code = code.replace(f'"{name}"', repr(str(path)))
    exec(code.replace("epochs=10", "epochs=1"), {})


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_command_line_compares_methods(small, colours, tmp_path, language):
    arguments = ["finetune", colours, "--model", "vit", "--method", "linear:lr=0.02,lora:r=2", "--epochs", 1]
    arguments += ["--out", tmp_path / "job", "--set", "augmentation=none", "--set", "batch-size=8"]
    done = CliRunner().invoke(build_app(language), list(map(str, arguments)), catch_exceptions=False)
    assert done.exit_code == 0
    assert ("24 images: 18 for training, 6 for validation" if language == "en" else "18 幅用于训练") in done.stdout
    board = done.stdout.splitlines()[-4:]
    assert {line.split()[0] for line in board[1:3]} == {"linear-lr=0.02", "lora-r=2"}
    assert board[3] == str(tmp_path / "job")
    again = CliRunner().invoke(build_app(language), list(map(str, arguments)), catch_exceptions=False)
    assert again.stdout.splitlines()[-4:] == board
    assert "loss" not in again.stdout  # nothing was trained again


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "lroa"], "lora"),
        (["--method", "lora:r"], "name=value"),
        (["--set", "epochz=3"], "epochs"),
        (["--set", "patience=-1"], "patience"),
        (["--method", "lora:rank=4"], "r"),
    ],
)
def test_the_command_line_answers_with_a_sentence(small, colours, tmp_path, arguments, message, unchecked):
    line = ["finetune", str(colours), "--model", "vit", "--out", str(tmp_path / "job"), *arguments]
    done = CliRunner().invoke(build_app("en"), line)
    assert done.exit_code == 2, done.output
    assert message in done.stderr
    assert "Traceback" not in done.output
