"""Reading of a weight file into a plain dictionary of tensors, without running code from it.

Weight files are untrusted. A `.pth` is a pickle, a small program that can do anything while it is loaded;
`torch.load(weights_only=True)` allows only tensors and containers. Two attacks remain and are checked here: a tensor
can claim a thousand times the numbers that the file holds (a stride of 0), and an archive can be compressed.

Published files wrap the same tensors in different ways; `read_state_dict` unwraps them:

=========================  ==========================================================================
DeiT, Swin, MAE, BEiT      {"model": ...}
DINO                       {"teacher": {"module.backbone.*", "module.head.*"}, "student": ...}
timm training              {"state_dict": ..., "state_dict_ema": ...}, {"model_ema": ...}
Lightning                  {"state_dict": {"model.*"}}
compiled or parallel       every name begins with "_orig_mod." or "module."
=========================  ==========================================================================
"""

from __future__ import annotations

import argparse
import os
import pickle
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from vitexplorer.core.text import ExplainedError, Text
from vitexplorer.storage.checked_reading import BrokenFileError, read_tensors

SUFFIXES = (".safetensors", ".pth", ".pt", ".bin", ".ckpt", ".tar")

# In order of preference: averaged weights before those of the last step, DINO's teacher before its student.
_WRAPPERS = ("state_dict_ema", "model_ema", "teacher", "state_dict", "model", "module", "encoder", "student")
_MOST_WRAPPINGS = 8
MOST_CLASSES = 100_000
"""Most outputs of a classifier in a file; ImageNet-21k has a fifth of that"""
_LEAST_WIDTH = 8
"""Fewest numbers in a file for each output of its classifier"""
_PREFIXES = ("module.", "_orig_mod.", "backbone.", "model.", "teacher.", "student.")
# The projection head of DINO's and iBOT's training is not the model's classifier.
_PROJECTION_HEAD = re.compile(r"(module\.)?(head\.(mlp|last_layer)|dino_head|ibot_head)\.")


class WeightsError(ExplainedError):
    """Raised for a weight file that cannot be read or does not fit; `text` has the message in both languages."""


def read_state_dict(path: str | Path) -> dict[str, Tensor]:
    """Read the tensors of a weight file by name, on the CPU, in the file's own types; run no code of the file.

    Reads `.safetensors` and, through `torch.load(weights_only=True)`, `.pth`, `.pt`, `.bin`, `.ckpt` and `.tar`. The
    wrappings above are removed from the names; DINO's projection head is dropped.

    Raises:
        WeightsError: the file is missing, empty, truncated or of another kind, its pickle asks for code, its tensors
            are larger than the file, or it has none.
    """
    return without_prefixes(named_tensors(path))


def named_tensors(path: str | Path) -> dict[str, Tensor]:
    """Read tensors as `read_state_dict` does, but with unchanged names; the file may be one shard of a model.

    Raises:
        WeightsError: the file cannot be read, see `read_state_dict`.
    """
    path = Path(path)
    _check_file(path)
    contents = _read_safetensors(path) if path.suffix.lower() == ".safetensors" else _read_pickle(path)
    tensors = _unwrapped(contents, path)
    _check_tensors(tensors, path)
    return tensors


def count_classes(state_dict: Mapping[str, Tensor]) -> int:
    """Return the number of outputs of the classifier in a state dict; 0 for a backbone alone (DINO, MAE)."""
    for name in ("head.weight", "head.fc.weight", "fc.weight", "visual.head.proj.weight"):
        if name in state_dict and state_dict[name].ndim == 2:
            return state_dict[name].shape[0]
    projection = state_dict.get("visual.proj")  # CLIP keeps it transposed
    return projection.shape[1] if projection is not None and projection.ndim == 2 else 0


def check_classes(classes: int, state_dict: Mapping[str, Tensor], path: str | Path) -> None:
    """Check that a file of these tensors can have so many classes, before a model is built for them.

    Raises:
        WeightsError: there are too many.
    """
    numbers = sum(tensor.numel() for tensor in state_dict.values())
    if classes > min(MOST_CLASSES, numbers / _LEAST_WIDTH):
        raise _larger_than_file(Path(path), f"num_classes {classes}")


_NO_FILE = Text("There is no file {path}.", "文件 {path} 不存在。")
_FOLDER = Text("{path} is a folder; choose the weight file in it.", "{path} 是文件夹；请选择其中的权重文件。")
_OTHER_KIND = Text(
    "{name} is not a weight file that can be read here: expected one of {suffixes}.",
    "无法读取 {name}：权重文件的扩展名应为 {suffixes} 之一。",
)
_EMPTY = Text("{name} is empty.", "{name} 是空文件。")
_POINTER = Text(
    "{name} is a Git LFS pointer, a few lines that stand for the weights; download the file itself.",
    "{name} 只是 Git LFS 指针（几行文字），并不是权重本身；请下载真正的文件。",
)
_PAGE = Text(
    "{name} is a web page, not weights; open the address in a browser and save the file itself.",
    "{name} 是网页而不是权重；请在浏览器中打开该地址并保存文件本身。",
)
_UNREADABLE = Text(
    "{name} cannot be read: it is truncated, damaged or not a weight file. Download or save it again.",
    "无法读取 {name}：文件不完整、已损坏或不是权重文件。请重新下载或保存。",
)
_PROGRAM = Text(
    "{name} is a TorchScript archive, as CLIP's own files are: it holds a program, which is not run here. Save its"
    " tensors alone: torch.save(torch.jit.load(path).state_dict(), ...), where you trust it.",
    "{name} 是 TorchScript 归档文件（CLIP 官方文件即是如此）：其中有程序，此处不会执行。如果您信任它，请只保存其张量："
    "torch.save(torch.jit.load(path).state_dict(), ...)。",
)
_CODE = Text(
    "{name} was refused: loading it would run code{names}. Save only the tensors, as .safetensors or with"
    " torch.save(model.state_dict(), ...).",
    "已拒绝 {name}：加载它会执行代码{names}。请只保存张量：存为 .safetensors，或使用"
    " torch.save(model.state_dict(), ...)。",
)
_LARGER = Text(
    "{name} was refused: {entry} declares more numbers than the file holds.",
    "已拒绝 {name}：{entry} 声明的数据多于文件实际包含的数据。",
)
_NO_TENSORS = Text("{name} holds no weights: no named tensors were found.", "{name} 中没有权重：未找到带名称的张量。")
_ODD_TENSOR = Text(
    "{file}: {name} is not an ordinary tensor (sparse, quantised, complex or without data).",
    "{file}：{name} 不是普通张量（稀疏、量化、复数或没有数据）。",
)


