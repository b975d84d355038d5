"""Exports of a training: every kind of file loads again by the lines on its card."""

from __future__ import annotations

import csv
import json
import re
import shutil
import zipfile
from pathlib import Path

import gradio as gr
import numpy as np
import pytest
import safetensors.torch
import torch

import vitexplorer as vx
from tests.helpers.app import Steps
from tests.helpers.built_parts import built
from tests.helpers.finetune_folders import class_folder, pawpularity_folder
from tests.helpers.waiting import now
from vitexplorer.core.settings import Settings
from vitexplorer.core.text import ExplainedError, UnsupportedError
from vitexplorer.core.types import Provenance
from vitexplorer.finetune.comparison import Comparison
from vitexplorer.finetune.exports import merged_checkpoint
from vitexplorer.finetune.in_process import run_job
from vitexplorer.finetune.job.folder import read_config
from vitexplorer.finetune.job.plan import Candidate, JobConfig, Plan
from vitexplorer.finetune.submission import Naming, naming_of
from vitexplorer.models.checkpoints import WeightsError
from vitexplorer.models.loading import LoadedModel
from vitexplorer.service.engine import Engine, Picture
from vitexplorer.service.training_images import look, unpack
from vitexplorer.service.uploaded_models import Opened, Sent, choose, keep_sent
from vitexplorer.service.user_storage import UserStorage
from vitexplorer.ui.kit.language import Translations
from vitexplorer.ui.panel.figure_panel import Question
from vitexplorer.ui.rooms.finetune.figures import result_figures
from vitexplorer.ui.rooms.finetune.report import report_data
from vitexplorer.ui.rooms.finetune.result_part import ResultPart, download_file, table_file
from vitexplorer.ui.rooms.finetune.results import ResultsData, download_kinds, results_data
from vitexplorer.ui.rooms.finetune.session import Session
from vitexplorer.ui.shell.address import Address
from vitexplorer.ui.shell.room_context import RoomContext

MODEL = "test_vit"


def trained(data: Path, out: Path, *methods: str, model: str = MODEL) -> Comparison:
    candidates = tuple(Candidate(method) for method in methods)
    plan = Plan(epochs=1, batch_size=8, augmentation="none")
    return run_job(JobConfig(str(data), model, candidates, plan, weights="random"), out)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def colours(tmp_path_factory, runs) -> Comparison:
    data = class_folder(tmp_path_factory.mktemp("data") / "colours", per_class=5)
    return trained(data, runs / "colours", "lora", "adapter")


@pytest.fixture(scope="module")
def engine(runs) -> Engine:
    return Engine(Settings(runs_folder=str(runs)))


def opened(engine: Engine, picture: Picture, *paths: Path) -> Opened:
    return now(keep_sent(engine, "", Sent(paths), picture, Settings()))


def logits(module: torch.nn.Module) -> torch.Tensor:
    images = torch.randn(2, 3, 160, 160, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        return module.eval()(images)


def test_every_file_is_loaded_by_the_lines_of_the_card(colours, tmp_path, monkeypatch):
    pytest.importorskip("peft")
    lora, config = colours["lora"], read_config(colours.folder)
    card = ""
    for what in download_kinds(lora):
        file = download_file(lora, what, config)
        copied = Path(shutil.copy(file.path, tmp_path / file.name))
        card = copied.read_text() if what == "card" else card
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "colours-lora-merged.safetensors",
        "colours-lora-peft.zip",
        "colours-lora.md",
        "colours-lora.safetensors",
    ]
    zipfile.ZipFile(tmp_path / "colours-lora-peft.zip").extractall(tmp_path / "colours-lora-peft")
    monkeypatch.chdir(tmp_path)
    blocks, links = re.findall(r"```python\n(.*?)```", card, re.S), []
    for lines in blocks:
        names: dict = {}
        exec(lines, names)
        links.append(names["module"] if "module" in names else names["model"].module)
    assert len(links) == 4
    assert "RGB, 160 x 160 pixels" in card
    assert "`test_vit` (random, seed 0)" in card
    for module in links:
        torch.testing.assert_close(logits(module), logits(lora.model.module), rtol=1e-4, atol=1e-5)


