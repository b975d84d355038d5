"""Training piece by piece: what is asked, the order of images, losses, metrics, the cut, the cache, checkpoints."""

from __future__ import annotations

import errno
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
from tests.helpers.thorough import in_turn
from vitexplorer.capturing.capture import capture
from vitexplorer.cli import build_app
from vitexplorer.core.registry import UnknownNameError
from vitexplorer.core.settings import settings
from vitexplorer.core.text import ExplainedError, SettingError, Text
from vitexplorer.finetune.attaching import attach
from vitexplorer.finetune.in_process import finetune
from vitexplorer.finetune.job.events import EVENTS, EventLog, latest, read_events
from vitexplorer.finetune.job.folder import CHECKPOINTS, CONFIG
from vitexplorer.finetune.job.plan import Candidate, JobConfig, Plan
from vitexplorer.finetune.parts.heads import begin_with
from vitexplorer.finetune.results.baseline import Features, fit_baseline
from vitexplorer.finetune.results.bootstrap import paired_bootstrap
from vitexplorer.finetune.results.metrics import confusion, per_class, scores
from vitexplorer.finetune.results.pareto import pareto_front
from vitexplorer.finetune.storing import load_tuned
from vitexplorer.finetune.trained_parts import parameter_groups, train_mode, trainable
from vitexplorer.finetune.training import checkpoint as checkpoints
from vitexplorer.finetune.training import setup as setups
from vitexplorer.finetune.training.checkpoint import TrainingState, load_checkpoint, save_checkpoint
from vitexplorer.finetune.training.cut import Below, Tail
from vitexplorer.finetune.training.cut_search import find_cut
from vitexplorer.finetune.training.loop import Run
from vitexplorer.finetune.training.objective import objective_for
from vitexplorer.finetune.training.order import batches_of, share_of
from vitexplorer.finetune.training.schedule import rate_at
from vitexplorer.models import loading
from vitexplorer.models.seeding import seeded
from vitexplorer.storage.atomic_writes import DiskFullError

# ---------------------------------------------------------------------------------------------- what is asked


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


# ---------------------------------------------------------------------------------------------- order and rate


def test_the_rate_rises_then_falls_as_a_cosine():
    rates = [rate_at(step, 20, 0.1) for step in range(20)]
    assert rates[:3] == [0.5, 1.0, 1.0]  # 2 steps of warm-up; the cosine begins at its top
    assert rates[11] == pytest.approx(0.5)  # half of the 18 steps after them
    assert all(a > b for a, b in itertools.pairwise(rates[2:]))
    assert 0 < rates[-1] < 0.01
    assert rate_at(0, 1, 0.0) == 1


@pytest.mark.parametrize(("images", "size"), [(36, 16), (5, 16), (100, 7), (1, 4)])
def test_an_epoch_shows_every_image_once(images, size):
    batches = batches_of(images, size, seed=3, epoch=1)
    assert sorted(np.concatenate(batches).tolist()) == list(range(images))
    assert max(map(len, batches)) - min(map(len, batches)) <= 1
    again, other = batches_of(images, size, 3, 1), batches_of(images, size, 3, 2)
    assert all((a == b).all() for a, b in zip(batches, again, strict=True))
    assert images < 5 or any((a != b).any() for a, b in zip(batches, other, strict=True))


def test_processes_share_a_batch_without_overlap():
    batch = np.arange(10)
    shares = [share_of(batch, 3, piece) for piece in range(3)]
    assert sorted(np.concatenate(shares).tolist()) == batch.tolist()


# ---------------------------------------------------------------------------------------------- loss and metrics


def test_metrics_of_classes_by_hand():
    probabilities = np.array([[0.8, 0.2, 0.0], [0.6, 0.4, 0.0], [0.1, 0.9, 0.0], [0.7, 0.2, 0.1]])
    targets = np.array([0, 0, 1, 2])
    found = scores("classification", probabilities, targets)
    assert found["accuracy"] == 0.75
    assert found["balanced_accuracy"] == pytest.approx((1 + 1 + 0) / 3)
    assert found["macro_f1"] == pytest.approx((0.8 + 1 + 0) / 3)  # class 0: precision 2/3, recall 1
    table = per_class(probabilities, targets, ("a", "b", "c"))
    assert table.precision.tolist() == pytest.approx([2 / 3, 1, 0])
    assert table.support.tolist() == [2, 1, 1]
    assert confusion(probabilities, targets).tolist() == [[2, 0, 0], [0, 1, 0], [1, 0, 0]]


