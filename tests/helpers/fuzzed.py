"""Fuzz subjects: every reader of hostile input or damaged files, with a small valid case to damage.

A subject draws a damaged case and uses it as the program would. It must succeed or raise a message.
"""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pydantic import ValidationError

from tests.helpers.damaged_files import altered, as_json, edited, torn, torn_lines
from tests.helpers.finetune_folders import class_folder, number_folder
from tests.helpers.fuzz_subject import Subject
from tests.helpers.fuzzed_http import over_http
from tests.helpers.fuzzed_views import views
from tests.helpers.image_folders import encoded
from tests.helpers.small_models import load_small
from vitexplorer.core.text import ExplainedError
from vitexplorer.finetune.attaching import attach
from vitexplorer.finetune.comparison import load_comparison
from vitexplorer.finetune.data import inspect, read_folder, read_zip
from vitexplorer.finetune.exports import merged_checkpoint
from vitexplorer.finetune.in_process import run_job
from vitexplorer.finetune.job import detached
from vitexplorer.finetune.job.events import EVENTS
from vitexplorer.finetune.job.folder import CHECKPOINTS, run_folder
from vitexplorer.finetune.job.plan import Candidate, JobConfig, Plan
from vitexplorer.finetune.job.state import JobState
from vitexplorer.finetune.peft import CONFIG, WEIGHTS, export_peft, import_peft
from vitexplorer.finetune.storing import base_in, load_tuned, objective_in, preprocessing_in, save_tuned
from vitexplorer.finetune.trained_parts import parameter_groups
from vitexplorer.finetune.training import checkpoint, loop
from vitexplorer.finetune.training import setup as setups
from vitexplorer.models.images import OpenedImage
from vitexplorer.models.loading import load_model
from vitexplorer.models.seeding import seeded
from vitexplorer.models.weights import load_weights
from vitexplorer.service.user_storage import UserStorage
from vitexplorer.service.visitor_names import training_of, visitor_of
from vitexplorer.storage.checked_reading import read_tensors
from vitexplorer.ui.panel.figure_panel import Question
from vitexplorer.ui.rooms.finetune.figures import question_of, result_figures
from vitexplorer.ui.rooms.finetune.results import results_data
from vitexplorer.ui.rooms.finetune.training.choice import TrainingChoice
from vitexplorer.ui.rooms.finetune.training.history import history_data
from vitexplorer.ui.rooms.finetune.training.progress import progress_data
from vitexplorer.ui.rooms.finetune.training.watch import Watch
from vitexplorer.ui.server.event_fields import Sent
from vitexplorer.ui.shell.address import Address, SelectedView

MODEL = "test_vit"


@contextmanager
def subjects(place: Path) -> Iterator[dict[str, Subject]]:
    """Yield all subjects by name, with their files in `place`."""
    with pytest.MonkeyPatch.context() as patched, ExitStack() as web:
        patched.setattr(setups, "load_backbone", lambda name, *_, **__: load_small("vit"))  # of trainings
        found = [
            *_images(place / "images"),
            *_weights(place / "weights"),
            *_tuned(place / "tuned"),
            *_data(place / "data"),
            *_runs(place / "runs"),
            *_addresses(),
            *views(),
            *web.enter_context(over_http(place / "served")),
        ]
        yield {subject.name: subject for subject in found}


def _written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


# ---------------------------------------------------------------------------------------------- pictures


def _images(place: Path) -> Iterator[Subject]:
    pixels = np.random.default_rng(0).integers(0, 256, (12, 20, 3), dtype=np.uint8)
    whole = st.sampled_from([encoded(pixels, kind) for kind in ("png", "jpeg", "webp", "gif", "bmp", "tiff")])
    yield Subject("images", whole.flatmap(edited), lambda data: OpenedImage.of(_written(place / "picture", data)))


# ---------------------------------------------------------------------------------------------- weights


def _weights(place: Path) -> Iterator[Subject]:
    module = deepcopy(load_small("vit").module)  # a damaged file may still be one, and is loaded
    place.mkdir()
    safetensors.torch.save_file(module.state_dict(), place / "whole.safetensors")
    torch.save({"model": module.state_dict()}, place / "whole.pth")
    for ending in ("safetensors", "pth"):
        whole = (place / f"whole.{ending}").read_bytes()

        def use(data: bytes, ending: str = ending) -> None:
            load_weights(module, _written(place / f"w.{ending}", data))

        yield Subject(f"weights {ending}", edited(whole), use)
    yield Subject(
        "weights header",
        _altered_header((place / "whole.safetensors").read_bytes()),
        lambda data: load_weights(module, _written(place / "h.safetensors", data)),
    )


