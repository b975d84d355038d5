"""Contents of a weight file or folder: tensors, and the configuration beside them.

transformers writes `config.json`, `preprocessor_config.json` and the weights: one file, or several with an index.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vitexplorer.core.text import Progress, Text
from vitexplorer.models.checkpoints.dino_txt_files import are_of_dino_txt, whole_model
from vitexplorer.models.checkpoints.files import (
    SUFFIXES,
    WeightsError,
    named_tensors,
    read_state_dict,
    without_prefixes,
)
from vitexplorer.models.checkpoints.records import Tensors
from vitexplorer.models.checkpoints.zipped import ZIP, unzipped

_WHOLE = ("model.safetensors", "open_clip_model.safetensors", "pytorch_model.bin", "open_clip_pytorch_model.bin")
_INDEX = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
_CONFIG, _PREPROCESSOR = ("config.json", "open_clip_config.json"), "preprocessor_config.json"
_MOST_TEXT = 8 << 20
"""Most bytes of a configuration; the class names of ImageNet-21k take a tenth of that"""

_NO_WEIGHTS = Text(
    "{folder} holds no weights: expected {files}, or one weight file.",
    "{folder} 中没有权重：应有 {files}，或一个权重文件。",
)
_MANY = Text(
    "{folder} holds several weight files ({some}): choose one of them.",
    "{folder} 中有多个权重文件（{some}）：请选择其中一个。",
)
_BAD_TEXT = Text("{file} is not a readable JSON object.", "{file} 不是可读取的 JSON 对象。")
_BAD_INDEX = Text(
    "{file} lists shards that are missing, or tensors that they do not contain ({some}).",
    "{file} 中列出的分片不存在，或分片中没有所列的张量（{some}）。",
)


@dataclass(frozen=True)
class Contents:
    """Tensors under the names of the file, with their configuration."""

    name: str
    """Name of the file or folder, for messages"""
    tensors: Tensors
    config: Mapping[str, Any] = field(default_factory=dict)
    """`config.json`, with `preprocessor_config.json` under "preprocessor"; empty without these files"""


def read_contents(path: str | Path, progress: Progress | None = None) -> Contents:
    """Read a weight file with the configuration beside it, a folder of both, or a zip of such a folder; run no code.

    Raises:
        WeightsError: there are no weights, several weight files, or something cannot be read.
    """
    path = Path(path)
    if path.suffix.lower() == ZIP and path.is_file():
        with unzipped(path, progress) as folder:
            return replace(read_contents(folder), name=path.name)
    if not os.path.isdir(path):  # also for a name too long for any file
        tensors = whole_model(path.parent, [path.name]) if are_of_dino_txt([path.name]) else read_state_dict(path)
        return Contents(path.name, tensors, _config(folder) if (folder := folder_of(path)) else {})
    return Contents(path.name, _tensors_of(path), _config(path))


def _tensors_of(folder: Path) -> Tensors:
    index = next((folder / name for name in _INDEX if (folder / name).is_file()), None)
    if index is not None:
        return _sharded(index)
    names = _weight_files(folder)
    return whole_model(folder, names) if are_of_dino_txt(names) else read_state_dict(_one_file(folder))


def tensors_in(path: str | Path) -> Tensors:
    """Read the tensors of a file, a folder or a zip, under their own names.

    Raises:
        WeightsError: there are no weights, several weight files, or something cannot be read.
    """
    plain = Path(path).suffix.lower() != ZIP and not os.path.isdir(path)
    return read_state_dict(path) if plain else read_contents(path).tensors


def folder_of(path: Path) -> Path | None:
    """Return the folder with a model's configuration: `path` itself, or that of a file to which it belongs.

    It belongs to a file with a usual name, and to one that is alone. None for a zip and any other file.
    """
    if path.is_dir():
        return path
    is_of_configuration = path.name in _WHOLE or _weight_files(path.parent) == [path.name]
    return path.parent if is_of_configuration and path.suffix.lower() != ZIP else None


def _weight_files(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir() if file.suffix.lower() in SUFFIXES and file.is_file())


def _one_file(folder: Path) -> Path:
    for name in _WHOLE:
        if (folder / name).is_file():
            return folder / name
    files = _weight_files(folder)
    if not files:
        raise WeightsError(_NO_WEIGHTS.format(folder=folder.name, files=_WHOLE[0]))
    if len(files) > 1:
        raise WeightsError(_MANY.format(folder=folder.name, some=", ".join(files[:3])))
    return folder / files[0]


def _sharded(index: Path) -> Tensors:
    """Read all tensors that an index lists, each from the file that the index names."""
    places = _json(index).get("weight_map")
    is_valid = isinstance(places, dict) and all(isinstance(name, str) and _is_shard(name) for name in places.values())
    if not is_valid or not places:
        raise WeightsError(_BAD_INDEX.format(file=index.name, some="weight_map"))
    parts = {name: _part(index, name) for name in sorted(set(places.values()))}
    missing = [name for name, part in places.items() if name not in parts[part]]
    extra = [name for part, tensors in parts.items() for name in tensors if places.get(name) != part]
    if missing or extra:
        raise WeightsError(_BAD_INDEX.format(file=index.name, some=", ".join((missing + extra)[:3])))
    return without_prefixes({name: tensor for tensors in parts.values() for name, tensor in tensors.items()})


def _part(index: Path, name: str) -> Tensors:
    if not (index.parent / name).is_file():
        raise WeightsError(_BAD_INDEX.format(file=index.name, some=name))
    return named_tensors(index.parent / name)


def _is_shard(name: str) -> bool:
    return Path(name).name == name and Path(name).suffix in SUFFIXES


def _config(folder: Path) -> dict[str, Any]:
    config = next((_json(folder / name) for name in _CONFIG if (folder / name).is_file()), {})
    if (folder / _PREPROCESSOR).is_file():
        config = {**config, "preprocessor": _json(folder / _PREPROCESSOR)}
    return config


def _json(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MOST_TEXT:
            raise ValueError
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise WeightsError(_BAD_TEXT.format(file=path.name)) from error
    if not isinstance(content, dict):
        raise WeightsError(_BAD_TEXT.format(file=path.name))
    return content