def test_a_class_that_is_predicted_but_absent_counts_in_the_mean_f1():
    """Classes 0: precision 1, recall 1/2; 1: both 1; 2, of which there is no image: 0."""
    probabilities = np.eye(3)[[0, 2, 1]]
    found = scores("classification", probabilities, np.array([0, 0, 1]))
    assert found["macro_f1"] == pytest.approx((2 / 3 + 1 + 0) / 3)


def test_outputs_that_are_no_numbers_have_no_metrics():
    probabilities = np.array([[np.nan, np.nan], [0.9, 0.1]])
    assert all(map(math.isnan, scores("classification", probabilities, np.array([0, 0])).values()))


def test_metrics_of_numbers_by_hand():
    found = scores("regression", np.array([1.0, 2.0, 6.0]), np.array([1.0, 2.0, 3.0]))
    assert found["rmse"] == pytest.approx(math.sqrt(3))
    assert found["mae"] == 1
    assert found["r2"] == pytest.approx(1 - 9 / 2)


def test_balanced_classes_weigh_the_same_together():
    targets = np.array([0, 0, 0, 1])
    objective = objective_for("classification", 2, targets, Plan(class_weights="balanced"))
    weights = objective.weights(targets)
    assert weights[targets == 0].sum() == pytest.approx(weights[targets == 1].sum())
    assert weights.sum() == pytest.approx(len(targets))


def test_numbers_come_back_from_outputs():
    targets = np.array([10.0, 20.0, 90.0])
    mse, bce = (objective_for("regression", 1, targets, Plan(loss=loss)) for loss in ("mse", "bce"))
    standardised = torch.tensor((targets - targets.mean()) / targets.std())[:, None]
    assert mse.readable(standardised).numpy() == pytest.approx(targets)
    assert float(mse.losses(standardised, torch.tensor(targets)).max()) == pytest.approx(0, abs=1e-9)
    assert bce.readable(torch.tensor([[-99.0], [0.0], [99.0]])).tolist() == pytest.approx([10, 50, 90])
    right, wrong = (float(bce.losses(torch.tensor([[x]]), torch.tensor([50.0]))[0]) for x in (0.0, 3.0))
    assert right < wrong


def test_a_loss_that_does_not_fit_is_refused():
    with pytest.raises(SettingError, match="bce"):
        objective_for("classification", 2, np.array([0, 1]), Plan(loss="bce"))


# ---------------------------------------------------------------------------------------------- comparing


def test_the_bootstrap_agrees_with_its_slow_twin():
    rng = np.random.default_rng(1)
    targets = rng.normal(size=30)
    a, b = targets + rng.normal(size=30) * 0.5, targets + rng.normal(size=30)
    found = paired_bootstrap("regression", targets, ("a", a), ("b", b), draws=50, seed=7)
    draws, differences = np.random.default_rng(7).integers(30, size=(50, 30)), []
    for draw in draws:
        rmse_a = math.sqrt(sum((a[i] - targets[i]) ** 2 for i in draw) / 30)
        rmse_b = math.sqrt(sum((b[i] - targets[i]) ** 2 for i in draw) / 30)
        differences.append(rmse_b - rmse_a)
    assert found.share == np.mean(np.array(differences) > 0)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(differences, [0.025, 0.975])))


def test_the_bootstrap_sees_what_is_clear_and_what_is_not():
    targets = np.arange(40) % 2
    right, wrong = np.eye(2)[targets], np.eye(2)[1 - targets]
    clear = paired_bootstrap("classification", targets, ("a", right), ("b", wrong))
    assert (clear.difference, clear.low, clear.share) == (1, 1, 1)
    assert clear.verdict.en.startswith("a is better than b")
    same = paired_bootstrap("classification", targets, ("a", right), ("b", right))
    assert (same.difference, same.share) == (0, 0.5)
    assert "cannot tell" in same.verdict.en
    back = paired_bootstrap("classification", targets, ("b", wrong), ("a", right))
    assert back.verdict.en.startswith("a is better than b")
    with pytest.raises(SettingError):
        paired_bootstrap("classification", targets, ("a", right), ("b", wrong[:-1]))


