"""Weight files: the wrappings of the original releases, hostile files, what does not fit, and the way from the Hub."""

from __future__ import annotations

import argparse
import errno
import hashlib
import os
import struct
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub.constants
import huggingface_hub.file_download
import pytest
import safetensors.torch
import timm
import torch
from torch import nn

from tests.helpers.thorough import later
from tests.helpers.tree import ROOT
from vitexplorer.models.seeding import seeded
from vitexplorer.models.weights import (
    DownloadError,
    PretrainedState,
    WeightsError,
    count_classes,
    download_pretrained,
    load_weights,
    pretrained_state,
    read_state_dict,
)


def vit(seed: int = 0, **options) -> nn.Module:
    options = {"img_size": 64, "embed_dim": 24, "depth": 2, "num_heads": 2, "num_classes": 5, **options}
    with seeded(seed):
        return timm.create_model("vit_tiny_patch16_224", **options).eval()


def swin(seed: int = 0, **options) -> nn.Module:
    sizes = {"img_size": 64, "embed_dim": 8, "depths": (1, 1, 2, 1), "num_heads": (1, 1, 2, 2), "window_size": 4}
    with seeded(seed):
        return timm.create_model("swin_tiny_patch4_window7_224", num_classes=5, **{**sizes, **options}).eval()


def same_weights(one: nn.Module, other: nn.Module) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), other.state_dict().values(), strict=True))


def write(path: Path, contents: object) -> Path:
    if path.suffix == ".safetensors":
        safetensors.torch.save_file(contents, path)
    else:
        torch.save(contents, path)
    return path


def prefixed(prefix: str, state_dict: dict) -> dict:
    return {prefix + name: tensor for name, tensor in state_dict.items()}


# ---------------------------------------------------------------------------------------------- reading

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
    [
        torch.zeros(3, 3).to_sparse(),
        torch.zeros(3, device="meta"),
        torch.zeros(3, dtype=torch.complex64),
    ],
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
@pytest.mark.parametrize("kept", [0.01, 0.5, 0.99])
def test_truncated_files_get_a_sentence(tmp_path, name, kept):
    path = write(tmp_path / name, vit().state_dict())
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    with pytest.raises(WeightsError, match="truncated"):
        read_state_dict(path)


def test_not_there_a_folder_another_kind(tmp_path):
    (tmp_path / "w.onnx").write_bytes(b"x")
    for path, sentence in {
        tmp_path / "none.pth": "There is no file",
        tmp_path: "is a folder",
        tmp_path / "w.onnx": "expected one of .safetensors, .pth",
    }.items():
        with pytest.raises(WeightsError, match=sentence):
            read_state_dict(path)


@pytest.mark.parametrize("contents", [{"epoch": 3}, [1, 2], {"model": {}}, {3: torch.zeros(2)}, torch.zeros(2)])
def test_a_file_without_named_tensors(tmp_path, contents):
    with pytest.raises(WeightsError, match="holds no weights"):
        read_state_dict(write(tmp_path / "w.pth", contents))


# ---------------------------------------------------------------------------------------------- fitting


def refused(module: nn.Module, path: Path) -> str:
    """The sentence, after checking that nothing of the module has changed."""
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    with pytest.raises(WeightsError) as caught:
        load_weights(module, path)
    assert all(torch.equal(before[name], tensor) for name, tensor in module.state_dict().items())
    assert caught.value.text.zh != caught.value.text.en
    return str(caught.value)


def test_everything_wrong_is_named_in_one_sentence(tmp_path):
    state_dict = vit().state_dict()
    del state_dict["blocks.0.norm1.weight"]
    state_dict["stranger"] = torch.zeros(1)
    state_dict["norm.weight"] = torch.zeros(3)
    state_dict["norm.bias"] = torch.zeros(24, dtype=torch.int8)
    sentence = refused(vit(1), write(tmp_path / "w.pth", state_dict))
    assert sentence == (
        "w.pth does not fit vit_tiny_patch16_224: 1 missing (blocks.0.norm1.weight), 1 unexpected (stranger), "
        "1 of another shape (norm.weight: 3 / 24), "
        "1 of another kind of number (norm.bias: torch.int8 / torch.float32). Where two values stand, the file's comes "
        "first."
    )


def test_many_wrong_entries_are_counted_and_the_first_few_named(tmp_path):
    sentence = refused(vit(1, depth=4), write(tmp_path / "w.safetensors", vit().state_dict()))
    assert "24 missing (blocks.2.norm1.weight, blocks.2.norm1.bias, blocks.2.attn.qkv.weight, ...)" in sentence


