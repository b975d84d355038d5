"""Room Fine-tune without a browser: places, choices, images, progress, results, what changed."""

from __future__ import annotations

import asyncio
import csv
import io
import math
import os
import re
import threading
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import gradio as gr
import numpy as np
import pytest
import safetensors.torch
import torch

from tests.helpers.app import Steps
from tests.helpers.built_parts import built
from tests.helpers.finetune_folders import class_folder, number_folder
from tests.helpers.small_models import load_small, picture
from tests.helpers.waiting import now
from vitexplorer.capturing.capture import capture
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import ExplainedError, Text, UnsupportedError, same
from vitexplorer.figures import render
from vitexplorer.figures.tables import as_csv
from vitexplorer.finetune import change, outcome
from vitexplorer.finetune.attaching import attach, trained
from vitexplorer.finetune.comparison import Comparison, load_comparison
from vitexplorer.finetune.data import DataError, Pick
from vitexplorer.finetune.exports import merged_checkpoint, model_card, peft_zip
from vitexplorer.finetune.in_process import finetune
from vitexplorer.finetune.job.events import Event
from vitexplorer.finetune.job.folder import CONFIG, read_config
from vitexplorer.finetune.job.plan import Candidate, JobConfig, Plan
from vitexplorer.finetune.job.state import JobState, RunState
from vitexplorer.finetune.methods import METHODS
from vitexplorer.finetune.preview import preview
from vitexplorer.finetune.run_titles import run_title
from vitexplorer.finetune.submission import submission
from vitexplorer.finetune.training import setup as setups
from vitexplorer.models.loading import LoadedModel
from vitexplorer.notebook.run_card import run_card
from vitexplorer.service.amounts import duration, memory, percentage, score
from vitexplorer.service.engine import Engine, Picture
from vitexplorer.service.training_images import Chosen, look, point_at, unpack
from vitexplorer.service.user_storage import MODEL, UNUSED_SECONDS, UserStorage
from vitexplorer.service.visitor_names import training_of, visitor_of
from vitexplorer.storage.claims import JobError
from vitexplorer.ui.kit.language import Translations
from vitexplorer.ui.page import ROOMS
from vitexplorer.ui.panel.figure_panel import Question
from vitexplorer.ui.rooms.finetune.figures import result_figures
from vitexplorer.ui.rooms.finetune.readings import reading
from vitexplorer.ui.rooms.finetune.report import report_data
from vitexplorer.ui.rooms.finetune.results import download_kinds, image_path, results_data
from vitexplorer.ui.rooms.finetune.room import FinetuneRoom
from vitexplorer.ui.rooms.finetune.training import run_part
from vitexplorer.ui.rooms.finetune.training.backbone import Backbone
from vitexplorer.ui.rooms.finetune.training.choice import MethodChoice, TrainingChoice, candidate, job_of
from vitexplorer.ui.rooms.finetune.training.history import history_data
from vitexplorer.ui.rooms.finetune.training.methods import methods_data
from vitexplorer.ui.rooms.finetune.training.progress import line_style, progress_data, thinned
from vitexplorer.ui.rooms.finetune.training.watch import Watch
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import RoomContext

ANNA, BEN = "a" * 32, "b" * 32


@pytest.fixture(scope="module")
def colours(tmp_path_factory) -> Path:
    return class_folder(tmp_path_factory.mktemp("data") / "colours")


@pytest.fixture(scope="module")
def job(tmp_path_factory, colours) -> Comparison:
    """Run a training of two methods on a small model."""
    folder = tmp_path_factory.mktemp("runs") / "colours-job"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setups, "load_backbone", lambda name, *_, **__: load_small(name))
        for method in ("linear", "lora"):
            finetune(colours, "vit", method, epochs=2, out=folder, batch_size=8, augmentation="none")
    return load_comparison(folder)


# ---------------------------------------------------------------------------------------------- places


def a_training(folder: Path, data: Path | str = "somewhere") -> Path:
    folder.mkdir(parents=True)
    CONFIG.write(folder, JobConfig(str(data), "vit", (Candidate("linear"),)))
    return folder


def test_visitors_of_a_hosted_page_do_not_see_each_other(tmp_path):
    places = UserStorage(tmp_path, hosted=True)
    one = places.new_training(ANNA)
    assert len(one.name) == 32
    a_training(one)
    assert [job.folder for job in places.trainings(ANNA)] == [one]
    assert places.trainings(BEN) == ()
    assert places.training(ANNA, one.name) == one
    for visitor in (BEN, "", "../" + ANNA, ANNA.upper()):
        with pytest.raises(JobError):
            places.training(visitor, one.name)
    places.of(BEN).mkdir()
    with pytest.raises(JobError):
        places.training(BEN, f"../{ANNA}/{one.name}")


