"""Arguments of a check-up: every usual form is read, and a wrong one gets a sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import vitexplorer as vx
from vitexplorer.core.text import SettingError
from vitexplorer.diagnosis.subject import MOST_PICTURES, UNKNOWN, subject_of
from vitexplorer.models.images import ImageError
from vitexplorer.models.loading import LoadedModel
from vitexplorer.storage.findings import DataError

SIZE = 192


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    return vx.load_model("scenes_vit_patch16_192")


@pytest.fixture
def picture() -> Image.Image:
    pixels = np.random.default_rng(0).integers(0, 256, (SIZE, SIZE, 3), np.uint8)
    return Image.fromarray(pixels)


def save(picture: Image.Image, *paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        picture.save(path)


def test_pictures_are_fed_as_the_model_prepares_them(model: LoadedModel, picture: Image.Image) -> None:
    fed = subject_of(model, [picture, np.asarray(picture)]).fed
    assert fed is not None
    torch.testing.assert_close(fed[0], vx.capture(model, picture).input.tensor[0])
    assert torch.equal(fed[0], fed[1])


def test_the_callers_own_preprocessing_is_used(model: LoadedModel, picture: Image.Image) -> None:
    subject = subject_of(model, [picture], preprocess=lambda image: torch.full((3, 8, 8), image.width / 1.0))
    assert subject.fed is not None
    assert subject.fed.shape == (1, 3, 8, 8)
    assert float(subject.fed.max()) == SIZE


def test_what_a_loader_gives_is_joined_with_its_labels(model: LoadedModel) -> None:
    batches = [(torch.zeros(4, 3, 8, 8), torch.tensor([0, 1, 2, 3])), (torch.ones(2, 3, 8, 8), torch.tensor([4, 5]))]
    subject = subject_of(model, iter(batches))
    assert subject.fed is not None
    assert subject.labels is not None
    assert (len(subject.fed), subject.labels.tolist()) == (6, [0, 1, 2, 3, 4, 5])
    endless = ((torch.zeros(64, 3, 8, 8), torch.zeros(64, dtype=torch.int64)) for _ in iter(int, 1))
    assert len(subject_of(model, endless).fed) == MOST_PICTURES


def test_class_folders_are_labels_and_splits_are_noticed(model: LoadedModel, picture: Image.Image, tmp_path: Path):
    for split in ("train", "val"):
        save(picture, tmp_path / split / "gear" / "1.png", tmp_path / split / "Heart" / "2.png")
        save(picture, tmp_path / split / "unknown" / "3.png")
    subject = subject_of(model, tmp_path)
    names = [*model.class_names]
    assert subject.labels is not None
    assert sorted(subject.labels.tolist()) == sorted(2 * [names.index("gear"), names.index("heart"), UNKNOWN])
    assert set(subject.splits) == {"train", "val"}
    save(picture, tmp_path / "plain" / "1.png")
    assert subject_of(model, tmp_path / "plain").labels is None


def test_labels_come_from_a_table(model: LoadedModel, picture: Image.Image, tmp_path: Path) -> None:
    save(picture, tmp_path / "a.png", tmp_path / "b.png")
    (tmp_path / "labels.csv").write_text("file,label\nb.png,3\na.png,7\n")
    subject = subject_of(model, [tmp_path / "a.png", tmp_path / "b.png"], tmp_path / "labels.csv")
    assert subject.labels is not None
    assert subject.labels.tolist() == [7, 3]


def test_a_picture_that_cannot_be_opened_is_left_out(model: LoadedModel, picture: Image.Image, tmp_path: Path) -> None:
    save(picture, tmp_path / "good.png")
    (tmp_path / "broken.png").write_bytes(b"no picture")
    subject = subject_of(model, tmp_path)
    assert len(subject.pictures) == len(subject.fed) == 1
    (tmp_path / "good.png").unlink()
    with pytest.raises(ImageError):
        subject_of(model, tmp_path)


@pytest.mark.parametrize(
    ("data", "labels", "sentence"),
    [
        (torch.zeros(2, 3, 8), None, "axes"),
        (torch.zeros(2, 3, 8, 8, dtype=torch.uint8), None, "float"),
        (torch.zeros(0, 3, 8, 8), None, "float"),
        (torch.zeros(2, 3, 8, 8), [1], "give one for each"),
        (torch.zeros(2, 3, 8, 8), [1.5, 2.5], "Labels are"),
        (torch.zeros(2, 3, 8, 8), 7, "Labels are"),
        ([], None, "no picture"),
        (7, None, "Data are"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_wrong_arguments_get_a_sentence(model: LoadedModel, data: object, labels: object, sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        subject_of(model, data, labels)


def test_an_empty_folder_and_a_strange_preprocessing_get_a_sentence(
    model: LoadedModel, picture: Image.Image, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match="no picture"):
        subject_of(model, tmp_path)
    with pytest.raises(SettingError, match="A preprocessing must"):
        subject_of(model, [picture], preprocess=lambda image: torch.zeros(8, 8))
