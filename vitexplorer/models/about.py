"""Self-description of this program's model files: one JSON text in the metadata of a safetensors file.

A file of `save_tuned` holds the trained tensors only and needs its base model. A merged file is a whole timm
checkpoint, which loads anywhere; its description restores the class names and the model that it was made from. Reading
a description runs no code and reads no tensor.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from vitexplorer.core.text import Text
from vitexplorer.core.types import Provenance
from vitexplorer.models.checkpoints import MOST_CLASSES, WeightsError
from vitexplorer.storage.checked_reading import BrokenFileError, parsed, read_header

_KEY = "vitexplorer"
_VERSION = 1


@dataclass(frozen=True)
class About:
    """Description of one model file; a merged checkpoint leaves out the facts of its training."""

    version: Literal[1]
    base: Provenance
    """Origin of the base model"""
    method: str
    num_classes: Annotated[int, Field(ge=0, le=MOST_CLASSES)]
    """Outputs of the classifier"""
    class_names: tuple[str, ...]
    merged: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    preprocessing: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: str = ""
    recipe: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self):
        if self.class_names and len(self.class_names) != self.num_classes:
            raise ValueError("class_names")


def tuned_source(method: str, base: Provenance) -> str:
    """Describe the origin of a tuned model's weights: the method and the base model."""
    return f"{method}, {base.model}: {base.weights}, {base.weights_source}"


def metadata(about: Mapping[str, Any]) -> dict[str, str]:
    """Build the safetensors metadata for a description."""
    return {"format": "pt", _KEY: json.dumps({"version": _VERSION, **about}, ensure_ascii=False)}


def of_checkpoint(provenance: Provenance, num_classes: int) -> dict[str, str]:
    """Build the metadata for a user's checkpoint, which is then loaded like a merged one."""
    description = {"merged": True, "method": "", "class_names": [], "num_classes": num_classes}
    base = {"model": provenance.model, "weights": provenance.weights, "weights_source": provenance.weights_source}
    return metadata(description | {"base": base})


def origin(description: About, file: str) -> Provenance:
    """Return the provenance of a merged checkpoint; `file` is its display name, the only source a user's file has."""
    if not description.method:
        return Provenance(description.base.model, "file", file)
    return Provenance(description.base.model, "fine-tuned", tuned_source(description.method, description.base))


def about(path: str | os.PathLike) -> About | None:
    """Read a file's description; None if it has none or is not a safetensors file.

    Raises:
        WeightsError: the description is damaged.
    """
    try:
        header = read_header(path)
    except BrokenFileError:
        return None
    if _KEY not in header.metadata:
        return None
    try:
        return parsed(About, header.metadata[_KEY], path)
    except BrokenFileError as error:
        raise WeightsError(
            Text("The metadata of {file} is damaged.", "{file} 的元数据已损坏。").format(file=os.path.basename(path))
        ) from error


def merged(path: str | os.PathLike) -> About | None:
    """Read the description of a merged checkpoint; None if the file has none.

    Raises:
        WeightsError: the file holds the trained tensors only, or its description is damaged.
    """
    description = about(path)
    if description is None or description.merged:
        return description
    raise WeightsError(
        Text(
            "{file} holds what was trained, not the whole model: load it with load_tuned, or open it in the page.",
            "{file} 只含训练得到的部分，不是整个模型：请用 load_tuned 加载，或在网页中打开。",
        ).format(file=os.path.basename(path))
    )
