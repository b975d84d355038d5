"""Full disks and exhausted memory: a sentence names the cause, and no half-written file stays."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import vitexplorer as vx
from tests.helpers.small_models import load_small, picture
from tests.helpers.survey_folder import synthetic_survey
from vitexplorer.cli.errors import one_sentence
from vitexplorer.core.out_of_memory import NoMemoryError, explain_full_memory
from vitexplorer.core.text import ExplainedError
from vitexplorer.figures.files import write
from vitexplorer.finetune.attaching import attach
from vitexplorer.finetune.job.folder import CONFIG
from vitexplorer.finetune.job.plan import Candidate, JobConfig
from vitexplorer.finetune.storing import save_tuned
from vitexplorer.finetune.training.checkpoint import TrainingState, save_checkpoint
from vitexplorer.service import image_store as pictures
from vitexplorer.service.user_storage import UserStorage
from vitexplorer.storage.atomic_writes import replace_text
from vitexplorer.survey.export import export
from vitexplorer.survey.opened import open_survey
from vitexplorer.ui.kit import served_files as files


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Forbid that any file grows, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def _figure(folder: Path) -> None:
    write(folder / "figure.png", bytes(9999))


def _text(folder: Path) -> None:
    replace_text(folder / "kept.json", "x" * 9999)


def _record(folder: Path) -> None:
    CONFIG.write(folder, JobConfig("d" * 9999, "vit", (Candidate("lora"),)))


def _tuned(folder: Path) -> None:
    save_tuned(attach(load_small("vit"), "lora", 3, class_names=("a", "b", "c"), seed=0), folder / "tuned.safetensors")


def _checkpoint(folder: Path) -> None:
    module = torch.nn.Linear(99, 99)
    save_checkpoint(folder, module, torch.optim.AdamW(module.parameters()), TrainingState())


def _model_file(folder: Path) -> None:
    source = folder.parent / "model.bin"
    UserStorage(folder, hosted=False).keep_file("", source)


def _model_folder(folder: Path) -> None:
    UserStorage(folder, hosted=False).keep_file("", folder.parent / "a model")


def _served(folder: Path) -> None:
    files.cached_file(bytes(9999), "image.png")


def _upload(folder: Path) -> None:
    pictures.keep_upload(str(folder.parent / "picture.png"))


WRITERS = (_figure, _text, _record, _tuned, _checkpoint, _model_file, _model_folder, _served, _upload)
ENDINGS = (".csv", ".parquet")


def everything(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(write: Callable[[], object], folder: Path) -> None:
    before = everything(folder)
    with pytest.raises(ExplainedError, match="disk is full") as raised:
        write()
    assert "磁盘已满" in raised.value.text.zh
    assert everything(folder) == before


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder to write into, and a file beside it to copy there."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "place" / "uploads"))
    (tmp_path / "model.bin").write_bytes(bytes(9999))
    (tmp_path / "a model").mkdir()
    (tmp_path / "a model" / "weights").write_bytes(bytes(9999))
    Image.fromarray(picture(64, 64)).save(tmp_path / "picture.png")
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


@pytest.mark.parametrize("writes", WRITERS, ids=lambda one: one.__name__.strip("_"))
def test_what_does_not_fit_is_a_sentence_and_leaves_nothing(place: Path, writes: Callable[[Path], None]) -> None:
    with files_of_at_most(500):
        refused(lambda: writes(place), place)
    writes(place)
    with files_of_at_most(500):  # nor is what was there before touched
        if writes is not _served:
            refused(lambda: writes(place), place)


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_at_each_step_of_a_write(place: Path, monkeypatch: pytest.MonkeyPatch, step: str, number: int) -> None:
    def full(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    _text(place)
    monkeypatch.setattr(os, step, full)
    refused(lambda: _text(place), place)


@pytest.mark.parametrize("ending", ENDINGS)
def test_rows_that_do_not_fit(tmp_path: Path, ending: str) -> None:
    survey = open_survey(synthetic_survey(tmp_path / "survey", 400, lists=False))
    with files_of_at_most(500):
        refused(lambda: export(survey, (), tmp_path / f"rows{ending}"), tmp_path)
    assert export(survey, (), tmp_path / f"rows{ending}").exists()


# ---------------------------------------------------------------------------------------------- memory


def test_memory_that_ran_out_is_a_sentence_with_the_size_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for want, message in (
        (lambda: torch.empty(10**15), "4,000,000,000 MB"),
        (lambda: np.ones(10**15), " MB"),
        (lambda: bytearray(10**17), "enough memory."),
    ):
        with pytest.raises(NoMemoryError) as raised, explain_full_memory():
            want()
        assert message in raised.value.text.en
        assert "内存不足" in raised.value.text.zh
    with pytest.raises(RuntimeError, match="shape"), explain_full_memory():
        raise RuntimeError("another shape")


def test_a_capture_without_room_and_the_command_say_so(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    model = load_small("vit")
    with (
        model.module.register_forward_pre_hook(lambda *_: torch.empty(10**15)),
        pytest.raises(NoMemoryError, match="smaller size"),
    ):
        vx.capture(model, picture(64, 64))
    with pytest.raises(SystemExit), one_sentence("zh"):
        torch.empty(10**15)
    assert "内存不足" in capsys.readouterr().err