def test_another_number_of_classes(tmp_path):
    sentence = refused(vit(1), write(tmp_path / "w.pth", vit(num_classes=7).state_dict()))
    assert "2 of another shape (head.weight: 7 x 24 / 5 x 24, head.bias: 7 / 5)" in sentence


def test_a_backbone_is_never_given_a_random_classifier(tmp_path):
    path = write(tmp_path / "mae.pth", {"model": vit(num_classes=0).state_dict()})
    assert "Create the model with num_classes=0" in refused(vit(1), path)
    target = vit(1, num_classes=0)
    assert load_weights(target, path) == ()
    assert same_weights(target, vit(num_classes=0))


def test_a_classifier_too_much_is_left_out_and_said(tmp_path):
    target = vit(1, num_classes=0)
    (note,) = load_weights(target, write(tmp_path / "w.pth", vit().state_dict()))
    assert note.en == "The file's classifier was left out: the model has none."
    whole = vit().state_dict()
    assert all(torch.equal(tensor, whole[name]) for name, tensor in target.state_dict().items())


def test_parts_of_pretraining_are_left_out_and_said(tmp_path):
    contents = {**vit(num_classes=0).state_dict(), "decoder_embed.weight": torch.zeros(4, 24)}
    contents["decoder_blocks.0.norm1.weight"] = torch.zeros(4)
    (note,) = load_weights(vit(1, num_classes=0), write(tmp_path / "mae.pth", contents))
    assert note.en == "Parts of the pretraining task were left out: decoder_blocks, decoder_embed."


def test_attention_pooling_is_left_out_only_where_no_classifier_reads_it(tmp_path):
    pooled = vit(0, global_pool="map").state_dict()
    path = write(tmp_path / "pooled.pth", pooled)
    with pytest.raises(WeightsError, match=r"unexpected \(attn_pool\."):
        load_weights(vit(1), path)
    left_out = [note.en for note in load_weights(vit(1, num_classes=0), path)]
    assert "Parts of the pretraining task were left out: attn_pool." in left_out


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
def test_other_precisions_go_into_float32(tmp_path, dtype, suffix):
    state_dict = {name: tensor.to(dtype) for name, tensor in vit().state_dict().items()}
    target = vit(1)
    load_weights(target, write(tmp_path / f"w{suffix}", state_dict))
    for name, tensor in target.state_dict().items():
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, state_dict[name].float())


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers(tmp_path, value):
    state_dict = vit().state_dict()
    state_dict["blocks.1.mlp.fc1.bias"][3] = value
    path = write(tmp_path / "w.pth", state_dict)
    assert "1 of its entries hold NaN or infinite values (blocks.1.mlp.fc1.bias)" in refused(vit(1), path)


def test_position_embeddings_of_another_grid_are_resampled_as_timm_does_and_said(tmp_path):
    source, target = vit(img_size=96), vit(1)
    (note,) = load_weights(target, write(tmp_path / "w.pth", source.state_dict()))
    assert "resampled" in note.en
    wanted = timm.models.vision_transformer.checkpoint_filter_fn(dict(source.state_dict()), vit())
    assert torch.equal(target.pos_embed, wanted["pos_embed"])
    assert target.pos_embed.shape[1] == 4 * 4 + 1


@pytest.mark.filterwarnings("ignore::UserWarning")  # of timm's resampling
def test_relative_position_tables_of_another_window_are_resampled_and_said(tmp_path):
    source, target = swin(window_size=2), swin(1)
    nn.init.constant_(source.layers[0].blocks[0].attn.relative_position_bias_table, 0.25)
    (note,) = load_weights(target, write(tmp_path / "w.pth", source.state_dict()))
    assert "resampled" in note.en
    table = target.layers[0].blocks[0].attn.relative_position_bias_table
    assert table.shape == (7 * 7, 1)
    torch.testing.assert_close(table, torch.full_like(table, 0.25))


@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
def test_nothing_is_said_of_position_embeddings_that_fit(tmp_path, suffix):
    assert load_weights(swin(1), write(tmp_path / f"s{suffix}", swin().state_dict())) == ()
    assert load_weights(vit(1), write(tmp_path / f"v{suffix}", vit().state_dict())) == ()


def test_another_patch_size_is_another_model(tmp_path):
    path = write(tmp_path / "w.pth", vit(patch_size=8).state_dict())
    assert refused(vit(1), path) == "w.pth has patches of 8 x 8 pixels and vit_tiny_patch16_224 of 16 x 16."


