"""A module of timm's from a file that another library may have written, checked before anybody looks at it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from vitexplorer.core.text import Progress, Text, same
from vitexplorer.models.checkpoints import WeightsError, check_classes
from vitexplorer.models.checkpoints.activations import activate
from vitexplorer.models.checkpoints.contents import Contents, read_contents
from vitexplorer.models.checkpoints.facts import Blueprint, Facts
from vitexplorer.models.checkpoints.recognise import recognise
from vitexplorer.models.checkpoints.renaming import COMPUTED, without
from vitexplorer.models.input_size import by
from vitexplorer.models.mae import MaeDecoder, decoder_from, without_decoder
from vitexplorer.models.weights import check_fit

TRANSLATED = Text(
    "Translated from {library}: {used} of {all} tensors{rest}.",
    "由 {library} 的文件转换而来：使用了 {all} 个张量中的 {used} 个{rest}。",
)
_CONTRADICTS = Text(
    "{source} was refused: a model of its sizes ({model}) cannot be made ({why}).",
    "已拒绝 {source}：无法按其中的尺寸建立模型 {model}（{why}）。",
)
_REST = Text("; left out: {some}", "；略去：{some}")
_NOT_FINITE = Text(
    "{source} was refused: run once on a grey image, the model gives {what}.",
    "已拒绝 {source}：用一张灰色图像试运行时，模型输出为{what}。",
)
_STOPS = Text(
    "{source} was refused: run once on a grey image of {size} pixels, the model stops: its sizes do not agree.",
    "已拒绝 {source}：用一张 {size} 像素的灰色图像试运行时，模型中断：其中的尺寸互相矛盾。",
)
_NAN = Text("no finite numbers", "非有限数值")
_LARGE = Text("numbers as large as {most}", "高达 {most} 的数值")
_MOST_OUTPUT = 1e6
"""of any output on a grey image; trained networks stay below a hundred"""


@dataclass(frozen=True)
class Translated:
    """What a file held."""

    name: str
    """of the model"""
    module: nn.Module
    notes: tuple[Text, ...]
    facts: Facts
    decoder: MaeDecoder | None = None
    """of a masked autoencoder, where the file holds one that fits"""


def translated(
    path: str | os.PathLike, build: Callable[..., nn.Module], progress: Progress | None = None
) -> Translated:
    """The module that a file or a folder of weights holds, told from names and shapes alone.

    Args:
        path: of a weight file, of a folder as transformers saves it, or of a zip of one.
        build: makes a module of timm's from the name of an architecture and arguments.
        progress: told how many bytes of a zip are unpacked.

    Raises SeveralFitError where it may be one of several, WeightsError otherwise; each with a sentence.
    """
    contents = read_contents(path, progress)
    found = recognise(contents)
    check_classes(found.arguments["num_classes"], found.tensors, contents.name)
    try:
        module = build(found.entry, **found.arguments, pretrained_cfg_overlay=_overlay(found))
        if found.activation is not None:
            activate(module, found.activation)
        _set_eps(module, found.norm_eps)
    except Exception as error:  # timm meets sizes that do not agree with whatever breaks first
        sizes = {name: size for name, size in found.arguments.items() if isinstance(size, int | float | tuple)}
        why = ", ".join(f"{name} {size}" for name, size in sizes.items() if not isinstance(size, bool))
        raise WeightsError(_CONTRADICTS.format(source=contents.name, model=found.name, why=why)) from error
    check_fit(module, found.tensors, {"source": contents.name, "model": found.name})
    module.load_state_dict(found.tensors)
    decoder = decoder_from(contents.tensors, module)
    facts = found.facts if decoder is None else _with_decoder(found.facts)
    return Translated(found.name, module.eval(), (_told(facts, contents), *facts.notes), facts, decoder)


def _set_eps(module: nn.Module, norm_eps: Mapping[str, float]) -> None:
    for name, part in module.named_modules():
        for pattern, eps in norm_eps.items():
            if isinstance(part, nn.LayerNorm) and re.search(pattern, name):
                part.eps = eps


def _with_decoder(facts: Facts) -> Facts:
    return facts.but(left_out=tuple(without_decoder({name: torch.empty(0) for name in facts.left_out})))


def _overlay(found: Blueprint) -> dict[str, Any]:
    labels = {"label_names": list(found.facts.class_names)} if found.facts.class_names else {}
    return {**_size(found), **found.facts.preprocessing, **labels}


def _size(found: Blueprint) -> dict[str, tuple[int, int, int]]:
    """None of its own where the architecture has one."""
    size = found.arguments.get("img_size", found.facts.image_size)
    if size is None:
        return {}
    height, width = (size, size) if isinstance(size, int) else size
    return {"input_size": (3, height, width)}


def _told(facts: Facts, contents: Contents) -> Text:
    left_out, all_of_them = facts.left_out, len(without(contents.tensors, COMPUTED)[0])
    some = ", ".join(left_out[:3]) + (", ..." if len(left_out) > 3 else "")
    rest = _REST.format(some=some) if left_out else same("")
    return TRANSLATED.format(library=facts.library, used=all_of_them - len(left_out), all=all_of_them, rest=rest)


@torch.no_grad()
def check_run(module: nn.Module, source: str) -> None:
    """One pass over an even image: shapes that agree by chance, and numbers that no training leaves, show here.

    Raises WeightsError, calling the file `source`.
    """
    channels, height, width = module.pretrained_cfg["input_size"]
    try:
        output = module(torch.zeros(1, channels, height, width, device=next(module.parameters()).device))
    except Exception as error:  # shapes that meet for the first time: an assertion of timm's, or whatever breaks
        raise WeightsError(_STOPS.format(source=source, size=by((height, width)))) from error
    if not torch.isfinite(output).all():
        raise WeightsError(_NOT_FINITE.format(source=source, what=_NAN))
    if (most := float(output.abs().max())) > _MOST_OUTPUT:
        raise WeightsError(_NOT_FINITE.format(source=source, what=_LARGE.format(most=f"{most:.3g}")))
