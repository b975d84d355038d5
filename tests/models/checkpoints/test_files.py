"""Weight files: the wrappings of the original releases, hostile and broken files."""

from __future__ import annotations

import argparse
import os
import struct
import zipfile
from pathlib import Path

import pytest
import safetensors.torch
import torch
from torch import nn

from tests.helpers.weight_files import prefixed, same_weights, vit, write
from vitexplorer.models.checkpoints import WeightsError, count_classes, read_state_dict
from vitexplorer.models.weights import load_weights

HEAD_OF_DINO = {"head.mlp.0.weight": torch.zeros(8, 24), "head.last_layer.weight_v": torch.zeros(8, 8)}
DINO_TEACHER = {**prefixed("backbone.", vit(num_classes=0).state_dict()), **prefixed("", HEAD_OF_DINO)}
DINO_STUDENT = prefixed("module.", {**prefixed("backbone.", vit(9, num_classes=0).state_dict()), **HEAD_OF_DINO})

WRAPPINGS = {
    "plain": lambda sd: sd,
    "deit, swin, mae": lambda sd: {"model": sd},
    "with arguments": lambda sd: {"model": sd, "args": argparse.Namespace(lr=1e-3), "epoch": 3, "optimizer": {"s": {}}},
    "state_dict": lambda sd: {"state_dict": sd, "arch": "vit"},
    "parallel": lambda sd: {"model": prefixed("module.", sd)},
    "compiled, then parallel": lambda sd: {"state_dict": prefixed("_orig_mod.module.", sd)},
    "lightning": lambda sd: {"state_dict": prefixed("model.", sd), "callbacks": {}},
    "average of the weights": lambda sd: {"state_dict": vit(7).state_dict(), "state_dict_ema": sd},
    "average, other name": lambda sd: {"model": vit(7).state_dict(), "model_ema": sd},
}


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("zipped", [True, False])
def test_wrappings_of_the_releases(tmp_path, wrapping, zipped):
    source, target = vit(0), vit(1)
    contents = WRAPPINGS[wrapping](source.state_dict())
    torch.save(contents, tmp_path / "w.pth", _use_new_zipfile_serialization=zipped)
    assert load_weights(target, tmp_path / "w.pth") == ()
    assert same_weights(source, target)


def test_dino_takes_the_teacher_without_its_projection_head(tmp_path):
    path = write(tmp_path / "dino.pth", {"student": DINO_STUDENT, "teacher": DINO_TEACHER, "epoch": 100})
    assert read_state_dict(path).keys() == vit(num_classes=0).state_dict().keys()
    target = vit(1, num_classes=0)
    assert load_weights(target, path) == ()
    assert same_weights(target, vit(0, num_classes=0))


def test_a_classifier_with_an_mlp_is_not_taken_for_dinos_head(tmp_path):
    path = write(tmp_path / "w.pth", {"head.mlp.0.weight": torch.zeros(2, 2)})
    assert list(read_state_dict(path)) == ["head.mlp.0.weight"]


@pytest.mark.parametrize("name", ["w.safetensors", "W.SAFETENSORS", "w.pth", "w.pt", "w.bin", "w.ckpt", "w.pth.tar"])
def test_every_suffix(tmp_path, name):
    contents = vit().state_dict()
    if name.lower().endswith("safetensors"):
        safetensors.torch.save_file(contents, tmp_path / name)
    else:
        torch.save(contents, tmp_path / name)
    read = read_state_dict(str(tmp_path / name))
    assert read.keys() == contents.keys()
    assert all(torch.equal(read[key], contents[key]) for key in read)


def test_parameters_become_plain_tensors(tmp_path):
    path = write(tmp_path / "w.pth", dict(vit().named_parameters()))
    assert not any(isinstance(t, nn.Parameter) or t.requires_grad for t in read_state_dict(path).values())


@pytest.mark.parametrize(
    ("names", "classes"),
    [
        ({"head.weight": (7, 4)}, 7),
        ({"head.fc.weight": (9, 4)}, 9),
        ({"visual.proj": (4, 512)}, 512),
        ({"norm.weight": (4,)}, 0),
        ({"head.weight": (7,)}, 0),
    ],
)
def test_count_classes(names, classes):
    assert count_classes({name: torch.zeros(shape) for name, shape in names.items()}) == classes


class Malicious:
    def __init__(self, target: Path):
        self.target = target

    def __reduce__(self):
        return os.mkdir, (str(self.target),)


@pytest.mark.parametrize("zipped", [True, False])
def test_a_pickle_that_asks_for_code_is_refused_and_not_run(tmp_path, zipped):
    torch.save({"model": Malicious(tmp_path / "ran")}, tmp_path / "w.pth", _use_new_zipfile_serialization=zipped)
    with pytest.raises(WeightsError, match="would run code") as caught:
        read_state_dict(tmp_path / "w.pth")
    assert not (tmp_path / "ran").exists()
    assert "拒绝" in caught.value.text.zh
    if zipped:
        assert "mkdir" in str(caught.value)


