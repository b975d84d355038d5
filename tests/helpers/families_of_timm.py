"""Every file of timm's models: whether its models are shown wholly, partly or not at all, and why."""

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
"""files that have models which attend and others that do not: one of the kind that the first model is not"""


def files_of_timm() -> dict[str, list[str]]:
    """Every file of timm's models with the names it makes; all of `timm.list_models()` among them."""
    files: dict[str, list[str]] = {}
    for name in timm.list_models():
        files.setdefault(timm.model_entrypoint(name).__module__.rsplit(".", 1)[-1], []).append(name)
    return files


def judged(module: nn.Module, name: str) -> tuple[str, str, str]:
    """Family or class, what is shown of it, and why no more."""
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
    """One model of each file of timm's, and a second one where the file has two kinds."""
    found = {file: judged(outline_of(names[0]), names[0]) for file, names in files_of_timm().items()}
    return found | {name: judged(outline_of(name), name) for name in TWO_KINDS.values()}