def test_everybody_at_one_machine_sees_its_trainings(tmp_path):
    places = UserStorage(tmp_path, hosted=False)
    a_training(tmp_path / "pets-lora")
    assert [job.folder.name for job in places.trainings(ANNA)] == ["pets-lora"]
    with pytest.raises(JobError):
        places.training("", "../" + tmp_path.name + "/pets-lora")


def test_images_go_with_the_last_training_that_uses_them(tmp_path):
    places = UserStorage(tmp_path, hosted=False)
    data = places.new_data("", "my pets.v2")
    data.mkdir(parents=True)
    first, second = (a_training(places.new_training(""), data) for _ in range(2))
    places.delete("", first.name)
    assert data.is_dir()
    places.delete("", second.name)
    assert not data.parent.exists()


def test_images_that_nobody_trained_on_go_after_a_day(tmp_path):
    places = UserStorage(tmp_path, hosted=True)
    used, old, new = (places.new_data(visitor, "pets") for visitor in (ANNA, ANNA, BEN))
    for folder in (used, old, new):
        folder.mkdir(parents=True)
    for folder in (used, old):
        os.utime(folder.parent, (time.time() - 2 * UNUSED_SECONDS,) * 2)
    a_training(places.new_training(ANNA), used)
    places.sweep()
    assert (used.is_dir(), old.parent.exists(), new.is_dir()) == (True, False, True)


def test_images_of_a_person_are_never_deleted(tmp_path):
    places = UserStorage(tmp_path / "runs", hosted=False)
    own = tmp_path / "photos"
    own.mkdir()
    places.delete("", a_training(places.new_training(""), own).name)
    assert own.is_dir()


def test_a_tuned_model_is_found_by_its_name_alone(tmp_path):
    places = UserStorage(tmp_path, hosted=True)
    (tmp_path / "up.safetensors").write_bytes(b"numbers")
    saved = places.keep_file(ANNA, tmp_path / "up.safetensors")
    assert saved == places.keep_file(ANNA, tmp_path / "up.safetensors")
    name = places.name_of(saved)
    assert Address.read({"model": name}).model == name
    assert places.file_of(name) == saved
    assert places.file_of(MODEL + "0" * 32) is None
    assert places.file_of("vit_tiny_patch16_224") is None
    assert [one.name for one in places.tuned(ANNA)] == [name]
    assert list(places.tuned(BEN)) == []


@pytest.mark.parametrize("sent", ["", "[]", "{", '{"visitor": 3}', '{"visitor": "../x", "run": 5}', "null"])
def test_a_browser_may_send_anything(sent):
    assert (visitor_of(sent), training_of(sent)) == ("", "")


# ---------------------------------------------------------------------------------------------- choice


def test_what_is_asked_for_becomes_a_job(unchecked):
    model = load_small("vit")
    sent = {
        "methods": [
            {"key": "lora", "settings": {"r": "4", "alpha": "8", "learning_rate": "0.002"}},
            {"key": "linear", "settings": {"learning_rate": "0.01"}},
            {"key": "none_such", "settings": {}},
        ],
        "epochs": "3",
        "seed": "7",
        "augmentation": "none",
        "class_weights": "balanced",
    }
    config = job_of(TrainingChoice.read(sent), Chosen("pets", Text("pets", "pets")), of_vit(model))
    assert [one.key for one in config.candidates] == ["lora-r=4-lr=0.002", "linear"]
    assert config.plan == Plan(epochs=3, seed=7, augmentation="none", class_weights="balanced")


@pytest.mark.parametrize(
    "wrong",
    [
        {"methods": []},
        {"epochs": "many"},
        {"epochs": "1000000"},
        {"seed": "-1"},
        {"augmentation": "magic"},
        {"methods": [{"key": "lora", "settings": {"r": "0"}}]},
        {"methods": [{"key": "lora", "settings": {"rank": "1"}}]},
        {"methods": [{"key": "lora", "settings": {"learning_rate": "fast"}}]},
    ],
)
def test_what_is_not_possible_is_a_sentence(wrong, unchecked):
    sent = {"methods": [{"key": "linear", "settings": {}}], **wrong}
    with pytest.raises(ExplainedError):
        job_of(TrainingChoice.read(sent), Chosen("pets", Text("pets", "pets")), of_vit(load_small("vit")))


def of_vit(model: LoadedModel) -> Backbone:
    return Backbone(model, Picture("", "vit", "trained"), same("vit"))