def test_a_huge_patch_kernel_is_refused_before_timm_resamples_it(tmp_path):
    state_dict = {**vit().state_dict(), "patch_embed.proj.weight": torch.zeros(1, 1, 700, 700)}
    assert "700 x 700" in refused(vit(1), write(tmp_path / "w.pth", state_dict))


def test_another_architecture(tmp_path):
    path = write(tmp_path / "w.pth", vit(patch_size=4).state_dict())
    assert "unexpected (cls_token, pos_embed, blocks.0.norm1.weight, ...)" in refused(swin(1), path)
    path = write(tmp_path / "w.pth", swin(img_size=256, patch_size=16).state_dict())
    assert "missing (cls_token, pos_embed, " in refused(vit(1), path)


def test_a_file_that_breaks_timms_filter(tmp_path):
    table = {"blocks.0.attn.relative_position_bias_table": torch.zeros(9, 2)}
    path = write(tmp_path / "w.pth", {**swin().state_dict(), **table})
    assert "it was written for another architecture" in refused(swin(1), path)


def original_swin(state_dict: dict) -> dict:
    """Microsoft's names: patch merging at the end of a stage, the classifier without `fc`, buffers saved too."""
    names = {}
    for name, tensor in state_dict.items():
        for stage in (1, 2, 3):
            if name.startswith(f"layers.{stage}.downsample"):
                name = name.replace(f"layers.{stage}.", f"layers.{stage - 1}.", 1)
                break
        names[name.replace("head.fc.", "head.")] = tensor
    return {**names, "layers.0.blocks.0.attn.relative_position_index": torch.zeros(16, 16, dtype=torch.int64)}


def original_clip(state_dict: dict) -> dict:
    """OpenAI's names, with some of the text tower."""
    swaps = {
        "patch_embed.proj": "conv1",
        "norm_pre": "ln_pre",
        "blocks.": "transformer.resblocks.",
        "attn.qkv.": "attn.in_proj_",
        "attn.proj": "attn.out_proj",
        "mlp.fc1": "mlp.c_fc",
        "mlp.fc2": "mlp.c_proj",
    }
    names = {}
    for name, tensor in state_dict.items():
        for old, new in swaps.items():
            name = name.replace(old, new)
        name = name.replace("norm1", "ln_1").replace("norm2", "ln_2").replace("norm.", "ln_post.")
        names[name] = tensor
    names["class_embedding"] = names.pop("cls_token")[0, 0]
    names["positional_embedding"] = names.pop("pos_embed")[0]
    names["proj"] = names.pop("head.weight").T
    del names["head.bias"]
    return {**prefixed("visual.", names), "logit_scale": torch.ones(()), "text_projection": torch.zeros(3, 3)}


def original_dinov2(state_dict: dict) -> dict:
    """Meta's names; with registers the class token still has a position."""
    names = dict(state_dict)
    names["register_tokens"] = names.pop("reg_token")
    names["pos_embed"] = torch.cat([torch.zeros(1, 1, 24), names["pos_embed"]], dim=1)
    return {**names, "mask_token": torch.zeros(1, 24)}


def clip(seed: int) -> nn.Module:
    module = vit(seed, pre_norm=True, norm_layer=nn.LayerNorm)
    nn.init.zeros_(module.head.bias)
    return module


def dinov2(seed: int) -> nn.Module:
    return vit(seed, reg_tokens=4, no_embed_class=True, num_classes=0)


@pytest.mark.parametrize(
    ("build", "rename"),
    [(swin, original_swin), (clip, original_clip), (dinov2, original_dinov2)],
    ids=lambda f: f.__name__,
)
def test_names_of_the_original_releases(tmp_path, build, rename):
    source, target = build(0), build(1)
    assert load_weights(target, write(tmp_path / "w.pth", rename(source.state_dict()))) == ()
    assert same_weights(source, target)


def test_deit_3_layer_scale(tmp_path):
    options = {"img_size": 64, "embed_dim": 24, "depth": 2, "num_heads": 2, "num_classes": 5}
    source, target = (timm.create_model("deit3_small_patch16_224", **options) for _ in range(2))
    old = {
        name.replace("ls1.gamma", "gamma_1").replace("ls2.gamma", "gamma_2"): t
        for name, t in source.state_dict().items()
    }
    assert load_weights(target, write(tmp_path / "w.pth", {"model": old})) == ()
    assert same_weights(source, target)


