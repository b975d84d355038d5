"""Support of timm's model files: wholly, partly or not at all, and why."""

from __future__ import annotations

from functools import cache

import timm
from torch import nn

from tests.helpers.meta_models import outline_of
from vitexplorer.core.text import UnsupportedError
from vitexplorer.models.families import family_of

TWO_KINDS = {
    "metaformer": "poolformer_s12",
    "mobilevit": "mobilevitv2_050",
    "fastvit": "fastvit_t8",
    "byoanet": "lambda_resnet26t",
}
"""Files that have models with and without attention: a model of the kind that the first one is not"""


def files_of_timm() -> dict[str, list[str]]:
    """Return the names of all timm models by file; together they are `timm.list_models()`."""
    files: dict[str, list[str]] = {}
    for name in timm.list_models():
        files.setdefault(timm.model_entrypoint(name).__module__.rsplit(".", 1)[-1], []).append(name)
    return files


def judged(module: nn.Module, name: str) -> tuple[str, str, str]:
    """Return family or class, the extent of its support, and the reason for limits."""
    try:
        family = family_of(module, name)
    except UnsupportedError as error:
        return type(module).__name__, "refused", str(error).split(": ", 1)[1].rstrip(".")
    if family.shows_stream:
        return family.title.en, "all views", ""
    left_out = family.left_out
    return family.title.en, "attention maps" + (", partly" if left_out else ""), left_out.en if left_out else ""


@cache
def sweep() -> dict[str, tuple[str, str, str]]:
    """Return one model of each timm file, and a second one if the file has two kinds."""
    found = {file: judged(outline_of(names[0]), names[0]) for file, names in files_of_timm().items()}
    return found | {name: judged(outline_of(name), name) for name in TWO_KINDS.values()}