def test_counts_are_those_of_the_attached_model():
    model = load_small("vit")
    data = methods_data(model, 3, True, "en", TrainingChoice((MethodChoice("lora", {"r": "2"}),)))
    lora = next(item for item in data.items if item.key == "lora")
    tuned = attach(model, "lora", 3, r=2)
    trains = sum(p.numel() for p in tuned.module.parameters() if p.requires_grad)
    assert f"{trains:,} of" in lora.counts
    assert lora.on
    assert not next(item for item in data.items if item.key == "linear").on
    counts = [preview(model, item.key, 3).trainable for item in data.items if not item.refused]
    assert counts == sorted(counts)


def test_a_wrong_setting_is_reported_at_its_method():
    data = methods_data(load_small("vit"), 3, True, "zh", TrainingChoice((MethodChoice("lora", {"r": "x"}),)))
    assert "整数" in next(item for item in data.items if item.key == "lora").refused


def test_a_tuned_model_is_no_backbone():
    data = methods_data(trained(attach(load_small("vit"), "linear", 3)), 3, True, "en")
    assert all(item.refused and not item.on for item in data.items)


def test_only_what_differs_names_a_run():
    assert candidate(MethodChoice("lora", {"r": "8", "alpha": "8.0"}, "0.001")) == Candidate("lora")


# ---------------------------------------------------------------------------------------------- images


def test_a_zip_becomes_a_report(tmp_path, colours):
    with zipfile.ZipFile(tmp_path / "colours.zip", "w") as archive:
        for file in sorted(colours.rglob("*.png")):
            archive.write(file, file.relative_to(colours))
    places = UserStorage(tmp_path / "runs", hosted=False)
    chosen = unpack(places, "", str(tmp_path / "colours.zip"), lambda done, total: None)
    looked = look(chosen)
    data = report_data(chosen, looked, "en")
    assert data.summary.startswith("24 images, 3 classes: ")
    assert [(bar.name, bar.count) for bar in data.bars] == [("blue", 8), ("green", 8), ("red", 8)]
    assert [sample.label for sample in data.samples] == ["blue", "green", "red"]
    assert {result["level"] for result in data.findings} == {"warning"}
    assert data.columns == []


def test_a_zip_without_images_leaves_nothing(tmp_path):
    with zipfile.ZipFile(tmp_path / "notes.zip", "w") as archive:
        archive.writestr("notes.txt", "nothing")
    places = UserStorage(tmp_path / "runs", hosted=False)
    with pytest.raises(DataError):
        unpack(places, "", str(tmp_path / "notes.zip"), lambda done, total: None)
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_table_offers_its_columns(tmp_path):
    folder = number_folder(tmp_path / "numbers")
    chosen = Chosen(str(folder), Text("numbers", "numbers"))
    data = report_data(chosen, look(chosen), "en")
    assert (data.columns, data.image_column, data.target_column) == (["image", "score"], "image", "score")
    assert data.task == "regression"
    assert "(score)" in data.summary
    assert sum(bar.count for bar in data.bars) == 24
    as_classes = Chosen(chosen.folder, chosen.title, Pick("image", "score", "classification"))
    assert look(as_classes).report.dataset.task == "classification"


def test_a_hosted_page_reads_no_folder(tmp_path):
    with pytest.raises(DataError):
        point_at(UserStorage(tmp_path, hosted=True), str(tmp_path))
    with pytest.raises(DataError):
        point_at(UserStorage(tmp_path, hosted=False), str(tmp_path / "none"))


# ---------------------------------------------------------------------------------------------- progress


def training_events() -> list[Event]:
    step = {"step": 2, "steps": 4, "epoch": 1, "epochs": 2, "seconds": 1.0, "seconds_left": 3.0}
    epoch = {**step, "train_loss": 0.8, "metrics": {"accuracy": 0.5, "loss": 1.0}, "is_best": True}
    return [
        Event("data", "", {"task": "classification"}),
        Event("baseline", "", {"metrics": {"accuracy": 0.75}}),
        Event("step", "lora", {**step, "step": 1, "loss": 1.5}),
        Event("step", "lora", {**step, "loss": 0.5}),
        Event("epoch", "lora", epoch),
    ]