def test_a_whole_pickled_module_is_refused(tmp_path):
    path = write(tmp_path / "w.pth", vit())
    with pytest.raises(WeightsError, match=r"would run code \((builtins\.getattr, )?timm\.layers"):
        read_state_dict(path)


@pytest.mark.parametrize("zipped", [True, False])
def test_an_expanded_tensor_is_refused_before_memory_is_spent(tmp_path, zipped):
    huge = torch.zeros(1).expand(10**6, 10**6)  # 4 TB if anybody copied it
    torch.save({"head.weight": huge}, tmp_path / "w.pth", _use_new_zipfile_serialization=zipped)
    assert (tmp_path / "w.pth").stat().st_size < 4000
    with pytest.raises(WeightsError, match=r"head\.weight declares more numbers than the file holds"):
        read_state_dict(tmp_path / "w.pth")


def test_the_old_format_declaring_a_huge_storage_is_refused(tmp_path):
    path = tmp_path / "w.pth"
    torch.save({"head.weight": torch.zeros(77_777)}, path, _use_new_zipfile_serialization=False)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"J" + struct.pack("<i", 77_777), b"J" + struct.pack("<i", 2**31 - 1)))
    assert path.read_bytes() != data
    with pytest.raises(WeightsError, match="cannot be read"):
        read_state_dict(path)


def test_an_archive_that_was_compressed_to_fill_the_memory_is_refused(tmp_path):
    write(tmp_path / "plain.pth", {"head.weight": torch.zeros(2_000_000)})
    with zipfile.ZipFile(tmp_path / "plain.pth") as plain, zipfile.ZipFile(tmp_path / "w.pth", "w") as bomb:
        for record in plain.infolist():
            bomb.writestr(record.filename, plain.read(record), compress_type=zipfile.ZIP_DEFLATED)
    assert (tmp_path / "w.pth").stat().st_size < 100_000
    with pytest.raises(WeightsError, match="archive declares more"):
        read_state_dict(tmp_path / "w.pth")


@pytest.mark.filterwarnings("ignore::UserWarning")  # of torch, about sparse tensors
@pytest.mark.parametrize(
    "tensor",
    [torch.zeros(3, 3).to_sparse(), torch.zeros(3, device="meta"), torch.zeros(3, dtype=torch.complex64)],
    ids=["sparse", "meta", "complex"],
)
def test_other_kinds_of_tensor_are_refused(tmp_path, tensor):
    torch.save({"head.weight": tensor}, tmp_path / "w.pth")
    with pytest.raises(WeightsError, match="not an ordinary tensor"):
        read_state_dict(tmp_path / "w.pth")


BROKEN = {
    "empty": (b"", "is empty"),
    "text": (b"hello, this is not a weight file", "cannot be read"),
    "zeros": (bytes(1000), "cannot be read"),
    "archive of nothing": (b"PK\x03\x04" + bytes(100), "cannot be read"),
    "web page": (b"\n<!DOCTYPE html><html>404</html>", "web page"),
    "git lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n", "Git LFS pointer"),
}


@pytest.mark.parametrize("name", ["w.pth", "w.safetensors"])
@pytest.mark.parametrize("kind", BROKEN)
def test_broken_files_get_a_sentence(tmp_path, name, kind):
    data, sentence = BROKEN[kind]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(WeightsError, match=sentence) as caught:
        read_state_dict(tmp_path / name)
    assert caught.value.text.zh
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("name", ["w.pth", "w.safetensors"])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_truncated_files_get_a_sentence(tmp_path, name, share):
    path = write(tmp_path / name, vit().state_dict())
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(WeightsError, match="truncated"):
        read_state_dict(path)


def test_not_there_a_folder_another_kind(tmp_path):
    (tmp_path / "w.onnx").write_bytes(b"x")
    for path, sentence in {
        tmp_path / "none.pth": "There is no file",
        tmp_path / f"{'a' * 300}.pth": "There is no file",
        tmp_path: "is a folder",
        tmp_path / "w.onnx": "expected one of .safetensors, .pth",
    }.items():
        with pytest.raises(WeightsError, match=sentence):
            read_state_dict(path)


CYCLE: dict[str, object] = {}
CYCLE["model"] = CYCLE


@pytest.mark.parametrize("contents", [{"epoch": 3}, [1, 2], {"model": {}}, {3: torch.zeros(2)}, torch.zeros(2), CYCLE])
def test_a_file_without_named_tensors(tmp_path, contents):
    with pytest.raises(WeightsError, match="holds no weights"):
        read_state_dict(write(tmp_path / "w.pth", contents))