def _altered_header(data: bytes) -> SearchStrategy[bytes]:
    """Draw a safetensors file with another header."""
    start = 8 + int.from_bytes(data[:8], "little")

    def with_header(values: Any) -> bytes:
        header = as_json(values)
        return len(header).to_bytes(8, "little") + header + data[start:]

    return altered(json.loads(data[8:start])).map(with_header)


# ---------------------------------------------------------------------------------------------- tuned models


def _tuned(place: Path) -> Iterator[Subject]:
    base = load_small("vit")
    place.mkdir()
    objective = {"task": "classification", "loss": "cross_entropy", "classes": 3}
    tuned = attach(base, "lora", 3, class_names=("a", "b", "c"), r=2)
    whole = place / "whole.safetensors"
    save_tuned(tuned, whole, {"objective": objective, "plan": {"epochs": 3}})
    yield Subject("tuned", edited(whole.read_bytes()), lambda data: _use_tuned(_written(place / "t.safetensors", data)))
    yield _words_of("tuned words", whole, _use_tuned)
    merged = attach(load_model(MODEL, weights="random"), "linear", 3, class_names=("a", "b", "c"))
    file = _written(place / "merged.safetensors", merged_checkpoint(merged))
    yield _words_of("merged words", file, lambda path: load_model(MODEL, weights=path))
    export_peft(tuned, place / "peft")
    config, weights = ((place / "peft" / name).read_bytes() for name in (CONFIG, WEIGHTS))

    def use_peft(files: tuple[bytes, bytes]) -> None:
        for name, data in zip((CONFIG, WEIGHTS), files, strict=True):
            _written(place / "sent" / name, data)
        import_peft(base, place / "sent")

    damaged = st.tuples(torn(config), st.just(weights)) | st.tuples(st.just(config), edited(weights))
    damaged |= st.tuples(st.just(config), _altered_header(weights))
    yield Subject("peft", damaged, use_peft)


def _words_of(name: str, whole: Path, use: Callable[[Path], object]) -> Subject:
    """Return the subject of a file whose metadata is altered."""
    tensors, metadata = read_tensors(whole)
    file = whole.with_name(f"{name}.safetensors")

    def use_words(words: Any) -> None:
        safetensors.torch.save_file(tensors, file, {"vitexplorer": as_json(words).decode()})
        use(file)

    return Subject(name, altered(json.loads(metadata["vitexplorer"])), use_words)


def _use_tuned(path: Path) -> None:
    load_tuned(path, load_small("vit"))
    base_in(path)
    preprocessing_in(path)
    objective_in(path)


# ---------------------------------------------------------------------------------------------- images to train on


def _data(place: Path) -> Iterator[Subject]:
    folder = class_folder(place / "classes", per_class=2, side=16)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*.png")):
            archive.write(file, file.relative_to(folder).as_posix())

    def use_zip(data: bytes) -> None:
        shutil.rmtree(place / "unpacked", ignore_errors=True)
        inspect(read_zip(_written(place / "images.zip", data), place / "unpacked"))

    yield Subject("zips", edited(packed.getvalue()), use_zip)
    numbers = number_folder(place / "numbers", images=4, side=16)
    table = (numbers / "train.csv").read_bytes()

    def use_table(data: bytes) -> None:
        (numbers / "train.csv").write_bytes(data)
        inspect(read_folder(numbers))

    cells = st.lists(st.lists(st.text(max_size=6) | st.sampled_from(["0.png", "1.png", "image", "7", ""]), max_size=4))
    written = cells.map(lambda rows: "\n".join(",".join(row) for row in rows).encode(errors="surrogatepass"))
    yield Subject("tables", edited(table) | written, use_table)


# ---------------------------------------------------------------------------------------------- trainings


