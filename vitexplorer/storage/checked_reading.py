"""Checked reading of this program's own files; a damaged one raises BrokenFileError with its name and a remedy.

Disks fill up, copies break off, people edit by hand. Sizes are checked first, so that a header which claims more than
its file holds costs no memory. safetensors get a checksum beside the tensors; JSON and zip show damage by themselves.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError
from safetensors import SafetensorError, safe_open

from vitexplorer.core.text import ExplainedError, Text

T = TypeVar("T")

Count = Annotated[int, Field(ge=0, le=2**53)]
"""A count in a file"""
Amount = Annotated[float, Field(ge=0, le=1e15)]
"""Seconds or bytes in a file; finite"""

_MOST_HEADER = 1 << 23
"""Largest header in bytes; the names of ImageNet-21k's classes and a thousand tensors take a seventh of it"""
_MOST_TIMES = 1000
"""Largest ratio of an .npz unpacked to its file"""
_CHECKSUM = "crc32"


class BrokenFileError(ExplainedError):
    """Raised for a file with the wrong content; the message names it and says what can still be done."""


NOTHING = Text("", "")
_BROKEN = Text("{name} cannot be read: {why}. {remedy}", "无法读取 {name}：{why}。{remedy}")
_UNREADABLE = Text("it is damaged or cut off", "文件已损坏或不完整")
_MISSING = Text("{field} is missing", "缺少 {field}")
_WRONG = Text("{field} is not what it must be", "{field} 不符合要求")
_LARGE = Text("it claims to contain more than it does", "文件声明的内容多于实际内容")
_WHOLE = Text("its content", "内容")


def broken(path: str | os.PathLike, why: Text = _UNREADABLE, remedy: Text = NOTHING) -> BrokenFileError:
    """Make the error for a file, which it names together with its folder."""
    message = _BROKEN.format(name="/".join(Path(path).parts[-2:]), why=why, remedy=remedy)
    return BrokenFileError(Text(message.en.strip(), message.zh.strip()))


# ---------------------------------------------------------------------------------------------- JSON


@cache
def _adapter(kind: Any) -> TypeAdapter:
    return TypeAdapter(kind)


def parsed(kind: type[T], content: str | bytes, path: str | os.PathLike, remedy: Text = NOTHING) -> T:
    """Read a record from JSON, which must hold every field and no other.

    Args:
        kind: a dataclass, its checks included, or anything pydantic can build.
        content: content of the file.
        path: the file's path, for the message.
        remedy: a sentence on what can still be done.

    Raises:
        BrokenFileError: the content is damaged or does not fit.
    """
    try:
        return _adapter(kind).validate_json(content, extra="forbid")
    except ValidationError as error:
        raise broken(path, _why(error), remedy) from error


def checked(
    kind: type[T],
    value: Any,
    path: str | os.PathLike,
    remedy: Text = NOTHING,
    extra: Literal["forbid", "ignore"] = "forbid",
) -> T:
    """Build a record from a part of a file that is parsed already; as `parsed`, but `extra` fields may be ignored."""
    try:
        return _adapter(kind).validate_python(value, extra=extra)
    except ValidationError as error:
        raise broken(path, _why(error), remedy) from error


def _why(error: ValidationError) -> Text:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    field = ".".join(map(str, first["loc"]))
    if first["type"] == "json_invalid":
        return _UNREADABLE
    template = _MISSING if first["type"] == "missing" else _WRONG
    return template.format(field=field or _WHOLE)


# ---------------------------------------------------------------------------------------------- numpy


def read_arrays(path: Path, names: Iterable[str], remedy: Text = NOTHING) -> dict[str, np.ndarray]:
    """Read arrays of numbers from an .npz; BrokenFileError also for one that is missing or not numeric."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as npz:  # numpy leaves a broken one open
            unpacked = sum(entry.file_size for entry in npz.zip.infolist())
            if unpacked > _MOST_TIMES * path.stat().st_size:
                raise broken(path, _LARGE, remedy)
            arrays = {name: npz[name] for name in names}
    except BrokenFileError:
        raise
    except Exception as error:  # zipfile and numpy meet a broken file with a dozen kinds of error
        raise broken(path, _UNREADABLE, remedy) from error
    for name, array in arrays.items():
        if array.dtype.kind not in "fiu":
            raise broken(path, _WRONG.format(field=name), remedy)
    return arrays


# ---------------------------------------------------------------------------------------------- safetensors


@dataclass(frozen=True)
class Header:
    """Header of a safetensors file: shapes and metadata, without the tensors."""

    shapes: Mapping[str, tuple[int, ...]]
    metadata: Mapping[str, str]
    """Texts by key"""


def read_header(path: str | os.PathLike, remedy: Text = NOTHING) -> Header:
    """Read the header of a safetensors file; BrokenFileError for any other file and for a header that is too large."""
    try:
        with open(path, "rb") as file:
            if int.from_bytes(file.read(8), "little") > _MOST_HEADER:
                raise broken(path, _LARGE, remedy)
        with safe_open(path, framework="numpy") as file:
            shapes = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118 (no mapping)
            return Header(shapes, file.metadata() or {})
    except (SafetensorError, OSError, ValueError) as error:
        if isinstance(error, BrokenFileError):
            raise
        raise broken(path, _UNREADABLE, remedy) from error


def read_tensors(path: Path, remedy: Text = NOTHING) -> tuple[dict[str, Any], Mapping[str, str]]:
    """Read torch tensors and the metadata beside them.

    A file without a checksum, from an earlier version or another program, is accepted.

    Returns:
        The tensors by name, and the metadata.

    Raises:
        BrokenFileError: the file is damaged, or a number differs from what was saved.
    """
    from safetensors.torch import load_file

    metadata = read_header(path, remedy).metadata
    try:
        tensors = load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise broken(path, _UNREADABLE, remedy) from error
    if metadata.get(_CHECKSUM, "") not in ("", checksum(tensors, metadata)):
        raise broken(path, _UNREADABLE, remedy)
    return tensors, metadata


def save_tensors(tensors: Mapping[str, Any], path: Path, metadata: Mapping[str, str]) -> None:
    """Write torch tensors with metadata and the checksum that `read_tensors` compares."""
    from safetensors.torch import save_file

    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    save_file(plain, path, {**metadata, _CHECKSUM: checksum(plain, metadata)})


def checksum(tensors: Mapping[str, Any], metadata: Mapping[str, str]) -> str:
    """Compute the CRC-32 of metadata, names and numbers; it finds accidents, not attacks."""
    import torch

    crc = zlib.crc32(repr(sorted((key, text) for key, text in metadata.items() if key != _CHECKSUM)).encode())
    for name in sorted(tensors):
        crc = zlib.crc32(name.encode(), crc)
        crc = zlib.crc32(tensors[name].reshape(-1).view(torch.uint8).numpy(), crc)
    return f"{crc:08x}"
