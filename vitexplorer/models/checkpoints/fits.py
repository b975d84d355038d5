"""Table of timm's architectures by a fingerprint of their tensors' names and shapes, for classes without an outline.

`python -m vitexplorer.models.checkpoints.fits` rewrites the table from the installed timm. The classifier is not part
of a fingerprint, since a fine-tuned model has another number of classes. An architecture whose tensors are the same for
two input sizes, such as XCiT, is listed under both names.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import timm
import torch

from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.models.checkpoints.files import WeightsError
from vitexplorer.models.checkpoints.records import Blueprint, Facts, Tensors
from vitexplorer.models.checkpoints.renaming import COMPUTED

_TABLE = Path(__file__).with_name("fits.json")
_CLASSIFIER = r"^(head|head_dist|aux_head|fc|classifier)\."
_HAVE_OUTLINES = {
    *("vision_transformer", "deit", "swin_transformer", "swin_transformer_v2", "beit", "eva", "naflexvit")
}
"""Files of timm whose models the outlines recognise by their sizes"""
_SEVERAL = Text(
    "{source} fits several architectures, which differ in no tensor: {names}. Say which it is.",
    "{source} 符合多种结构，它们的张量没有区别：{names}。请指明它属于哪一种。",
)


class SeveralFitError(WeightsError):
    """Raised for a file that fits several architectures, `names`."""

    def __init__(self, text: Text, names: tuple[str, ...]):
        super().__init__(text)
        self.names = names


def fingerprint(shapes: Mapping[str, tuple[int, ...]]) -> str:
    """Compute the fingerprint of names and shapes, without the classifier and the tables that timm computes."""
    backbone = {name: shape for name, shape in shapes.items() if not re.search(f"{COMPUTED}|{_CLASSIFIER}", name)}
    lines = [f"{name} {'x'.join(map(str, shape))}" for name, shape in sorted(backbone.items())]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def fitting(tensors: Tensors) -> tuple[str, ...]:
    """Return the names of timm's architectures with these tensors."""
    return fitting_shapes({name: tuple(tensor.shape) for name, tensor in tensors.items()})


def fitting_shapes(shapes: Mapping[str, tuple[int, ...]]) -> tuple[str, ...]:
    """Return the names of timm's architectures with tensors of these names and shapes."""
    return table().get(fingerprint(shapes), ())


def blueprint(tensors: Tensors, facts: Facts, source: str) -> Blueprint | None:
    """Return the only architecture that fits, or None.

    Raises:
        SeveralFitError: several fit.
    """
    names = fitting(tensors)
    if len(names) > 1:
        raise several(source, names)
    if not names:
        return None
    return Blueprint(names[0], names[0], {"num_classes": count_classes_of(names[0], tensors)}, tensors, facts)


def count_classes_of(name: str, tensors: Tensors) -> int:
    """Return the number of classes of timm's architecture `name` with these tensors; 0 without a classifier."""
    classifier = timm.get_pretrained_cfg(name).classifier or ""  # encoders of language models have none
    first = classifier if isinstance(classifier, str) else classifier[0]
    weight = tensors.get(f"{first}.weight")
    return 0 if weight is None else len(weight)


def several(source: str, names: tuple[str, ...]) -> SeveralFitError:
    """Make the error for a file that fits all of these architectures."""
    return SeveralFitError(_SEVERAL.format(source=source, names=Text(", ".join(names), "、".join(names))), names)


@cache
def table() -> dict[str, tuple[str, ...]]:
    """Return the names of architectures by fingerprint."""
    return {key: tuple(names) for key, names in json.loads(_TABLE.read_text(encoding="utf-8")).items()}


def shapes_of(name: str) -> dict[str, tuple[int, ...]]:
    """Return the names and shapes of an architecture's tensors, without allocating them."""
    with torch.device("meta"):
        module = timm.create_model(name)
    return {key: tuple(tensor.shape) for key, tensor in module.state_dict().items()}


def build_table() -> dict[str, list[str]]:
    """Build the table for every supported architecture without an outline."""
    from vitexplorer.models.families import family_of

    names: dict[str, list[str]] = defaultdict(list)
    for name in timm.list_models():
        if timm.model_entrypoint(name).__module__.rsplit(".", 1)[-1] in _HAVE_OUTLINES:
            continue
        try:
            with torch.device("meta"):
                family_of(timm.create_model(name), name)
        except (UnsupportedError, RuntimeError, NotImplementedError):  # some need real numbers to be built
            continue
        names[fingerprint(shapes_of(name))].append(name)
    return dict(sorted(names.items(), key=lambda item: item[1]))


if __name__ == "__main__":
    rows = [f"{json.dumps(key)}: {json.dumps(names)}" for key, names in build_table().items()]
    _TABLE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