def test_what_does_not_merge_is_not_offered(colours):
    assert download_kinds(colours["adapter"]) == ("tuned", "card")
    card = Path(download_file(colours["adapter"], "card", read_config(colours.folder)).path).read_text()
    assert "timm.create_model" not in card


def test_a_tuned_model_is_loaded_by_the_lines_beside_a_figure(colours, engine, runs, tmp_path):
    context = RoomContext(engine, Translations(), gr.State(Address()))
    name = engine.places.name_of(colours["lora"].file)
    lines = context.python_lines(Address(image="scene_flower", model=name), "parameters")
    assert f'vx.load_tuned("{colours["lora"].file.as_posix()}")' in lines
    assert engine.places.title_of(name) == "lora · colours · test_vit"
    assert engine.places.title_of("vit_tiny_patch16_224") == "vit_tiny_patch16_224"
    hosted = UserStorage(runs, hosted=True)
    assert hosted.path_of(colours["lora"].file) == "colours-lora.safetensors"


def test_classes_of_the_base_are_not_those_of_the_tuned_model(tmp_path):
    base = vx.load_model("scenes_vit_patch16_192")
    tuned = vx.attach(base, "linear", 3, class_names=("a", "b", "c"))
    assert [text.zh for text in tuned.class_texts] == ["a", "b", "c"]
    assert base.notes
    assert tuned.notes == (), "what was measured of the base"
    assert vx.attach(base, "linear").class_texts == base.class_texts


def test_a_number_is_no_class():
    tuned = vx.attach(vx.load_model(MODEL, weights="random"), "linear", 1, class_names=("score",))
    seen = vx.capture(tuned, np.zeros((160, 160, 3), np.uint8))
    with pytest.raises(UnsupportedError, match="predicts a number"):
        vx.compute("logit_lens", seen)
    readings = vx.compute("pooling", seen).readings
    assert [one.unit.en for read in readings for one in read.top] == ["output", "output"]


# ---------------------------------------------------------------------------------------------- merged, loaded again


@pytest.fixture(scope="module")
def merged(tmp_path_factory) -> tuple[LoadedModel, Path]:
    """Return a tuned model and its merged checkpoint."""
    tuned = vx.attach(vx.load_model(MODEL, weights="random"), "lora", 3, class_names=("a", "b", "c"))
    file = tmp_path_factory.mktemp("sent") / "abc-merged.safetensors"
    file.write_bytes(merged_checkpoint(tuned))
    return tuned, file


def test_a_merged_checkpoint_comes_back_with_its_classes_and_origin(merged):
    tuned, file = merged
    loaded = vx.load_model(MODEL, weights=file)
    assert (loaded.class_names, loaded.class_names_zh) == (("a", "b", "c"), ())
    assert loaded.provenance == Provenance(MODEL, "fine-tuned", "lora, test_vit: random, seed 0")
    torch.testing.assert_close(logits(loaded.module), logits(tuned.module), rtol=1e-4, atol=1e-5)


def test_the_page_loads_a_merged_checkpoint(merged, engine):
    _, file = merged
    name = opened(engine, Picture("", "scenes_vit_patch16_192"), file).model
    assert now(engine.model(name)).class_names == ("a", "b", "c")
    assert engine.base_of(Picture("", name)) == Picture("", MODEL, "random")
    context = RoomContext(engine, Translations(), gr.State(Address()))
    assert f'vx.load_model("{MODEL}", weights="' in context.python_lines(Address(model=name), "parameters")


def test_a_checkpoint_that_says_nothing_may_be_of_the_model_on_the_screen(merged, engine, tmp_path):
    tuned, file = merged
    plain = tmp_path / "plain.safetensors"
    safetensors.torch.save_file(safetensors.torch.load_file(file), plain)
    screen = Picture("", MODEL, "random")
    now(engine.model(MODEL, "random"))
    answer = opened(engine, screen, plain)
    assert list(answer.several) == ["", MODEL]
    assert "fits the model on the screen" in answer.why.en.replace("also ", "")
    name = choose(engine, "", answer.model, MODEL).model
    assert engine.places.file_of(answer.model) is None, "it is kept as what was chosen"
    model = now(engine.model(name))
    assert (model.name, model.class_names, model.provenance.weights) == (MODEL, (), "file")
    torch.testing.assert_close(logits(model.module), logits(tuned.module), rtol=1e-4, atol=1e-5)
    alone = opened(engine, Picture("", "scenes_vit_patch16_192"), plain)
    assert alone.several == {}
    with pytest.raises(WeightsError, match="does not fit"):
        choose(engine, "", alone.model, "scenes_vit_patch16_192")