def test_the_picture_of_a_training_by_hand():
    config = JobConfig("pets", "vit", (Candidate("lora"), Candidate("linear")), Plan(epochs=2))
    runs = (
        RunState("lora", "lora", "running", 1, 2, 2, 4, 0.5, 1.0, 3.0),
        RunState("linear", "linear", "waiting", steps=4, seconds_left=60.0),
    )
    data = progress_data(JobState(Path("x/abc"), config, "running", runs, 0.0, "step"), training_events(), "en")
    assert (data.run, data.state, data.share, data.baseline) == ("abc", "running", 0.25, 0.75)
    assert data.left == "about 1 min 3 s left"
    lora, linear = data.rows
    assert lora.loss == [(0.5, 1.5), (1.0, 0.5)]
    assert lora.metric == [(1.0, 0.5)]
    assert lora.detail == "epoch 1 of 2 · best accuracy 50.0\u00a0% · about 3 s left"
    assert (linear.loss, linear.label) == ([], "waiting")
    assert (lora.style["light"], linear.style["light"], linear.style["dark"]) == ("#c2410c", "#31688e", "#6aaed6")
    styles = [line_style(method, 0) for method in METHODS]
    assert len({(style["light"], style["dash"]) for style in styles}) == len(METHODS), "no two methods share a line"
    assert line_style("lora", 5) == line_style("lora", 1)
    assert line_style("lora-r=4", 1) != line_style("lora", 1)


def test_a_long_curve_is_thinned_to_its_shape():
    points = [(float(n), math.sin(n / 500)) for n in range(3000)]
    thinned_points = thinned(points, 100)
    assert len(thinned_points) == 100
    assert thinned_points[-1] == points[-1]
    assert max(abs(y - math.sin(x / 500)) for x, y in thinned_points) < 0.01
    assert thinned(points[:50], 100) == points[:50]


def test_the_watch_reads_on(job, tmp_path):
    watch, path = Watch(), tmp_path / "events.jsonl"
    lines = (job.folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]))
    first = watch.look(tmp_path)
    assert len(first.events) == 3
    assert watch.look(tmp_path) == first
    path.write_bytes(b"".join(lines))
    assert watch.look(tmp_path).read == path.stat().st_size
    path.write_bytes(lines[0])
    assert len(watch.look(tmp_path).events) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (duration(0.2, "en"), "1 s"),
        (duration(61, "zh"), "1 分 1 秒"),
        (duration(7260, "en"), "2 h 1 min"),
        (memory(1_234_000), "1.23 MB"),
        (memory(3), "1 kB"),
        (percentage(1.0), "100 %"),
        (percentage(0.00068), "0.068 %"),
        (score("accuracy", 0.5), "50.0 %"),
        (score("rmse", 17.4321), "17.43"),
        (score("accuracy", None), "–"),
    ],
)
def test_amounts_in_words(text, expected):
    assert text == expected


# ---------------------------------------------------------------------------------------------- results


def test_the_leaderboard_and_its_files(job):
    data = results_data(job, "lora", "en")
    assert data.chosen == "lora"
    assert {row.run for row in data.rows} == {"linear", "lora"}
    assert len(data.verdicts) == 1
    assert data.verdict == data.verdicts[0]
    assert data.question == "Which method is best?"
    assert "compared image by image" in data.bars_says
    alone = results_data(replace(job, results=(job["lora"],)), "lora", "en")
    assert alone.question == "How good is it?"
    assert "compared" not in alone.bars_says
    ends = [float(end.removesuffix(" %")) / 100 for end in data.axis]
    for row in data.rows:
        assert 0 <= row.low <= row.at <= row.high <= 1
        assert ends[0] + row.at * (ends[1] - ends[0]) == pytest.approx(job[row.run].value)
    assert len(data.wrong) == len(job["lora"].wrong)
    assert download_kinds(job["lora"]) == ("tuned", "merged", "peft", "card")
    assert download_kinds(job["linear"]) == ("tuned", "merged", "card")
    assert results_data(job, "no such run", "zh").chosen == job.leaderboard[0].run
    assert not data.at_chance
    guessing = replace(job, baseline=replace(job.baseline, constant=1.0))
    assert results_data(guessing, "lora", "en").at_chance
    assert all(image_path(job.folder, job["lora"], n).is_file() for n in range(len(job["lora"].paths)))


def test_a_tuned_model_stands_beside_its_base(job):
    room = a_room(Settings(runs_folder=str(job.folder.parent)))
    part, engine = room.results, room.context.engine
    result = part.show("", job.folder.name, "lora", HERE)[part.results]
    address = Address.read({**result.beside, "image": "scene_flower"})
    assert (address.room, address.model) == ("compare", job["lora"].base[0])
    assert address.picture.weights == ("random" if job["lora"].base[1] == "random" else "trained")
    assert engine.places.file_of(address.other.model) == job["lora"].file
    assert (address.other.image, address.other.weights, address.other.size) == ("scene_flower", "trained", "")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_figure_of_a_training_is_drawn(job, language):
    first = result_figures(job, "lora", Question(), language)
    assert [view.key for view in first.views] == ["pareto", "confusion", "classes", "epochs", "images"]
    for view in first.views:
        data = result_figures(job, "lora", Question(view.key, number=4), language)
        assert (data.refused, data.chosen, data.asked) == ("", view.key, 4)
        assert Path(data.figure.path).stat().st_size > 1000
        assert "load_comparison" in data.python
        assert re.search(r"\d", data.reading), view.key
        assert bool(re.search("[\u4e00-\u9fff]", data.reading)) == (language == "zh")
    confusion = result_figures(job, "lora", Question("confusion", {"run": "linear"}), language)
    assert confusion.controls[0].value == "linear"


