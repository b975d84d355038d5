"""Files of dino.txt: the released parts of one model, put together under the names of the whole.

DINOv2 has three files (backbone, vision head, text encoder), each with names of its own; DINOv3 has the backbone in one
and the rest in another (hub pages of both repositories). All are known by "dinotxt" in a file's name, so that no folder
is read to find out. The vocabulary is CLIP's and comes with open_clip; a copy in the folder is not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vitexplorer.core.text import Text
from vitexplorer.models.checkpoints.files import WeightsError, named_tensors
from vitexplorer.models.checkpoints.records import Tensors

BACKBONE, HEAD, TEXT = "visual_model.backbone.", "visual_model.head.", "text_model."
"""Beginnings of the names in the whole model"""
_SIGN = "dinotxt"
_TWICE = Text(
    "{folder} holds two files of one part of a dino.txt, the second of them {file}: keep the files of one model.",
    "{folder} 中有两个文件属于模型的同一部分，后一个为 {file}：请只保留同一个模型的文件。",
)


def are_of_dino_txt(names: Sequence[str]) -> bool:
    """Return True if one of these files has a released name of dino.txt."""
    return any(_SIGN in name.lower() for name in names)


def whole_model(folder: Path, names: Sequence[str]) -> Tensors:
    """Read the parts, each under the names that it has in the whole model.

    Raises:
        WeightsError: a file cannot be read, or two hold the same part.
    """
    whole: Tensors = {}
    for name in names:
        part = under_whole_names(named_tensors(folder / name))
        if whole.keys() & part:
            raise WeightsError(_TWICE.format(folder=folder.name, file=name))
        whole |= part
    return whole


def under_whole_names(tensors: Tensors) -> Tensors:
    """Put the beginning of the whole model's names before those of a part."""
    if any(name.startswith((BACKBONE, HEAD, TEXT)) for name in tensors):
        return tensors
    if "patch_embed.proj.weight" in tensors:
        beginning = BACKBONE
    else:
        beginning = TEXT if any("token_embedding" in name for name in tensors) else HEAD
    return {f"{beginning}{name}": tensor for name, tensor in tensors.items()}
