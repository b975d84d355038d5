"""ViT Explorer: what a vision transformer does with an image.

    import vitexplorer as vx

    model = vx.load_model("scenes_vit_patch16_192")
    capture = vx.capture(model, "picture.jpg")
    result = vx.compute("attention_rollout", capture)
    print(vx.reading(result))
    vx.save(result, "rollout.png")

Everything is imported when it is first used: the page opens before torch is loaded.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

# Read by torch when it makes its first tensor: large ones lie on pages of 2 MB where Linux has them, without which the
# pages of what a capture keeps cost a tenth of Swin's forward pass.
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")

if TYPE_CHECKING:
    from vitexplorer import capture, capture_batch, comparisons, finetune, interventions, models, survey, views
    from vitexplorer.comparisons import compare
    from vitexplorer.evaluation import evaluate
    from vitexplorer.figures import render, save
    from vitexplorer.finetune.attaching import attach, count_parameters, merge, methods
    from vitexplorer.finetune.peft import export_peft, import_peft
    from vitexplorer.finetune.storing import load_tuned, save_tuned
    from vitexplorer.interventions import intervene
    from vitexplorer.learn.handout import handout
    from vitexplorer.models.loading import load_backbone, load_model
    from vitexplorer.models.wrapping import wrap
    from vitexplorer.notebook.widget import widget
    from vitexplorer.quantities.cka import cka
    from vitexplorer.quantities.size_choices import size_choices
    from vitexplorer.survey.compared import compare_surveys
    from vitexplorer.survey.opened import open_survey
    from vitexplorer.views import compute, reading
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
    "evaluate",
    "export_peft",
    "finetune",
    "handout",
    "import_peft",
    "intervene",
    "interventions",
    "load_backbone",
    "load_model",
    "load_tuned",
    "merge",
    "methods",
    "models",
    "open_survey",
    "reading",
    "render",
    "save",
    "save_tuned",
    "shared_token_pca",
    "size_choices",
    "survey",
    "views",
    "widget",
    "wrap",
]

_HOMES = {
    "compare_surveys": "vitexplorer.survey.compared",
    "open_survey": "vitexplorer.survey.opened",
    "load_model": "vitexplorer.models.loading",
    "wrap": "vitexplorer.models.wrapping",
    "compute": "vitexplorer.views",
    "reading": "vitexplorer.views",
    "compare": "vitexplorer.comparisons",
    "evaluate": "vitexplorer.evaluation",
    "attach": "vitexplorer.finetune.attaching",
    "count_parameters": "vitexplorer.finetune.attaching",
    "merge": "vitexplorer.finetune.attaching",
    "methods": "vitexplorer.finetune.attaching",
    "save_tuned": "vitexplorer.finetune.storing",
    "load_tuned": "vitexplorer.finetune.storing",
    "export_peft": "vitexplorer.finetune.peft",
    "import_peft": "vitexplorer.finetune.peft",
    "cka": "vitexplorer.quantities.cka",
    "shared_token_pca": "vitexplorer.views.token_pca",
    "load_backbone": "vitexplorer.models.loading",
    "size_choices": "vitexplorer.quantities.size_choices",
    "intervene": "vitexplorer.interventions",
    "handout": "vitexplorer.learn.handout",
    "render": "vitexplorer.figures",
    "save": "vitexplorer.figures",
    "widget": "vitexplorer.notebook.widget",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in __all__:  # a module that answers a call
        return importlib.import_module(f"vitexplorer.{name}")
    raise AttributeError(f"module 'vitexplorer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