def test_figures_hold_the_numbers(job):
    lora = job["lora"]
    assert outcome.confusion_result(lora).values.sum() == len(lora.targets)
    rows = list(csv.reader(as_csv(outcome.confusion_result(lora)).splitlines()))
    assert rows[0][-3:] == ["class", "class_2", "value"]
    assert rows[1][-3:-1] == ["blue", "blue"]
    assert rows[1][0] == "confusion"
    pareto = outcome.pareto_result(job, "trainable")
    assert pareto.costs.tolist() == [one.trainable for one in job.results]
    assert pareto.front.any()
    epochs = outcome.epochs_result(job, "loss")
    assert epochs.values[1, 0] == lora.epochs[0].train_loss
    assert [name.en for name in epochs.curves] == [name.en for name in pareto.trainings] == ["Linear probe", "LoRA"]
    recall = outcome.per_class_result(lora).values[:, 1]
    np.testing.assert_allclose(recall, np.diag(lora.confusion) / lora.confusion.sum(1))


def test_a_run_shows_itself_in_a_notebook(job):
    lora = job["lora"]
    outputs = np.eye(3)[[0, 0, 1, 1, 0, 2]]  # the classes that are answered; the fifth image is misread
    made = replace(
        lora, classes=("a", "<b>", "c"), outputs=outputs, targets=np.array([0, 0, 1, 1, 1, 2]), paths=("x.png",) * 6
    )
    bundle = made._repr_mimebundle_()
    plain, html = bundle["text/plain"], bundle["text/html"]
    assert html == made._repr_html_()
    assert "Method: lora\n" in plain
    assert f"Trained: {lora.trainable:,} (" in plain
    assert f"Accuracy: {100 * lora.value:.1f}\u00a0% on 6 validation images" in plain
    assert f"Baseline: {100 * lora.baseline.value:.1f}\u00a0%" in plain
    assert "Taken for another: <b> for a: 1" in plain
    assert "   1    2    0  <b>" in plain
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    cells = re.findall(r'<td style="[^"]+">(\d+)</td>', html)
    assert list(map(int, cells)) == made.confusion.ravel().tolist() == [2, 0, 0, 1, 2, 0, 0, 0, 1]
    many = replace(made, classes=tuple(f"class {n}" for n in range(30)), outputs=np.eye(30)[[0, 0, 1, 1, 0, 2]])
    assert "<table" not in many._repr_html_()
    assert "“class 1”误判为“class 0”：1" in run_card(many).plain("zh")


def test_figures_of_a_training_are_read_by_hand(job):
    lora = job["lora"]
    confusion = replace(
        outcome.confusion_result(lora), values=np.array([[3, 1, 0], [2, 4, 0], [0, 0, 5]]), classes=("a", "b", "c")
    )
    assert reading(confusion).en == 'Right on the validation images: 12 of 15. Most often "b" is taken for "a": 2.'
    assert reading(replace(confusion, values=np.eye(3, dtype=int))).en == "Right on the validation images: 3 of 3."
    pareto = replace(
        outcome.pareto_result(job, "trainable"),
        values=np.array([0.5, 0.75]),
        costs=np.array([100.0, 2000.0]),
        trainings=(run_title("linear"), run_title("lora")),
        front=np.array([True, True]),
    )
    expected = "LoRA is the best: 75.0 %, trained parameters 2,000. Methods not beaten by any other: 2 of 2."
    assert reading(pareto).en == expected
    alone = replace(
        pareto, values=np.array([0.5]), costs=np.array([1158.0]), trainings=pareto.trainings[:1], front=np.array([True])
    )
    assert reading(alone).en == "Linear probe is the only method so far: 50.0 %, trained parameters 1,158."
    for right in (0, 1, 2):
        some = replace(confusion, values=np.diag([right, 0, 0]))
        assert reading(some).en == f"Right on the validation images: {right} of {right}."
    for best in ([False, False], [True, False], [True, True]):
        assert reading(replace(pareto, front=np.array(best))).en.endswith(f"any other: {sum(best)} of 2.")
    assert reading(replace(pareto, unit=outcome.METRICS["rmse"])).en.startswith("Linear probe is the best: 0.500")
    epochs = replace(
        outcome.epochs_result(job, "metric"), values=np.array([[0.5, np.nan], [0.9, 0.8]]), x=np.array([1, 2])
    )
    assert re.fullmatch(r"\S+ is best at epoch 1: 90.0 %\. It ends at 80.0 %\.", reading(epochs).en)
    classes = replace(
        outcome.per_class_result(lora),
        values=np.array([[1, 1, 0.25], [1, 1, 0.5], [np.nan, np.nan, np.nan]]),
        classes=("a", "b", "c"),
    )
    assert reading(classes).en == 'F1 is lowest for "a", 0.250, and highest for "b", 0.500.'


