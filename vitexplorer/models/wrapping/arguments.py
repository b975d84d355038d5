"""Checks of the arguments of `wrap` before anything runs: the module itself, sizes, colours, labels."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

from torch import nn
from torch.nn.parallel import DataParallel, DistributedDataParallel
from torch.optim.swa_utils import AveragedModel

from vitexplorer.core.text import SettingError, Text
from vitexplorer.core.types import Size
from vitexplorer.models.input_size import LARGEST, sides

_AROUND = (DataParallel, DistributedDataParallel, AveragedModel)
"""Wrappers that hold the model as their `module`"""
_SHARDED = ("FullyShardedDataParallel", "FSDPModule")
"""Class names, since importing the classes is slow"""
_NO_MODULE = Text(
    "vx.wrap takes a torch.nn.Module that can be called with images; this is {given}. {remedy}",
    "`vx.wrap` 需要一个以图像为输入的 `torch.nn.Module`，而给出的是{given}。{remedy}",
)
_CLASS = (
    Text("the class {name}, not an instance of it", "类 {name}，而不是它的实例"),
    Text("Create one and load its weights first.", "请先创建实例并加载权重。"),
)
_STATE = (
    Text("a dictionary, perhaps a state dict", "字典，可能是模型的状态字典"),
    Text(
        "Load it into its module with load_state_dict and wrap that, or open its file with load_model(weights=...).",
        "请用 load_state_dict 将其载入模块后再包装，或用 load_model(weights=...) 打开其文件。",
    ),
)
_PATH = (
    Text("text or a path, {name}", "文本或路径 {name}"),
    Text("Open a file with load_model(weights=...).", "请用 load_model(weights=...) 打开文件。"),
)
_OTHER = (
    Text("of the type {name}", "类型 {name}"),
    Text("Give the module whose forward it calls.", "请给出它所调用的模块。"),
)
_SHARDS = Text(
    "{name} holds its parameters in shards (FSDP): gather them in one plain module and wrap that.",
    "{name} 的参数是分片存放的（`FSDP`）：请先汇集到一个普通模块中，再进行包装。",
)
_EMPTY = Text(
    "{name} has no parameters, or some without numbers (on the meta device): load its weights first.",
    "{name} 没有参数，或有参数没有数值（位于 `meta` 设备）：请先加载权重。",
)
_COUNT = Text(
    "{word}= is a whole number from {least} on, not {given}.", "{word}= 应为不小于 {least} 的整数，而不是 {given}。"
)
_SIZE = Text(
    "image_size= is a number of pixels from 1 to {largest}, or (height, width), not {given}.",
    "image_size= 应为 1 到 {largest} 的像素数或（高，宽），而不是 {given}。",
)
_PATCH = Text(
    "patch_size= is at most the shorter side of the images, {side} pixels, not {given}.",
    "patch_size= 应不大于图像的短边（{side} 像素），而不是 {given}。",
)
_BLOCKS = Text(
    "blocks= is the name of what holds the blocks, or a list of the blocks' names, each once; not {given}.",
    "blocks= 应为存放各块的部分的名称，或各块名称的列表（不重复），而不是 {given}。",
)
_COLOUR = Text(
    "{word}= is three finite numbers, of red, green and blue in 0-1{more}, not {given}.",
    "{word}= 应为三个有限的数，对应 0-1 范围内的红、绿、蓝{more}，而不是 {given}。",
)
_POSITIVE = Text(", each above 0", "，且均大于 0")
_NAMES = Text(
    "labels= is a list of texts, one for each output, not {given}.",
    "labels= 应为文本列表，每个输出一个，而不是 {given}。",
)


def module_in(given: Any) -> nn.Module:
    """Return the plain module inside wrappers for several devices, averaging or compiling.

    Raises:
        SettingError: `given` is not a module, or its parameters are missing.
    """
    if not isinstance(given, nn.Module):
        description, remedy = _not_a_module(given)
        raise SettingError(_NO_MODULE.format(given=description.format(name=_name(given)), remedy=remedy))
    if any(kind.__name__ in _SHARDED for kind in type(given).__mro__):
        raise SettingError(_SHARDS.format(name=type(given).__name__))
    inner = given.module if isinstance(given, _AROUND) else getattr(given, "_orig_mod", None)  # set by torch.compile
    if isinstance(inner, nn.Module):
        return module_in(inner)
    parameters = list(given.parameters())
    if not parameters or any(parameter.is_meta for parameter in parameters):
        raise SettingError(_EMPTY.format(name=type(given).__name__))
    return given


def _not_a_module(given: Any) -> tuple[Text, Text]:
    if isinstance(given, type):
        return _CLASS
    if isinstance(given, Mapping):
        return _STATE
    return _PATH if isinstance(given, str | os.PathLike) else _OTHER


def _name(given: Any) -> str:
    if isinstance(given, type):
        return given.__name__
    return repr(os.fspath(given)) if isinstance(given, str | os.PathLike) else type(given).__name__


def size_in(given: Any) -> Size:
    """Return height and width of the images.

    Raises:
        SettingError: `given` is not a size, or out of range.
    """
    size = sides(given, "image_size")
    if not all(1 <= side <= LARGEST for side in size) or isinstance(given, bool):
        raise SettingError(_SIZE.format(largest=LARGEST, given=repr(given)))
    return size


def check_counts(size: Size, patch_size: Any, num_prefix_tokens: Any) -> None:
    """Check the patch size and the number of prefix tokens, each if stated.

    Raises:
        SettingError: one is not a whole number or out of range.
    """
    for word, given, least in (("patch_size", patch_size, 1), ("num_prefix_tokens", num_prefix_tokens, 0)):
        is_count = isinstance(given, Integral) and not isinstance(given, bool) and given >= least
        if given is not None and not is_count:
            raise SettingError(_COUNT.format(word=word, least=least, given=repr(given)))
    if patch_size is not None and patch_size > min(size):
        raise SettingError(_PATCH.format(side=min(size), given=repr(patch_size)))


def check_blocks(given: Any) -> None:
    """Check that `given` is None, a name, or a list of different names.

    Raises:
        SettingError: it is none of these.
    """
    names = [given] if isinstance(given, str) else given
    are_names = isinstance(names, Sequence) and all(isinstance(name, str) and name for name in names)
    if given is not None and not (are_names and 0 < len(names) == len(set(names))):
        raise SettingError(_BLOCKS.format(given=repr(given)))


def colours_in(given: Any, word: str, is_positive: bool = False) -> tuple[float, ...] | None:
    """Return the mean or the standard deviation of three colours; None if it is not stated.

    Raises:
        SettingError: `given` is not three finite numbers, above 0 if `is_positive`.
    """
    if given is None:
        return None
    try:
        colours = tuple(map(float, given)) if isinstance(given, Iterable) and not isinstance(given, str) else ()
    except (TypeError, ValueError):
        colours = ()
    if len(colours) != 3 or not all(math.isfinite(value) and (value > 0 or not is_positive) for value in colours):
        more = _POSITIVE if is_positive else Text("", "")
        raise SettingError(_COLOUR.format(word=word, more=more, given=repr(given)))
    return colours


def labels_in(given: Any) -> tuple[str, ...]:
    """Return the names of the outputs.

    Raises:
        SettingError: `given` is not a list of texts.
    """
    is_list = isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)
    labels = tuple(given) if is_list else (None,)
    if not all(isinstance(label, str) for label in labels):
        raise SettingError(_NAMES.format(given=repr(given)))
    return labels