def test_the_front_by_hand():
    #                 cheap good, dearer better, dearer worse, same as the first, nothing known
    values, costs = [0.8, 0.9, 0.85, 0.8, math.nan], [1, 2, 3, 1, 0]
    assert pareto_front("accuracy", values, costs).tolist() == [True, True, False, True, False]
    assert pareto_front("rmse", [5, 4, 6], [1, 1, 0]).tolist() == [False, True, True]


# ---------------------------------------------------------------------------------------------- the baseline


def test_the_baseline_separates_what_is_separable():
    rng = np.random.default_rng(0)
    targets = np.arange(60) % 3
    features = (np.eye(8)[targets] * 3 + rng.normal(size=(60, 8))).astype(np.float32)
    train, held = Features(features[:45], targets[:45]), Features(features[45:], targets[45:])
    found, _ = fit_baseline("classification", 4, train, held)  # a fourth class has no images
    assert found.value > 0.8 > found.constant
    assert found.learning_curve.images[-1] == 45
    assert found.learning_curve.values[-1] == found.value
    assert fit_baseline("classification", 4, train, held)[0].metrics == found.metrics
    otherwise = Features(features[45:], (targets[45:] + 1) % 3)
    assert fit_baseline("classification", 3, train, otherwise)[0].value < 0.2  # of the held images it learns nothing


def test_the_baseline_of_numbers_is_ridge_regression():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(80, 5)).astype(np.float32)
    targets = features @ np.array([1.0, -2, 0, 0, 3]) + rng.normal(size=80) * 0.1
    train, held = Features(features[:60], targets[:60]), Features(features[60:], targets[60:])
    found, head = fit_baseline("regression", 0, train, held)
    said = (held.values - head.centre) / head.spread @ head.weight[0] + head.bias
    assert float(np.sqrt(np.mean((said - held.targets) ** 2))) == pytest.approx(found.metrics["rmse"])
    assert found.value < 0.2 < found.constant


