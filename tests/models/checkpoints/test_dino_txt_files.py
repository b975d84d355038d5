"""Files of dino.txt: three in a folder, two, one, or a zip; and folders of other files."""

from __future__ import annotations

import gzip
import zipfile

import pytest
import torch

import vitexplorer as vx
from tests.helpers.small_dino_txt import BACKBONES, HEAD_FILES, PATCH, TEXT_FILE, Files
from vitexplorer.models.checkpoints import WeightsError
from vitexplorer.models.checkpoints.contents import read_contents

each_release = pytest.mark.parametrize("release", BACKBONES)


def grey(model: vx.LoadedModel) -> torch.Tensor:
    side = 4 * PATCH["dinov2" if "patch14" in model.name else "dinov3"]
    return model.module(torch.zeros(1, 3, side, side))


@each_release
def test_a_folder_a_file_and_a_zip_hold_the_same_model(tmp_path, release):
    files = Files(release)
    folder = files.save(tmp_path / "parts")
    with gzip.open(folder / "bpe_simple_vocab_16e6.txt.gz", "wt") as vocabulary:
        vocabulary.write("not read: it comes with the tokenizer")
    whole = tmp_path / "whole.pth"
    torch.save(files.whole(), whole)
    packed = tmp_path / "packed.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for file in folder.glob("*.pth"):
            archive.write(file, file.name)
    models = [vx.load_model(path, device="cpu") for path in (folder, whole, packed)]
    for model in models:
        assert torch.equal(grey(model), grey(models[0]))
        assert torch.equal(
            torch.from_numpy(vx.embed_text(model, ["a cat"])), torch.from_numpy(vx.embed_text(models[0], ["a cat"]))
        )
        assert model.projects
        assert model.name.endswith("_dino_txt")
        assert "from dino.txt" in model.notes[0].en


@each_release
def test_each_part_has_its_names_in_the_whole(tmp_path, release):
    files = Files(release)
    names = read_contents(files.save(tmp_path / "m")).tensors.keys()
    expected = {name.replace("backbone.model.", "backbone.") for name in files.whole()}
    if release == "dinov2":  # keeps the head's names, and states no scale
        expected = {name.replace("visual_model.head.blocks.", "visual_model.head.block_list.") for name in expected}
        expected -= {"logit_scale"}
    assert names == expected


def test_without_the_text_encoder_the_image_half_remains(tmp_path):
    model = vx.load_model(Files("dinov2").save(tmp_path / "m", texts=False), device="cpu")
    assert model.text is None
    assert model.projects


def test_several_other_files_are_still_refused(tmp_path):
    for name in ("a.pth", "b.pth"):
        torch.save(Files("dinov2").backbone, tmp_path / name)
    with pytest.raises(WeightsError, match="holds several weight files"):
        vx.load_model(tmp_path)


@pytest.mark.parametrize("name", [HEAD_FILES["dinov2"], TEXT_FILE, HEAD_FILES["dinov3"]])
def test_a_damaged_part_is_named(tmp_path, name):
    folder = Files("dinov3" if "dinov3" in name else "dinov2").save(tmp_path / "m")
    (folder / name).write_bytes((folder / name).read_bytes()[:1000])
    with pytest.raises(WeightsError, match=name):
        vx.load_model(folder)


def test_files_of_two_models_in_one_folder(tmp_path):
    for release in BACKBONES:
        Files(release).save(tmp_path / "m")
    with pytest.raises(WeightsError, match="m holds two files of one part of a"):
        vx.load_model(tmp_path / "m")
