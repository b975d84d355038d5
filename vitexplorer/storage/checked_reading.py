"""The one place that reads back what this program wrote: each file is held against what it must hold before anybody
believes it, and what is wrong becomes a sentence that names the file and says what can still be done.

A disk fills up, a copy breaks off, a hand edits. Sizes are looked at first: a header that claims more than its file
holds costs no memory. safetensors keep a checksum of their numbers beside them, as JSON and zip show by themselves
that they are damaged and a tensor does not.
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
"""of things, in a file"""
Amount = Annotated[float, Field(ge=0, le=1e15)]
"""seconds or bytes, in a file; finite"""

_MOST_HEADER = 1 << 23
"""bytes; the names of ImageNet-21k's classes and a thousand tensors are a seventh of it"""
_MOST_TIMES = 1000
"""that a compressed array of ours may unpack to its file's size"""
_CHECKSUM = "crc32"


class BrokenFileError(ExplainedError):
    """A file that does not hold what it must; the message names it and says what can still be done."""


NOTHING = Text("", "")
_BROKEN = Text("{name} cannot be read: {why}. {remedy}", "无法读取 {name}：{why}。{remedy}")
_UNREADABLE = Text("it is damaged or cut off", "文件已损坏或不完整")
_MISSING = Text("{field} is missing", "缺少 {field}")
_WRONG = Text("{field} is not what it must be", "{field} 不符合要求")
_LARGE = Text("it claims to hold more than it does", "其声明的内容多于实际内容")
_WHOLE = Text("its content", "内容")


def broken(path: str | os.PathLike, why: Text = _UNREADABLE, remedy: Text = NOTHING) -> BrokenFileError:
    """The error for a file, called by its own name and its folder's."""
    said = _BROKEN.format(name="/".join(Path(path).parts[-2:]), why=why, remedy=remedy)
    return BrokenFileError(Text(said.en.strip(), said.zh.strip()))


# ---------------------------------------------------------------------------------------------- JSON


@cache
def _adapter(kind: Any) -> TypeAdapter:
    return TypeAdapter(kind)


def parsed(kind: type[T], content: str | bytes, path: str | os.PathLike, remedy: Text = NOTHING) -> T:
    """A record of this kind from JSON; nothing may be missing, and nothing be there that it does not know.

    Args:
        kind: a dataclass, its checks included, or anything pydantic can build.
        content: of the file.
        path: how the file is called in the message.
        remedy: a sentence, what can still be done.

    Raises BrokenFileError.
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
    """The same for a part of a file that is parsed already; `extra`: whether it may hold more than is known."""
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
    """Arrays of numbers from an .npz. Raises BrokenFileError, also where one is missing or is no number."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as kept:  # numpy leaves a broken one open
            unpacked = sum(entry.file_size for entry in kept.zip.infolist())
            if unpacked > _MOST_TIMES * path.stat().st_size:
                raise broken(path, _LARGE, remedy)
            found = {name: kept[name] for name in names}
    except BrokenFileError:
        raise
    except Exception as error:  # zipfile and numpy meet a broken file with a dozen kinds of error
        raise broken(path, _UNREADABLE, remedy) from error
    for name, array in found.items():
        if array.dtype.kind not in "fiu":
            raise broken(path, _WRONG.format(field=name), remedy)
    return found


# ---------------------------------------------------------------------------------------------- safetensors


@dataclass(frozen=True)
class Header:
    """What a safetensors file says of itself; none of its numbers is read."""

    shapes: Mapping[str, tuple[int, ...]]
    said: Mapping[str, str]
    """texts by key"""


def read_header(path: str | os.PathLike, remedy: Text = NOTHING) -> Header:
    """The header of a safetensors file. Raises BrokenFileError for what is none, or has one that is far too large."""
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
    """Tensors of torch and the texts beside them. Raises BrokenFileError, also where a number is not as it was saved.

    A file without a checksum, of an earlier version or of somebody else, is believed.
    """
    from safetensors.torch import load_file

    said = read_header(path, remedy).said
    try:
        tensors = load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise broken(path, _UNREADABLE, remedy) from error
    if said.get(_CHECKSUM, "") not in ("", checksum(tensors, said)):
        raise broken(path, _UNREADABLE, remedy)
    return tensors, said


def save_tensors(tensors: Mapping[str, Any], path: Path, said: Mapping[str, str]) -> None:
    """Write tensors of torch with texts beside them and a checksum, as `read_tensors` wants them."""
    from safetensors.torch import save_file

    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    save_file(plain, path, {**said, _CHECKSUM: checksum(plain, said)})


def checksum(tensors: Mapping[str, Any], said: Mapping[str, str]) -> str:
    """CRC-32 of all texts, names and numbers: chance is noticed, an intention is not meant to be."""
    import torch

    found = zlib.crc32(repr(sorted((key, text) for key, text in said.items() if key != _CHECKSUM)).encode())
    for name in sorted(tensors):
        found = zlib.crc32(name.encode(), found)
        found = zlib.crc32(tensors[name].reshape(-1).view(torch.uint8).numpy(), found)
    return f"{found:08x}"