def test_a_module_that_timm_did_not_make(tmp_path):
    path = write(tmp_path / "w.pth", nn.Linear(2, 3).state_dict())
    target = nn.Linear(2, 3)
    assert load_weights(target, path) == ()
    assert "does not fit Linear" in refused(nn.Linear(3, 3), path)


# ---------------------------------------------------------------------------------------------- the Hub

NAME = "vit_tiny_patch16_224.augreg_in21k_ft_in1k"
COMMIT = "c" * 40


class FakeHub(BaseHTTPRequestHandler):
    """Serves HEAD and GET of one file as the Hub does; `self.server.hub` says how it behaves."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: object) -> None:
        pass

    def _answer(self, with_body: bool) -> None:
        hub = self.server.hub
        hub.requests.append((self.command, self.path, self.headers.get("Range")))
        if hub.status != 200:
            self.send_response(hub.status)
            self.send_header("X-Error-Code", hub.error_code)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if not self.path.endswith("/" + hub.file):
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        start = int(self.headers["Range"].split("=")[1].split("-")[0]) if self.headers.get("Range") else 0
        self.send_response(206 if start else 200)
        self.send_header("ETag", f'"{hub.etag}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Content-Length", str(len(hub.data) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(hub.data) - 1}/{len(hub.data)}")
        self.end_headers()
        if with_body:
            stop = len(hub.data) if hub.breaks == 0 else min(len(hub.data), start + hub.breaks_after)
            self.wfile.write(hub.data[start:stop])
            if stop < len(hub.data):
                hub.breaks -= 1
                self.close_connection = True

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)


@pytest.fixture
def hub(tmp_path, monkeypatch) -> Iterator[SimpleNamespace]:
    """A hub on this machine, and a cache of its own."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), FakeHub)
    data = os.urandom(300_000)
    server.hub = SimpleNamespace(
        data=data,
        etag=hashlib.sha256(data).hexdigest(),
        file="model.safetensors",
        status=200,
        error_code="",
        breaks=0,
        breaks_after=100_000,
        requests=[],
        url=f"http://127.0.0.1:{server.server_port}",
        cache=tmp_path / "hub",
    )
    constants = huggingface_hub.constants
    monkeypatch.setattr(constants, "ENDPOINT", server.hub.url)
    monkeypatch.setattr(
        constants, "HUGGINGFACE_CO_URL_TEMPLATE", server.hub.url + "/{repo_id}/resolve/{revision}/{filename}"
    )
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(server.hub.cache))
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 10_000)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.file_download.time, "sleep", lambda seconds: None)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server.hub
    server.shutdown()
    server.server_close()
    thread.join()


def test_download_reports_bytes_and_is_cached(hub):
    assert pretrained_state(NAME) == PretrainedState("download", 5_717_416 * 4 / 1e6)
    seen = []
    path = download_pretrained(NAME, progress=lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == hub.data
    assert path.is_relative_to(hub.cache)
    assert seen[0] == (0, 300_000)
    assert seen[-1] == (300_000, 300_000)
    assert len(seen) > 10
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert pretrained_state(NAME) == PretrainedState("cached", 0.3)
    hub.requests.clear()
    assert download_pretrained(NAME) == path
    assert hub.requests == []  # what is cached needs no network


def test_timm_itself_finds_the_file_afterwards(hub, monkeypatch, tmp_path):
    source = timm.create_model("vit_tiny_patch16_224", depth=12)
    hub.data = safetensors.torch.save(source.state_dict())
    hub.etag = hashlib.sha256(hub.data).hexdigest()
    download_pretrained(NAME)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    assert same_weights(timm.create_model(NAME, pretrained=True, cache_dir=hub.cache), source)


def test_a_broken_connection_is_resumed_where_it_broke(hub):
    hub.breaks = 2
    seen = []
    path = download_pretrained(NAME, progress=lambda done, total: seen.append(done))
    assert path.read_bytes() == hub.data
    ranges = [span for command, _, span in hub.requests if command == "GET"]
    assert ranges == [None, "bytes=100000-", "bytes=200000-"]
    assert seen[-1] == 300_000


def test_a_connection_that_keeps_breaking_is_a_sentence_and_leaves_nothing(hub):
    hub.breaks, hub.breaks_after = 100, 0
    with pytest.raises(DownloadError, match="could not be fetched"):
        download_pretrained(NAME)
    assert not [path for path in hub.cache.rglob("*") if path.is_file() and path.stat().st_size > 1000]
    hub.breaks = 0
    assert download_pretrained(NAME).read_bytes() == hub.data


def test_the_old_file_name_is_tried_after_safetensors(hub):
    hub.file = "pytorch_model.bin"
    assert download_pretrained(NAME).name == "pytorch_model.bin"
    assert pretrained_state(NAME).kind == "cached"


def test_a_damaged_file_does_not_stay_in_the_cache(hub):
    hub.etag = "0" * 64
    with pytest.raises(DownloadError, match="arrived damaged"):
        download_pretrained(NAME)
    assert pretrained_state(NAME).kind == "download"


class StopError(Exception):
    pass


def test_an_error_of_the_progress_ends_the_download(hub):
    def stop(done: int, total: int) -> None:
        if done > 50_000:
            raise StopError

    with pytest.raises(StopError):
        download_pretrained(NAME, progress=stop)
    assert pretrained_state(NAME).kind == "download"


def test_a_disk_that_is_full_before(hub, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=1000))
    with pytest.raises(DownloadError, match="no room for the weights"):
        download_pretrained(NAME)