def _runs(place: Path) -> Iterator[Subject]:
    """Yield subjects of a finished and a killed training; the page reads the rest and finds the sound one beside it."""
    place.mkdir()
    images = str(class_folder(place / "data-0" / "colours", per_class=4))
    plan = Plan(epochs=2, batch_size=4, precision="no", checkpoint_seconds=0, augmentation="none")
    config = JobConfig(images, MODEL, (Candidate("lora"), Candidate("linear")), plan, weights="random")
    whole, killed = place / "whole", place / "killed"

    def stop(event: Any) -> None:
        if event.kind == "step" and event.run == "lora" and event.values["step"] == 3:
            detached.stop(killed)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(loop, "_BETWEEN_EVENTS", 0.0)
        run_job(config, killed, stop)
    run_job(config, whole)
    places = UserStorage(place / "seen", hosted=False)
    shutil.copytree(killed, places.root / "sound")
    own = run_folder(Path(), "lora")
    names = ["config.json", "split.json", "baseline.json", EVENTS, "process.json"]
    names += [str(own / name) for name in ("result.json", "predictions.npz", "tuned.safetensors", "estimate.json")]

    def case(name: str) -> SearchStrategy[tuple[str, bytes]]:
        path = whole / name
        content = path.read_bytes() if path.exists() else b'{"pid": 1, "created": 1.0, "begun": true}'
        return st.tuples(st.just(name), torn_lines(content) if name == EVENTS else torn(content))

    def use(damaged: tuple[str, bytes]) -> None:
        folder = places.root / "torn"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(whole, folder)
        _written(folder / damaged[0], damaged[1])
        _look_at(places, folder)

    yield Subject("run files", st.sampled_from(names).flatmap(case), use)

    tuned = attach(load_small("vit"), "lora", 3)
    newest = (killed / own / CHECKPOINTS[0]).read_bytes()

    def use_checkpoint(data: bytes) -> None:
        optimiser = torch.optim.AdamW(parameter_groups(tuned))
        path = _written(killed / own / "damaged.safetensors", data)
        with seeded(0):
            checkpoint.load_checkpoint(path, tuned.module, optimiser)

    yield Subject("checkpoints", edited(newest) | _altered_header(newest), use_checkpoint)


def _look_at(places: UserStorage, folder: Path) -> None:
    """Read a training as the page does; the sound one beside it must always be listed."""
    try:
        comparison = load_comparison(folder)
    except ExplainedError as error:
        _show(places, folder)
        raise error
    broken = {run.key for run in _show(places, folder).runs if run.state == "broken"}
    if comparison.results:
        data = results_data(comparison, "lora", "en")
        data.model_dump_json()
        for view in ("pareto", "epochs", "confusion"):
            result_figures(comparison, data.chosen, Question(view), "en").model_dump_json()
    if comparison.failures:
        assert broken <= {run for run, _ in comparison.failures}, "a run that is broken is compared"
        raise ExplainedError(comparison.failures[0][1])


def _show(places: UserStorage, folder: Path) -> JobState:
    """Render the list of trainings, this training, and the menu of models; none may fail."""
    try:
        states = {job.folder.name: job for job in places.trainings("")}
        assert states["sound"].state == "stopped", "a broken training hid another"
        history_data(states.values(), "torn", "en").model_dump_json()
        progress_data(states["torn"], Watch().look(folder).events, "zh").model_dump_json()
        assert all(choice.label for choice in places.tuned(""))
        places.sweep()
    except ExplainedError as error:
        raise AssertionError(f"the page does not expect: {error}") from error
    return states["torn"]


# ---------------------------------------------------------------------------------------------- addresses and events


def _addresses() -> Iterator[Subject]:
    names = st.sampled_from([*Address.__dataclass_fields__, "run", "view", "v.block", "lang"])
    values = st.text(max_size=30) | st.sampled_from(
        ["scenes_vit_patch16_192", "upload-" + "0" * 64, "999", "0,0", "1e9", "../..", "٣", "tuned." + "f" * 32]
    )

    def use_address(parameters: dict[str, str]) -> None:
        address = Address.read(parameters)
        address.display, address.picture, address.parameters()
        text = "&".join(f"{name}={value}" for name, value in parameters.items())
        SelectedView.read(json.dumps({"search": "?" + text, "theme": "dark"}))
        Address.exactly(**{name: value for name, value in parameters.items() if name in ("block", "head", "model")})

    yield Subject("addresses", st.dictionaries(names, values, max_size=6), use_address)
    methods = [{"key": "lora", "settings": {"r": "4"}, "rate": "0.1"}, {"key": "linear", "settings": {}}]
    choice = {"methods": methods, "epochs": "3", "seed": "0", "augmentation": "none", "head": "fresh", "backbone": ""}

    def use_event(sent: Any) -> None:
        with suppress(ValidationError):  # no handler sees it
            Sent.model_validate(sent)
            TrainingChoice.read(sent)
            question_of(sent)
        text = as_json(sent).decode()
        visitor_of(text)
        training_of(text)
        SelectedView.read(text)

    yield Subject("events", altered(choice) | altered({"visitor": "a" * 32, "run": "pets"}), use_event)