def test_a_checkpoint_with_its_configuration_is_not_asked_about(merged, engine, tmp_path):
    _, file = merged
    now(engine.model(MODEL, "random"))
    weights, config = tmp_path / "model.safetensors", tmp_path / "config.json"
    safetensors.torch.save_file(safetensors.torch.load_file(file), weights)
    prepared = {"mean": [0.4, 0.5, 0.6], "std": [0.2, 0.2, 0.2]}
    config.write_text(json.dumps({"architecture": MODEL, "label_names": ["a", "b", "c"], "pretrained_cfg": prepared}))
    answer = opened(engine, Picture("", MODEL, "random"), weights, config)
    assert answer.several == {}
    model = now(engine.model(answer.model))
    assert (model.class_names, model.preprocessing.mean) == (("a", "b", "c"), (0.4, 0.5, 0.6))


def test_the_two_kinds_of_files_name_each_others_loader(merged, colours):
    with pytest.raises(WeightsError, match="load_model"):
        vx.load_tuned(merged[1])
    with pytest.raises(WeightsError, match="load_tuned"):
        vx.load_model(MODEL, weights=colours["lora"].file)


# ---------------------------------------------------------------------------------------------- peft, sent to the page


def sent_zip(colours: Comparison, folder: Path) -> Path:
    file = download_file(colours["lora"], "peft", read_config(colours.folder))
    return Path(shutil.copy(file.path, folder / "colours.zip"))


@pytest.mark.parametrize("packed", [True, False], ids=["a zip", "two files"])
def test_a_lora_of_peft_is_loaded_like_a_tuned_file(colours, engine, tmp_path, packed):
    paths = [sent_zip(colours, tmp_path)]
    if not packed:
        zipfile.ZipFile(paths[0]).extractall(tmp_path)
        paths = sorted(tmp_path.glob("adapter_*"))
    name = opened(engine, Picture("", MODEL, "random"), *paths).model
    tuned = now(engine.model(name))
    torch.testing.assert_close(logits(tuned.module), logits(colours["lora"].model.module), rtol=1e-4, atol=1e-5)
    assert engine.places.title_of(name) == ("colours.safetensors" if packed else "peft.safetensors")


def test_a_tuned_model_at_the_left_stands_for_its_base(colours, engine, tmp_path):
    left = Picture("", engine.places.name_of(colours["adapter"].file))
    assert engine.base_of(left) == Picture("", MODEL, "random")
    assert opened(engine, left, sent_zip(colours, tmp_path)).model.startswith("tuned.")


@pytest.mark.parametrize("wrong", ["no zip", "alone", "rank", "shapes", "another model"])
def test_what_is_no_lora_of_peft_is_a_sentence(colours, engine, tmp_path, wrong):
    file, left = sent_zip(colours, tmp_path), Picture("", MODEL, "random")
    zipfile.ZipFile(file).extractall(tmp_path)
    config, weights = tmp_path / "adapter_config.json", tmp_path / "adapter_model.safetensors"
    sent = [config, weights]
    if wrong == "no zip":
        file.write_bytes(b"nothing")
        sent = [file]
    elif wrong == "alone":
        sent = [weights]
    elif wrong == "rank":
        config.write_text(json.dumps({**json.loads(config.read_text()), "r": "many"}))
    elif wrong == "shapes":
        from safetensors.torch import load_file, save_file

        save_file({name: tensor.flatten()[:3].clone() for name, tensor in load_file(weights).items()}, weights)
    else:
        left = Picture("", "scenes_vit_patch16_192", "random")
    with pytest.raises(ExplainedError) as raised:
        opened(engine, left, *sent)
    assert isinstance(raised.value, (WeightsError, UnsupportedError))


# ---------------------------------------------------------------------------------------------- tables


