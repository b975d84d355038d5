"""ViT Explorer: what a vision transformer does with an image.

    import vitexplorer as vx

    model = vx.load_model("scenes_vit_patch16_192")
    capture = vx.capture(model, "picture.jpg")
    result = vx.compute("attention_rollout", capture)
    vx.save(result, "rollout.png")

Everything is imported when it is first used: the page opens before torch is loaded.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vitexplorer import capture, models, views
    from vitexplorer.figures import render, save
    from vitexplorer.models.loading import load_model
    from vitexplorer.views import compute

__all__ = ["capture", "compute", "load_model", "models", "render", "save", "views"]

_HOMES = {
    "load_model": "vitexplorer.models.loading",
    "compute": "vitexplorer.views",
    "render": "vitexplorer.figures",
    "save": "vitexplorer.figures",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in __all__:  # a module that answers a call
        return importlib.import_module(f"vitexplorer.{name}")
    raise AttributeError(f"module 'vitexplorer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