def test_residuals_are_drawn(job):
    numbers = {"targets": np.array([10.0, 20.0, 30.0]), "outputs": np.array([11.0, 18.0, 30.0])}
    made = outcome.residuals_result(replace(job["linear"], task="regression", metric="rmse", classes=(), **numbers))
    assert made.values.tolist() == [1.0, -2.0, 0.0]
    assert reading(made).en.startswith("The root mean squared error is 1.29, the mean error −0.333, the largest error")
    assert render(made).layout.height > 400


def test_what_is_taken_home(job):
    lora = job["lora"]
    tuned = attach(load_small("vit"), "lora", 3, class_names=lora.classes, seed=0)
    names = set(zipfile.ZipFile(io.BytesIO(peft_zip(tuned))).namelist())
    assert names == {"adapter_model.safetensors", "adapter_config.json"}
    state = safetensors.torch.load(merged_checkpoint(tuned))
    assert state.keys() == set(load_small("vit").module.state_dict())
    card = model_card(lora, read_config(job.folder))
    assert "3 classes: blue, green, red" in card
    assert f"{lora.trainable:,} trained" in card


@pytest.mark.parametrize(("backbone", "fits"), [("vit", True), ("siglip", True), ("beit", False), ("dinov3", False)])
def test_a_merged_file_fits_timm_or_is_refused(backbone, fits):
    """SSF shifts after every layer: projections without biases (DINOv3) and keys without one (BEiT) cannot hold it."""
    tuned = attach(load_small(backbone), "ssf", 3)
    if fits:
        state = safetensors.torch.load(merged_checkpoint(tuned))
        assert state.keys() == attach(load_small(backbone), "linear", 3).module.state_dict().keys()
    else:
        with pytest.raises(UnsupportedError, match=r"does not have \(blocks\.0"):
            merged_checkpoint(tuned)


def test_a_submission_says_what_the_model_says(job, colours):
    from vitexplorer.finetune.storing import load_tuned

    lora = job["lora"]
    tuned = load_tuned(lora.file, load_small("vit"))
    asked = []
    rows = list(csv.DictReader(submission(tuned, lora.file, colours, lambda *n: asked.append(n)).splitlines()))
    assert len(rows) == 24
    assert asked[0] == (0, 24)
    submitted = {row["image"]: row for row in rows}
    for path, shares in zip(lora.paths, lora.outputs, strict=True):
        assert submitted[path]["label"] == lora.classes[shares.argmax()]
        assert float(submitted[path]["probability"]) == pytest.approx(shares.max(), abs=1e-4)


def test_the_history_lists_what_was_trained(job):
    listed = history_data(UserStorage(job.folder.parent, False).trainings(""), "", "en").trainings
    assert [one.run for one in listed] == ["colours-job"]
    assert listed[0].text == "Linear probe, LoRA on colours · vit · finished"


# ---------------------------------------------------------------------------------------------- what changed


def test_the_effective_rank_by_hand():
    assert change.effective_rank(torch.diag(torch.tensor([2.0, 2.0, 0.0]))) == pytest.approx(2.0)
    assert change.effective_rank(torch.outer(torch.arange(3.0), torch.ones(5))) == pytest.approx(1.0)
    assert math.isnan(change.effective_rank(torch.zeros(2, 2)))


def slightly_trained(method: str, **settings):
    tuned = attach(load_small("vit"), method, 3, seed=0, **settings)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in tuned.module.parameters():
            if parameter.requires_grad:
                parameter += 0.05 * torch.randn(parameter.shape, generator=generator)
    return trained(tuned)


def test_the_size_of_a_change_agrees_with_its_slow_twin():
    base, tuned = load_small("vit"), slightly_trained("full")
    result = change.weight_change(base, tuned, "size")
    after = dict(tuned.module.named_parameters())
    for row, kind in enumerate(("attn", "mlp")):
        for block in range(result.values.shape[1]):
            start = f"blocks.{block}.{kind}."
            named = [(n, p) for n, p in base.module.named_parameters() if n.startswith(start)]
            moved = sum(((after[n] - p).double() ** 2).sum().item() for n, p in named)
            whole = sum((p.double() ** 2).sum().item() for _, p in named)
            assert result.values[row, block] == pytest.approx(math.sqrt(moved / whole))


