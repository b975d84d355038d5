"""Translation of a weight file, possibly written by another library, into a checked timm module."""

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
from vitexplorer.models.checkpoints.recognise import recognise
from vitexplorer.models.checkpoints.records import Blueprint, Facts
from vitexplorer.models.checkpoints.renaming import COMPUTED, without
from vitexplorer.models.families import family_of
from vitexplorer.models.family import ModelFamily
from vitexplorer.models.input_size import by
from vitexplorer.models.mae import MaeDecoder, decoder_from, without_decoder
from vitexplorer.models.weights import check_fit

TRANSLATED = Text(
    "Translated from {library}: {used} of {all} tensors{rest}.",
    "由 {library} 的文件转换而来：使用了 {all} 个张量中的 {used} 个{rest}。",
)
_CONTRADICTS = Text(
    "{source} was refused: no {model} can be built with its sizes ({why}).",
    "已拒绝 {source}：无法按其中的尺寸建立模型 {model}（{why}）。",
)
_REST = Text("; left out: {some}", "；略去：{some}")
_NOT_FINITE = Text(
    "{source} was refused: run once on a grey image, the model gives {what}.",
    "已拒绝 {source}：用一幅灰色图像试运行时，模型输出为{what}。",
)
_STOPS = Text(
    "{source} was refused: run once on a grey image of {size} pixels, the model stops: its sizes do not agree.",
    "已拒绝 {source}：用一幅 {size} 像素的灰色图像试运行时，模型中断：其中的尺寸互相矛盾。",
)
_NAN = Text("no finite numbers", "非有限数值")
_LARGE = Text("numbers as large as {most}", "高达 {most} 的数值")
_MOST_OUTPUT = 1e6
"""Largest output accepted on a grey image; trained networks stay below a hundred"""


@dataclass(frozen=True)
class Translated:
    """A module loaded from a file, with what the file says about it."""

    name: str
    """Name of the timm architecture, and of what a file adds to it"""
    module: nn.Module
    family: ModelFamily
    notes: tuple[Text, ...]
    facts: Facts
    decoder: MaeDecoder | None = None
    """Decoder of a masked autoencoder, if the file holds one that fits"""


def translated(
    path: str | os.PathLike, build: Callable[..., nn.Module], progress: Progress | None = None
) -> Translated:
    """Load the module that a file or a folder of weights holds, recognised by names and shapes alone.

    Args:
        path: a weight file, a folder as transformers saves it, or a zip of either.
        build: makes a timm module from the name of an architecture and arguments.
        progress: called with the bytes of a zip that are unpacked.

    Raises:
        SeveralFitError: several architectures fit.
        UnsupportedError: the architecture belongs to no family.
        WeightsError: the file cannot be read, is not recognised, does not fit or gives impossible outputs.
    """
    contents = read_contents(path, progress)
    blueprint = recognise(contents)
    extension = blueprint.facts.extension
    check_classes(blueprint.arguments["num_classes"], blueprint.tensors, contents.name)
    try:
        module = build(blueprint.entry, **blueprint.arguments, pretrained_cfg_overlay=_overlay(blueprint))
        if blueprint.facts.activation is not None:
            activate(module, blueprint.facts.activation)
        _set_eps(module, blueprint.norm_eps)
        if extension is not None:
            extension.add(module)
    except Exception as error:  # timm has no error of its own for contradicting sizes
        sizes = {name: size for name, size in blueprint.arguments.items() if isinstance(size, int | float | tuple)}
        why = ", ".join(f"{name} {size}" for name, size in sizes.items() if not isinstance(size, bool))
        raise WeightsError(_CONTRADICTS.format(source=contents.name, model=blueprint.name, why=why)) from error
    check_fit(module, blueprint.tensors, {"source": contents.name, "model": blueprint.name})
    module.load_state_dict(blueprint.tensors)
    decoder = decoder_from(contents.tensors, module)
    facts = blueprint.facts if decoder is None else _with_decoder(blueprint.facts)
    name = blueprint.name if extension is None else f"{blueprint.name}_{extension.suffix}"
    family = family_of(module, name) if extension is None else extension.family
    notes = (_translation_note(facts, contents), *facts.notes)
    return Translated(name, module.eval(), family, notes, facts, decoder)


def _set_eps(module: nn.Module, norm_eps: Mapping[str, float]) -> None:
    for name, part in module.named_modules():
        for pattern, eps in norm_eps.items():
            if isinstance(part, nn.LayerNorm) and re.search(pattern, name):
                part.eps = eps


def _with_decoder(facts: Facts) -> Facts:
    return facts.but(left_out=tuple(without_decoder({name: torch.empty(0) for name in facts.left_out})))


def _overlay(blueprint: Blueprint) -> dict[str, Any]:
    labels = {"label_names": list(blueprint.facts.class_names)} if blueprint.facts.class_names else {}
    return {**_size(blueprint), **blueprint.facts.preprocessing, **labels}


def _size(blueprint: Blueprint) -> dict[str, tuple[int, int, int]]:
    """Return the file's input size for timm's configuration; empty if the file states none."""
    size = blueprint.arguments.get("img_size", blueprint.facts.image_size)
    if size is None:
        return {}
    height, width = (size, size) if isinstance(size, int) else size
    return {"input_size": (3, height, width)}


def _translation_note(facts: Facts, contents: Contents) -> Text:
    left_out = facts.left_out
    total = len(without(contents.tensors, COMPUTED)[0])
    some = ", ".join(left_out[:3]) + (", ..." if len(left_out) > 3 else "")
    rest = _REST.format(some=some) if left_out else same("")
    return TRANSLATED.format(library=facts.library, used=total - len(left_out), all=total, rest=rest)


@torch.no_grad()
def check_run(module: nn.Module, source: str) -> None:
    """Run the module once on a grey image, to find contradicting shapes and values that no training leaves.

    Raises:
        WeightsError: the pass fails, or its output is not finite or implausibly large.
    """
    channels, height, width = module.pretrained_cfg["input_size"]
    try:
        output = module(torch.zeros(1, channels, height, width, device=next(module.parameters()).device))
    except Exception as error:  # contradicting shapes fail in many ways, among them timm's assertions
        raise WeightsError(_STOPS.format(source=source, size=by((height, width)))) from error
    if not torch.isfinite(output).all():
        raise WeightsError(_NOT_FINITE.format(source=source, what=_NAN))
    if (most := float(output.abs().max())) > _MOST_OUTPUT:
        raise WeightsError(_NOT_FINITE.format(source=source, what=_LARGE.format(most=f"{most:.3g}")))
