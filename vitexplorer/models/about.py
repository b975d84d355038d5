"""What a model file of this program says of itself: one JSON text in the metadata of a safetensors file.

A file of `save_tuned` holds what was trained and is nothing without its base. A merged one is a whole timm checkpoint,
which loads anywhere; what it says lets it come back with the names of its classes and the model it was made from.
Reading runs no code and no tensor is read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safetensors import SafetensorError, safe_open

from vitexplorer.models.checkpoints import WeightsError
from vitexplorer.types import Provenance
from vitexplorer.words import Text

_KEY = "vitexplorer"
_VERSION = 1


@dataclass(frozen=True)
class Merged:
    """A whole model with what was learned in its weights, as its file tells of it."""

    base: Provenance
    """of the model it was made from"""
    method: str
    """how it was tuned; empty where the file is anybody's"""
    num_classes: int
    """outputs of its classifier"""
    class_names: tuple[str, ...]

    def provenance(self, file: str) -> Provenance:
        """What a figure of it is a figure of; `file` is how the file is called."""
        if not self.method:
            return Provenance(self.base.model, "file", file)
        return Provenance(self.base.model, "fine-tuned", tuned_source(self.method, self.base))


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


def about(path: str | os.PathLike) -> dict[str, Any] | None:
    """What the file says of itself; None where it is not of this program, or cannot be read."""
    try:
        with safe_open(path, framework="pt") as file:
            said = json.loads((file.metadata() or {})[_KEY])
    except (SafetensorError, OSError, KeyError, ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) and said.get("version") == _VERSION else None


def merged(path: str | os.PathLike) -> Merged | None:
    """What a merged checkpoint says of itself; None for a file that says nothing.

    Raises WeightsError for a file of what was trained alone, and for one whose words are damaged.
    """
    said = about(path)
    if said is None:
        return None
    name = os.path.basename(path)
    if not said.get("merged"):
        raise WeightsError(
            Text(
                "{file} holds what was trained, not the whole model: load it with load_tuned, or in Fine-tune.",
                "{file} 只含训练得到的部分，不是整个模型：请用 load_tuned 加载，或在“微调”页中加载。",
            ).format(file=name)
        )
    try:
        base = Provenance(*(str(said["base"][part]) for part in ("model", "weights", "weights_source")))
        names = tuple(map(str, said["class_names"]))
        return Merged(base, str(said["method"]), int(said["num_classes"]), names)
    except (KeyError, TypeError, ValueError) as error:
        raise WeightsError(
            Text("What {file} says of itself is damaged.", "{file} 的自述信息已损坏。").format(file=name)
        ) from error