def test_a_disk_that_fills_up_on_the_way(hub, monkeypatch):
    def http_get(url, file, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(huggingface_hub.file_download, "http_get", http_get)
    with pytest.raises(DownloadError, match="no room for the weights"):
        download_pretrained(NAME)


@pytest.mark.parametrize(
    ("status", "code", "sentence"),
    [
        (404, "RepoNotFound", "no public weights"),
        (404, "RevisionNotFound", "no public weights"),
        (403, "GatedRepo", "behind a licence"),
        (500, "", "answered error 500"),
        (429, "", "answered error 429"),
    ],
)
def test_what_the_hub_answers_becomes_a_sentence(hub, status, code, sentence):
    hub.status, hub.error_code = status, code
    with pytest.raises(DownloadError, match=sentence) as caught:
        download_pretrained(NAME)
    assert NAME in caught.value.text.zh
    assert "\n" not in str(caught.value)


def test_a_repository_without_weights(hub):
    hub.file = "nothing.txt"
    with pytest.raises(DownloadError, match="no weight file"):
        download_pretrained(NAME)


def test_no_network_is_one_sentence_that_says_what_to_do(hub, monkeypatch):
    closed = "http://127.0.0.1:9"
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", closed)
    monkeypatch.setattr(
        huggingface_hub.constants, "HUGGINGFACE_CO_URL_TEMPLATE", closed + "/{repo_id}/resolve/{revision}/{filename}"
    )
    with pytest.raises(DownloadError) as caught:
        download_pretrained(NAME)
    assert f"could not be fetched from {closed}/timm/{NAME}" in str(caught.value)
    assert "bundled model" in str(caught.value)
    assert "model.safetensors" in str(caught.value)


def test_names_without_weights():
    for name in (
        "vit_giant_patch14_224",
        "vit_tiny_patch16_224.no_such_tag",
        "no_such_model",
        "scenes_vit_patch16_192",
    ):
        assert pretrained_state(name) == PretrainedState("none", None)
        with pytest.raises(DownloadError, match="no weights on the Hub"):
            download_pretrained(name)


@pytest.mark.parametrize("offline", [later(False), later(True)])
def test_environment_variables_are_honoured(hub, tmp_path, offline):
    """HF_ENDPOINT and HF_HOME are read when huggingface_hub is imported, so this needs a process of its own."""
    script = (
        "from vitexplorer.models.weights import download_pretrained, pretrained_state\n"
        f"print(download_pretrained({NAME!r}))\n"
    )
    environment = {**os.environ, "HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home"), "OMP_NUM_THREADS": "1"}
    environment["HF_HUB_OFFLINE"] = "1" if offline else "0"
    command, root = [sys.executable, "-c", script], ROOT
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=root, check=False)
    if offline:
        assert "HF_HUB_OFFLINE forbids fetching them" in done.stderr
        assert hub.requests == []
    else:
        assert done.returncode == 0, done.stderr
        assert Path(done.stdout.strip()).read_bytes() == hub.data
        assert Path(done.stdout.strip()).is_relative_to(tmp_path / "home" / "hub")


def test_a_wrapping_that_holds_itself_is_no_weights(tmp_path):
    wrapped: dict = {}
    wrapped["model"] = wrapped
    torch.save(wrapped, tmp_path / "cycle.pth")
    with pytest.raises(WeightsError, match="holds no weights"):
        read_state_dict(tmp_path / "cycle.pth")


def test_a_name_too_long_for_a_file_is_no_file(tmp_path):
    with pytest.raises(WeightsError, match="There is no file"):
        read_state_dict(tmp_path / ("a" * 300 + ".pth"))