def test_lora_changes_attention_alone_and_by_its_rank():
    base, tuned = load_small("vit"), slightly_trained("lora", r=2)
    sizes = change.weight_change(base, tuned, "size")
    assert (sizes.values[0] > 0).all()
    assert not sizes.values[1:].any()
    ranks = change.weight_change(base, tuned, "rank")
    assert np.nanmax(ranks.values) <= 4.01
    block = int(np.argmax(sizes.values[0]))
    assert reading(sizes).en.startswith(f"Largest in block {block}, attention: ")


def test_an_adapter_leaves_the_weights():
    result = change.weight_change(load_small("vit"), slightly_trained("adapter", bottleneck=4), "size")
    assert not result.values.any()
    ranks = change.weight_change(load_small("vit"), slightly_trained("adapter", bottleneck=4), "rank")
    assert "does not change any weight" in result.notes[0].en
    assert reading(result) == reading(ranks) == result.notes[0]


def test_prompts_and_patches_share_the_attention():
    tuned = slightly_trained("vpt_deep", prompts=3)
    seen = capture(tuned, picture(*tuned.preprocessing.input_size), fit="squash")
    result = change.prompt_attention(seen).values
    assert result.shape == (seen.depth, seen.num_heads(0))
    attention = seen.attention(1)
    np.testing.assert_allclose(result[1], attention[:, 0, 1:4].sum(-1).numpy(), rtol=1e-4)
    with pytest.raises(UnsupportedError):
        change.prompt_attention(capture(load_small("vit"), picture(*tuned.preprocessing.input_size), fit="squash"))


def test_the_token_of_base_and_tuned_model_turns_by_its_cosine():
    models = load_small("vit"), slightly_trained("full")
    before, after = (capture(one, picture(*one.preprocessing.input_size), fit="squash") for one in models)
    result = change.token_change(before, after).values
    assert result.shape == (1, before.depth)
    for block in range(before.depth):
        one, other = (seen.residual_after(block)[0].double() for seen in (before, after))
        lengths = math.sqrt(sum(x * x for x in one)) * math.sqrt(sum(x * x for x in other))
        assert result[0, block] == pytest.approx(float(sum(one * other)) / lengths, abs=1e-6)
    assert result[0, -1] < 0.999
    same = change.token_change(before, before)
    assert same.values == pytest.approx(np.ones(result.shape), abs=1e-6)
    assert reading(same).en.startswith(
        "The cosine between the class token of the base model and that of the tuned model is 1.00 after the first"
    )


# ---------------------------------------------------------------------------------------------- the room


@pytest.fixture
def room(job) -> FinetuneRoom:
    """Return the room on the trainings of `job`, for tests of its events."""
    return a_room(Settings(runs_folder=str(job.folder.parent)))


def a_room(settings: Settings) -> FinetuneRoom:
    return built(FinetuneRoom(RoomContext(Engine(settings), Translations(), gr.State(Address()))))


HERE = Address(image="scene_flower", model="test_vit", weights="random")


def test_images_of_the_open_training_are_chosen_again(room, job, colours):
    asked = ["", job.folder.name, None, HERE, gr.Request()]
    *_, answer = Steps(room.remember_first("finetune", *asked))
    chosen, methods = answer[room.session.chosen], answer[room.runs.picker]
    assert chosen.folder == str(colours)
    assert answer[room.data.report].can_train
    assert methods.ready
    assert [methods.plan[name] for name in ("training", "epochs", "augmentation")] == [job.folder.name, "2", "none"]
    assert answer[room.filled] == HERE
    own = Chosen("elsewhere", Text("x", "x"))
    assert list(Steps(room.remember_first("finetune", "", job.folder.name, own, *asked[3:]))) == []
    assert list(Steps(room.remember_first("attention", *asked))) == []
    assert list(Steps(room.remember("", "no such training", *asked[2:]))) == []
    assert list(Steps(room.remember("", job.folder.name, chosen, *asked[3:]))) == []


def test_a_backbone_of_the_room_comes_back_with_its_training(room, tmp_path):
    folder = room.context.engine.places.new_training("")
    folder.mkdir()
    config = JobConfig(str(tmp_path), "scenes_resnet_96", (Candidate("linear"),))
    CONFIG.write(folder, config)
    assert room.runs.plan("", folder.name)["backbone"] == "scenes_resnet_96"
    room.context.engine.places.delete("", folder.name)
    assert room.runs.plan("", folder.name) == {}


