"""What a model file of this program says of itself: one JSON text in the metadata of a safetensors file.

A file of `save_tuned` holds what was trained and is nothing without its base. A merged one is a whole timm checkpoint,
which loads anywhere; what it says lets it come back with the names of its classes and the model it was made from.
Reading runs no code and no tensor is read.
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
from vitexplorer.storage.checked_reading import BrokenFileError, Header, parsed, read_header

_KEY = "vitexplorer"
_VERSION = 1


@dataclass(frozen=True)
class About:
    """The text in full. A merged checkpoint is without what only its making knew."""

    version: Literal[1]
    base: Provenance
    """of the model it was made from"""
    method: str
    num_classes: Annotated[int, Field(ge=0, le=MOST_CLASSES)]
    """outputs of its classifier"""
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
    """Where the weights of a tuned model come from: the method and what it began with."""
    return f"{method}, {base.model}: {base.weights}, {base.weights_source}"


def metadata(about: Mapping[str, Any]) -> dict[str, str]:
    """What a safetensors file is given to say of itself."""
    return {"format": "pt", _KEY: json.dumps({"version": _VERSION, **about}, ensure_ascii=False)}


def of_checkpoint(provenance: Provenance, num_classes: int) -> dict[str, str]:
    """What anybody's checkpoint is given to say of itself: whose it is, so that it is loaded like a merged one."""
    said = {"merged": True, "method": "", "class_names": [], "num_classes": num_classes}
    base = {"model": provenance.model, "weights": provenance.weights, "weights_source": provenance.weights_source}
    return metadata(said | {"base": base})


def origin(said: About, file: str) -> Provenance:
    """What a figure of a merged checkpoint is a figure of; `file` is how it is called, and all that anybody's has."""
    if not said.method:
        return Provenance(said.base.model, "file", file)
    return Provenance(said.base.model, "fine-tuned", tuned_source(said.method, said.base))


def about(path: str | os.PathLike) -> About | None:
    """What a file says of itself; None where it says nothing or is no safetensors file.

    Raises WeightsError for one whose words are damaged.
    """
    try:
        header = read_header(path)
    except BrokenFileError:
        return None
    return words_in(header, path)


def words_in(header: Header, path: str | os.PathLike) -> About | None:
    """The same for a header that was read already."""
    if _KEY not in header.metadata:
        return None
    try:
        return parsed(About, header.metadata[_KEY], path)
    except BrokenFileError as error:
        raise WeightsError(
            Text("What {file} says of itself is damaged.", "{file} 的自述信息已损坏。").format(
                file=os.path.basename(path)
            )
        ) from error


def merged(path: str | os.PathLike) -> About | None:
    """What a merged checkpoint says of itself; None for a file that says nothing.

    Raises WeightsError for a file of what was trained alone, and for one whose words are damaged.
    """
    said = about(path)
    if said is None or said.merged:
        return said
    raise WeightsError(
        Text(
            "{file} holds what was trained, not the whole model: load it with load_tuned, or open it in the page.",
            "{file} 只含训练得到的部分，不是整个模型：请用 load_tuned 加载，或在网页中打开。",
        ).format(file=os.path.basename(path))
    )