@pytest.mark.parametrize("normed", [False, True], ids=["plain", "normed"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_head_begins_as_the_baseline(classes, normed):
    """Its softmax is the regression's own probabilities, also of a class that has no image."""
    rng = np.random.default_rng(0)
    targets = np.arange(60) % classes
    values = (np.eye(48)[targets] * 3 + rng.normal(size=(60, 48)) + 1).astype(np.float32)
    train = Features(values[:45], targets[:45])
    found, head = fit_baseline("classification", classes + 1, train, Features(values[45:], targets[45:]))
    tuned = attach(load_small("vit"), "linear", classes + 1, norm=normed)
    parts = (torch.as_tensor(part, dtype=torch.float32) for part in (head.weight, head.bias, head.centre, head.spread))
    assert begin_with(tuned.module, *parts)
    with torch.no_grad():
        said = tuned.module.get_submodule("head")(torch.as_tensor(values[45:])).softmax(-1)[:, :classes]
    own = scores("classification", said.double().numpy(), targets[45:])
    assert [own[name] for name in ("accuracy", "macro_f1")] == [found.metrics[n] for n in ("accuracy", "macro_f1")]


def test_a_deeper_head_begins_fresh():
    tuned = attach(load_small("vit"), "mlp_k", 3)
    ones = torch.ones(48)
    assert not begin_with(tuned.module, torch.ones(3, 48), torch.ones(3), ones, ones)


# ---------------------------------------------------------------------------------------------- the cut


HEADS = [("linear", {}), ("linear", {"norm": True}), ("mlp_k", {}), ("partial_k", {})]
GEOMETRIES = ["vit", "deit_distilled", "siglip", "hybrid", "beit", "eva02", "dinov3", "swin", "swinv2_padded"]


@pytest.mark.parametrize(("key", "head"), in_turn(GEOMETRIES, HEADS, ["vit", "swin"]))
def test_the_tail_is_the_same_network(key, head):
    method, options = head
    model = load_small(key)
    tuned = attach(model, method, 5, **options)
    images = torch.randn(3, 3, *model.preprocessing.input_size, generator=torch.Generator().manual_seed(0))
    cut = find_cut(tuned, images[:2])
    assert cut is not None
    with torch.no_grad():
        whole = tuned.module(images)
        part = Tail(tuned.module, cut, torch.zeros_like(images[:1]))(Below(tuned.module, cut)(images))
    assert torch.allclose(whole, part, atol=1e-5)
    if method == "partial_k":
        assert cut.name == model.blocks(model.preprocessing.input_size)[-1].name
    else:
        assert cut.is_last or key == "deit_distilled", "features, not tokens, are kept"


@pytest.mark.parametrize("method", ["lora", "bitfit", "vpt_shallow", "full"])
def test_what_learns_from_the_start_has_no_cut(method):
    tuned = attach(load_small("vit"), method, 5)
    assert find_cut(tuned, torch.zeros(2, 3, 64, 64)) is None


def test_the_tail_leaves_no_trace():
    tuned = attach(load_small("swin"), "partial_k", 5)
    images = torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    before = tuned.module(images)
    cut = find_cut(tuned, images)
    Tail(tuned.module, cut, images[:1])(Below(tuned.module, cut)(images))
    assert torch.equal(tuned.module(images), before)
    assert not any(part._forward_pre_hooks or "forward" in vars(part) for part in tuned.module.modules())


# ---------------------------------------------------------------------------------------------- the disk


def _stepped(seed: int):
    """A tuned model and its optimiser after one step on noise."""
    tuned = attach(load_small("vit"), "adaptformer", 5, seed=seed)
    optimiser = torch.optim.AdamW(parameter_groups(tuned))
    train_mode(tuned)
    tuned.module(torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(seed))).square().sum().backward()
    optimiser.step()
    return tuned, optimiser


def test_a_checkpoint_brings_everything_back(tmp_path):
    with seeded(0):
        tuned, optimiser = _stepped(0)
        save_checkpoint(tmp_path, tuned.module, optimiser, TrainingState(step=7))
        drawn = torch.rand(3)
        other, its = _stepped(1)
        assert load_checkpoint(tmp_path / CHECKPOINTS[0], other.module, its) == TrainingState(step=7)
        assert torch.equal(torch.rand(3), drawn)
    for name, parameter in trainable(tuned.module).items():
        assert torch.equal(parameter, trainable(other.module)[name])
    ours, theirs = optimiser.state_dict(), its.state_dict()
    assert ours["param_groups"] == theirs["param_groups"]
    for index, state in ours["state"].items():
        assert all(torch.equal(value, theirs["state"][index][name]) for name, value in state.items())


def test_a_full_disk_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    tuned, optimiser = _stepped(0)
    path = tmp_path / CHECKPOINTS[0]
    save_checkpoint(tmp_path, tuned.module, optimiser, TrainingState(step=1))
    before = path.read_bytes()

    def full(tensors, place, said):
        Path(place).write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(checkpoints, "save_tensors", full)
    with pytest.raises(DiskFullError, match="disk is full"):
        save_checkpoint(tmp_path, tuned.module, optimiser, TrainingState(step=2))
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def a_step(step: int, **values: object) -> dict:
    """What an event of a step holds."""
    return {
        "step": step,
        "steps": 9,
        "epoch": 1,
        "epochs": 1,
        "seconds": 1.0,
        "seconds_left": 0.5,
        "loss": 1.0,
        **values,
    }


def test_events_are_read_on_from_where_the_last_reading_ended(tmp_path):
    log = EventLog(tmp_path)
    log.tell("step", "lora", **a_step(1, loss=math.nan))
    first, place = read_events(tmp_path)
    log.tell("epoch", "lora", **a_step(2, metrics={"accuracy": np.float32(0.5)}, is_best=True))
    second, _ = read_events(tmp_path, place)
    assert [event.values for event in first + second] == [
        a_step(1, loss=None),
        a_step(2, metrics={"accuracy": 0.5}, is_best=True),
    ]


def test_a_torn_line_is_not_read_and_is_cut_away(tmp_path):
    EventLog(tmp_path).tell("step", step=1)
    with open(tmp_path / EVENTS, "ab") as file:
        file.write(b'{"time": 1, "kind": "st')
    assert len(read_events(tmp_path)[0]) == 1
    EventLog(tmp_path).tell("step", step=2)
    assert [event.values["step"] for event in read_events(tmp_path)[0]] == [1, 2]


def test_a_full_disk_still_takes_the_sentence(tmp_path, monkeypatch):
    log = EventLog(tmp_path)
    write, reserve = log._append, tmp_path / ".reserve"

    def append(data):
        if reserve.exists():
            raise DiskFullError(Text("full", "满"))
        write(data)

    monkeypatch.setattr(log, "_append", append)
    log.tell("failed")
    assert [event.kind for event in read_events(tmp_path)[0]] == ["failed"]


def test_a_resumption_takes_back_what_came_after_its_checkpoint(tmp_path):
    log = EventLog(tmp_path)
    for step in (1, 2, 3):
        log.tell("step", "lora", **a_step(step))
    log.tell("step", "other", **a_step(3))
    log.tell("resumed", "lora", step=2)
    kept = [(event.run, event.values["step"]) for event in latest(read_events(tmp_path)[0]) if event.kind == "step"]
    assert kept == [("lora", 1), ("lora", 2), ("other", 3)]


# ---------------------------------------------------------------------------------------------- whole runs


@pytest.fixture
def small(monkeypatch):
    """Jobs of this process train a small model, whatever name they give."""
    monkeypatch.setattr(setups, "load_backbone", lambda name, *_, **__: load_small(name))


@pytest.fixture(scope="module")
def colours(tmp_path_factory) -> Path:
    return class_folder(tmp_path_factory.mktemp("data") / "colours")


def run(colours: Path, out: Path, method: str = "lora", **options):
    options = {"epochs": 2, "batch_size": 8, "augmentation": "none", **options}
    return finetune(colours, "vit", method, out=out, **options)


def test_a_run_learns_and_says_how(small, colours, tmp_path):
    result = run(colours, tmp_path / "run", "linear", epochs=12, listen=(told := []).append)
    assert result.value == 1.0 == result.baseline.value
    assert len(result.epochs) == 12
    assert result.epochs[-1].train_loss < result.epochs[0].train_loss
    assert result.outputs.sum(1) == pytest.approx(1)
    assert result.confusion.trace() == len(result.targets)
    assert result.wrong == ()
    assert result.per_class.classes == ("blue", "green", "red")
    assert result.trainable == result.head == 3 * 49
    assert result.file.stat().st_size == result.file_bytes
    kinds = [event.kind for event in told]
    assert list(dict.fromkeys(kinds)) == [
        "started", "reading", "data", "extracting", "baseline", "estimate", "step", "epoch", "finished",
    ]  # fmt: skip
    estimate = next(event for event in told if event.kind == "estimate")
    assert estimate.values["trainable"] == result.trainable
    assert estimate.values["cache_bytes"] == 4 * 48 * 24
    assert estimate.values["steps"] == 12 * round(len(read_split(tmp_path / "run")["train"]) / 8)


def test_what_is_validated_is_what_the_file_gives(small, colours, tmp_path):
    """Branches are skipped at random while it trains, and not while it is measured."""
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
    """From this epoch on, counted from 1, the outputs on the validation set are NaN."""
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
    assert ("24 images: 18 to learn from, 6 to validate" if language == "en" else "18 张训练") in done.stdout
    board = done.stdout.splitlines()[-4:]
    assert {line.split()[0] for line in board[1:3]} == {"linear-lr=0.02", "lora-r=2"}
    assert board[3] == str(tmp_path / "job")
    again = CliRunner().invoke(build_app(language), list(map(str, arguments)), catch_exceptions=False)
    assert again.stdout.splitlines()[-4:] == board
    assert "loss" not in again.stdout  # nothing was trained again


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--method", "lroa"], "lora"),
        (["--method", "lora:r"], "name=value"),
        (["--set", "epochz=3"], "epochs"),
        (["--set", "patience=-1"], "patience"),
        (["--method", "lora:rank=4"], "r"),
    ],
)
def test_the_command_line_answers_with_a_sentence(small, colours, tmp_path, arguments, said, unchecked):
    line = ["finetune", str(colours), "--model", "vit", "--out", str(tmp_path / "job"), *arguments]
    done = CliRunner().invoke(build_app("en"), line)
    assert done.exit_code == 2, done.output
    assert said in done.stderr
    assert "Traceback" not in done.output
