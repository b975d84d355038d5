"""ViT Explorer: show what a vision transformer does with an image.

    import vitexplorer as vx

    model = vx.load_model("scenes_vit_patch16_192")
    capture = vx.capture(model, "picture.jpg")
    result = vx.compute("attention_rollout", capture)
    print(vx.reading(result))
    vx.save(result, "rollout.png")

Everything is imported at its first use, so that the page opens before torch is loaded.
"""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from vitexplorer.core.notebook_display import register_drawing
from vitexplorer.core.short_tracebacks import ends_at_caller

# Torch reads this variable at its first tensor and puts large tensors on pages of 2 MB where Linux has them. Without
# it, allocating a capture's tensors costs a tenth of Swin's forward pass.
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import capture
    from vitexplorer.capturing.capture_batch import capture_batch
    from vitexplorer.comparisons import compare, comparisons
    from vitexplorer.diagnosis import diagnose
    from vitexplorer.evaluation import evaluate
    from vitexplorer.figures import render, save
    from vitexplorer.finetune.attaching import attach, count_parameters, merge, methods
    from vitexplorer.finetune.in_process import finetune
    from vitexplorer.finetune.peft import export_peft, import_peft
    from vitexplorer.finetune.storing import load_tuned, save_tuned
    from vitexplorer.interventions import intervene, interventions
    from vitexplorer.learn.film import film
    from vitexplorer.learn.handout import handout
    from vitexplorer.models import models
    from vitexplorer.models.loading import load_backbone, load_model
    from vitexplorer.models.texts.text_files import load_texts, save_texts
    from vitexplorer.models.texts.text_tower import embed_text
    from vitexplorer.models.wrapping import wrap
    from vitexplorer.notebook.widget import widget
    from vitexplorer.quantities.cka import cka
    from vitexplorer.quantities.size_choices import size_choices
    from vitexplorer.survey import survey
    from vitexplorer.survey.compared import compare_surveys
    from vitexplorer.survey.opened import open_survey
    from vitexplorer.views import compute, reading, views
    from vitexplorer.views.token_pca import shared_token_pca

__all__ = [
    "attach",
    "capture",
    "capture_batch",
    "cka",
    "compare",
    "compare_surveys",
    "comparisons",
    "compute",
    "count_parameters",
    "diagnose",
    "embed_text",
    "evaluate",
    "export_peft",
    "film",
    "finetune",
    "handout",
    "import_peft",
    "intervene",
    "interventions",
    "load_backbone",
    "load_model",
    "load_texts",
    "load_tuned",
    "merge",
    "methods",
    "models",
    "open_survey",
    "reading",
    "render",
    "save",
    "save_texts",
    "save_tuned",
    "shared_token_pca",
    "size_choices",
    "survey",
    "views",
    "widget",
    "wrap",
]

_HOMES = {
    "attach": "vitexplorer.finetune.attaching",
    "capture": "vitexplorer.capturing.capture",
    "capture_batch": "vitexplorer.capturing.capture_batch",
    "cka": "vitexplorer.quantities.cka",
    "compare": "vitexplorer.comparisons",
    "compare_surveys": "vitexplorer.survey.compared",
    "comparisons": "vitexplorer.comparisons",
    "compute": "vitexplorer.views",
    "count_parameters": "vitexplorer.finetune.attaching",
    "diagnose": "vitexplorer.diagnosis",
    "embed_text": "vitexplorer.models.texts.text_tower",
    "evaluate": "vitexplorer.evaluation",
    "export_peft": "vitexplorer.finetune.peft",
    "film": "vitexplorer.learn.film",
    "finetune": "vitexplorer.finetune.in_process",
    "handout": "vitexplorer.learn.handout",
    "import_peft": "vitexplorer.finetune.peft",
    "intervene": "vitexplorer.interventions",
    "interventions": "vitexplorer.interventions",
    "load_backbone": "vitexplorer.models.loading",
    "load_model": "vitexplorer.models.loading",
    "load_texts": "vitexplorer.models.texts.text_files",
    "load_tuned": "vitexplorer.finetune.storing",
    "merge": "vitexplorer.finetune.attaching",
    "methods": "vitexplorer.finetune.attaching",
    "models": "vitexplorer.models",
    "open_survey": "vitexplorer.survey.opened",
    "reading": "vitexplorer.views",
    "render": "vitexplorer.figures",
    "save": "vitexplorer.figures",
    "save_texts": "vitexplorer.models.texts.text_files",
    "save_tuned": "vitexplorer.finetune.storing",
    "shared_token_pca": "vitexplorer.views.token_pca",
    "size_choices": "vitexplorer.quantities.size_choices",
    "survey": "vitexplorer.survey",
    "views": "vitexplorer.views",
    "widget": "vitexplorer.notebook.widget",
    "wrap": "vitexplorer.models.wrapping",
}
"""Modules of the public functions"""


class _PublicApi(ModuleType):
    """The package; a public function keeps its name where a subpackage has the same one."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Ignore a submodule named like a public function: the import system would replace `views` by its module."""
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name in _HOMES:
        return ends_at_caller(getattr(importlib.import_module(_HOMES[name]), name))
    raise AttributeError(f"module 'vitexplorer' has no attribute {name!r}")


def _version() -> str:
    """Return the installed version, or that of pyproject.toml in a checkout that is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("vitexplorer")
    except PackageNotFoundError:
        import tomllib
        from pathlib import Path

        project = Path(__file__).resolve().parent.parent / "pyproject.toml"
        return tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _notebook_drawing() -> Any:
    """Import the module that draws records in a notebook; it loads torch, so only notebooks call this."""
    from vitexplorer import notebook

    return notebook


register_drawing(_notebook_drawing)
sys.modules[__name__].__class__ = _PublicApi