def _check_file(path: Path) -> None:
    if not os.path.exists(path):  # False for a name too long for any file
        raise WeightsError(_NO_FILE.format(path=path))
    if path.is_dir():
        raise WeightsError(_FOLDER.format(path=path))
    if path.suffix.lower() not in SUFFIXES:
        raise WeightsError(_OTHER_KIND.format(name=path.name, suffixes=", ".join(SUFFIXES)))
    if path.stat().st_size == 0:
        raise WeightsError(_EMPTY.format(name=path.name))
    with path.open("rb") as file:
        beginning = file.read(64).lstrip()
    if beginning.startswith(b"version https://git-lfs"):
        raise WeightsError(_POINTER.format(name=path.name))
    if beginning.startswith(b"<"):
        raise WeightsError(_PAGE.format(name=path.name))


def _read_safetensors(path: Path) -> dict[str, Tensor]:
    try:
        return read_tensors(path)[0]
    except BrokenFileError as error:
        raise unreadable(path) from error


def _read_pickle(path: Path) -> object:
    if zipfile.is_zipfile(path):
        _check_archive(path)
    try:
        with torch.serialization.safe_globals([argparse.Namespace]):  # MAE and DINO store their arguments too
            return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise _asks_for_code(path) from error
    except Exception as error:  # torch raises EOFError, KeyError, RuntimeError, ... for a broken file
        raise unreadable(path) from error


def _check_archive(path: Path) -> None:
    """Refuse programs and compressed records: torch never compresses, so a record that expands is a zip bomb."""
    try:
        with zipfile.ZipFile(path) as archive:
            records = archive.infolist()
    except zipfile.BadZipFile as error:
        raise unreadable(path) from error
    if any(record.filename.endswith("/constants.pkl") for record in records):
        raise WeightsError(_PROGRAM.format(name=path.name))
    if sum(record.file_size for record in records) > path.stat().st_size:
        raise _larger_than_file(path, "archive")


def unreadable(path: Path) -> WeightsError:
    """Make the error for an incomplete or damaged file."""
    return WeightsError(_UNREADABLE.format(name=path.name))


def _asks_for_code(path: Path) -> WeightsError:
    try:
        names = ", ".join(sorted(torch.serialization.get_unsafe_globals_in_checkpoint(path))[:3])
    except Exception:  # the old format without an archive does not list its globals
        names = ""
    return WeightsError(_CODE.format(name=path.name, names=f" ({names})" if names else ""))


def _larger_than_file(path: Path, entry: str) -> WeightsError:
    return WeightsError(_LARGER.format(name=path.name, entry=entry))


def _unwrapped(contents: object, path: Path) -> dict[str, Tensor]:
    """Return the dictionary of tensors inside the nested wrappings of `contents`."""
    for _ in range(_MOST_WRAPPINGS):
        if not isinstance(contents, Mapping):
            break
        inner = [contents[key] for key in _WRAPPERS if isinstance(contents.get(key), Mapping) and contents[key]]
        if not inner:
            break
        contents = inner[0]
    items = contents.items() if isinstance(contents, Mapping) else ()
    tensors = {name: value.detach() for name, value in items if isinstance(name, str) and isinstance(value, Tensor)}
    if not tensors:
        raise WeightsError(_NO_TENSORS.format(name=path.name))
    return tensors


def _check_tensors(tensors: Mapping[str, Tensor], path: Path) -> None:
    room = path.stat().st_size
    for name, tensor in tensors.items():
        dense = tensor.layout == torch.strided and not (tensor.is_quantized or tensor.is_meta or tensor.is_complex())
        if not dense:
            raise WeightsError(_ODD_TENSOR.format(file=path.name, name=name))
        room -= tensor.numel() * tensor.element_size()
        if room < 0:
            raise _larger_than_file(path, name)


def without_prefixes(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Drop the projection head, then remove every prefix that all names share."""
    if any(_PROJECTION_HEAD.match(name) and "last_layer" in name for name in tensors):
        tensors = {name: tensor for name, tensor in tensors.items() if not _PROJECTION_HEAD.match(name)}
    while shared := [prefix for prefix in _PREFIXES if tensors and all(name.startswith(prefix) for name in tensors)]:
        tensors = {name.removeprefix(shared[0]): tensor for name, tensor in tensors.items()}
    return tensors