def test_an_image_is_named_as_the_table_names_it():
    paths = ["test/a.jpg", "test/b.jpg"]
    assert Naming(example="0007de").names(paths) == ["a", "b"]
    assert Naming(example="0007de.jpg").names(paths) == ["a.jpg", "b.jpg"]
    assert Naming(example="train/0007de.jpg").names(paths) == paths
    assert Naming().names(paths) == paths
    assert Naming(example="x").names(["a/1.jpg", "b/1.jpg"]) == ["a/1.jpg", "b/1.jpg"]


@pytest.mark.parametrize(("text", "first"), [("Id,score\n", b"I"), ("图像,score\n", b"\xef")])
def test_only_excel_needs_a_mark(text, first):
    assert Path(table_file(text, "x.csv").path).read_bytes()[:1] == first


def test_pawpularity_from_its_zip_to_a_submission(tmp_path):
    data = pawpularity_folder(tmp_path / "petfinder-pawpularity-score")
    packed = shutil.make_archive(str(data), "zip", data)
    places = UserStorage(tmp_path / "runs", hosted=False)
    chosen = unpack(places, "", packed, lambda done, total: None)
    report = report_data(chosen, look(chosen), "en")
    assert (report.image_column, report.target_column, report.task) == ("Id", "Pawpularity", "regression")
    assert len(report.columns) == 14
    assert "30 images, a number to predict (Pawpularity)" in report.summary
    assert not [result for result in report.findings if result["level"] == "stops"]

    training = places.new_training("")
    comparison = trained(Path(chosen.folder), training, "linear", "bitfit")
    results = results_data(comparison, "bitfit", "en")
    assert results.metric == "RMSE"
    assert "largest error" in results.wrong_title
    off = np.abs(comparison["bitfit"].outputs - comparison["bitfit"].targets)
    assert [image.index for image in results.wrong] == np.argsort(-off, kind="stable").tolist()[: len(results.wrong)]
    for view in ("pareto", "residuals", "epochs", "images"):
        assert result_figures(comparison, "bitfit", Question(view), "en").refused == ""

    card = Path(download_file(comparison["bitfit"], "card", read_config(training)).path).read_text()
    low, scale = map(float, re.search(r"stands for the number ([\d.]+) \+ ([\d.]+) y", card).groups())
    split = json.loads((training / "split.json").read_text())
    scores = [score for _, score in split["train"]]
    assert (low, scale) == (pytest.approx(np.mean(scores), rel=1e-4), pytest.approx(np.std(scores), rel=1e-4))

    assert naming_of(read_config(training), training) == Naming("Id", "Pawpularity", next(iter(ids(data, "train"))))
    context = RoomContext(Engine(Settings(runs_folder=str(places.root))), Translations(), gr.State(Address()))
    part = built(ResultPart(context, Session(*(gr.State("") for _ in range(4)))))
    chosen = part.choose(
        gr.EventData(None, {"run": "linear"}), "", training.name, Question("residuals", number=7), Address()
    )
    assert (chosen[part.results].chosen, chosen[part.session.run]) == ("linear", "linear")
    figure = chosen[part.figures]
    assert (figure.chosen, figure.controls[0].value, figure.asked) == ("residuals", "linear", 0)

    test = shutil.make_archive(str(tmp_path / "test"), "zip", data, "test")

    def predicted(files: list[str]) -> ResultsData:
        event = gr.EventData(None, {"files": files})
        *_, answer = Steps(part.predict_images(event, "", training.name, "bitfit", Address(), gr.Request()))
        return answer

    answer = predicted([test])
    assert answer.download.name == "petfinder-pawpularity-score-bitfit-submission.csv"
    rows = list(csv.DictReader(Path(answer.download.path).read_text().splitlines()))
    assert {row["Id"] for row in rows} == set(ids(data, "sample_submission"))
    assert list(rows[0]) == ["Id", "Pawpularity"]
    images = [str(path) for path in (data / "test").iterdir()]
    assert predicted(images).download.path == answer.download.path, "the images themselves give the same table"


def ids(data: Path, table: str) -> list[str]:
    with open(data / f"{table}.csv", encoding="utf-8") as file:
        return [row["Id"] for row in csv.DictReader(file)]