def test_the_list_says_once_when_a_training_has_ended(room, job):
    name = job.folder.name
    runs, ended = room.runs, (name, 99, "finished")
    assert runs.earlier_on("", name, (name, 9, "running"), None, HERE) == gr.skip()
    answer = runs.earlier_on("", name, ended, None, HERE)
    assert [one.run for one in answer[runs.history].trainings] == [name]
    assert answer[runs.listed] == ended
    assert runs.earlier_on("", name, ended, ended, HERE) == gr.skip()


def test_images_that_are_gone_are_no_longer_chosen(room, tmp_path):
    gone = Chosen(str(tmp_path / "gone"), Text("x", "x"))
    answer = now(room.let_go(gone, HERE, gr.Request()))
    assert (answer[room.data.report].title, answer[room.session.chosen]) == ("", None)
    assert not answer[room.runs.picker].ready
    assert now(room.let_go(Chosen(str(tmp_path), Text("x", "x")), HERE, gr.Request())) == gr.skip()


def test_more_methods_on_the_same_images_join_the_open_training(room, job):
    config = read_config(job.folder)
    more = replace(config, candidates=(Candidate("linear"), Candidate("bitfit")))
    assert room.runs._extendable_folder("", job.folder.name, more) == job.folder
    assert room.runs._extendable_folder("", job.folder.name, config) is None
    assert room.runs._extendable_folder("", job.folder.name, replace(more, plan=Plan(epochs=3))) is None
    assert room.runs._extendable_folder("", "", more) is None


def test_a_convolutional_network_is_chosen_in_the_room(room):
    choice = TrainingChoice.read({"methods": [{"key": "linear", "settings": {}}], "backbone": "scenes_resnet_96"})
    data = now(room.runs.methods(None, HERE, choice))
    assert "convolutional network" in data.backbone
    menu = next(field for field in data.fields if field.name == "backbone")
    assert {option.value for option in menu.options} >= {"", "scenes_resnet_96", "resnet18.a1_in1k"}
    possible = {item.key for item in data.items if not item.impossible}
    assert possible == {"linear", "mlp_k", "partial_k", "full", "bitfit", "norm"}
    images = Chosen("pets", Text("pets", "pets"))
    config, _ = now(room.runs._config(choice, images, replace(HERE, weights="trained")))
    assert (config.model, config.weights) == ("scenes_resnet_96", "auto")
    left, _ = now(room.runs._config(TrainingChoice(choice.methods, backbone="no such network"), images, HERE))
    assert (left.model, left.weights) == ("test_vit", "random")


def test_time_and_memory_are_measured_before_training(room, colours):
    sent = {"methods": [{"key": "linear", "settings": {}}, {"key": "lora", "settings": {}}], "augmentation": "none"}
    event = gr.EventData(None, sent)
    steps = Steps(room.runs.estimate(event, Chosen(str(colours), Text("x", "x")), HERE, gr.Request()))
    *working, result = steps
    assert all(step.working for step in working)
    estimates = {item.key: item.estimate for item in result.items if item.estimate}
    assert estimates.keys() == {"linear", "lora"}
    assert all(re.fullmatch(r"about .+, [\d.]+ [MG]B of memory", text) for text in estimates.values())


def test_the_room_is_filled_for_those_who_look_at_it():
    assert FinetuneRoom in ROOMS
    room = a_room(Settings())
    sent = f'{{"visitor": "{ANNA}", "run": ""}}'
    elsewhere = ["attention", Address(image="scene_flower", model="m")]
    assert room.enter(sent, *elsewhere, False, None, "") == {room.session.visitor: ANNA}
    assert now(room.count_here(*elsewhere, None, None, gr.Request())) == gr.skip()


def test_a_count_that_was_overtaken_changes_nothing(room, colours, monkeypatch):
    """The count without images, from entering the room, is slow and ends after the count with images."""
    is_second_done = threading.Event()
    images, outputs = Chosen(str(colours), Text("x", "x")), run_part._outputs

    def slow(chosen):
        assert chosen is not None or is_second_done.wait(60)
        return outputs(chosen)

    monkeypatch.setattr(run_part, "_outputs", slow)
    person = gr.Request(session_hash="person")

    async def count_both():
        first = asyncio.create_task(room.count_here("finetune", HERE, None, None, person))
        await asyncio.sleep(0)
        second = await room.count(images, HERE, person)
        is_second_done.set()
        return await first, second

    first, second = now(count_both())
    assert second[room.runs.picker].ready
    assert first == {room.runs.picker: gr.skip()}


def test_the_first_words_come_once_whatever_was_counted_before(room):
    first = room.enter("{}", "finetune", HERE, False, None, "")
    assert first[room.data.report].words["report_none"].startswith("A zip")
    assert (first[room.session.training], first[room.greeted]) == ("", True)
    assert room.data.report not in room.enter("{}", "finetune", HERE, first[room.greeted], None, "")
