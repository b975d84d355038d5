"""Endpoints that list models and views, from the same registries as the page."""

# Annotations are read by gradio as they stand here: no `from __future__ import annotations`.
import asyncio
from dataclasses import dataclass
from typing import Any

from vitexplorer.core.settings import Settings
from vitexplorer.core.text import ExplainedError, Language, Text
from vitexplorer.models.catalog import CatalogEntry, catalog
from vitexplorer.models.examples import examples
from vitexplorer.service.engine import Engine, Picture
from vitexplorer.ui.server.api.answering import answering
from vitexplorer.ui.shell.chips.model_chip import model_state
from vitexplorer.views.record import View


@dataclass(eq=False)
class Listing:
    """Endpoints that list what an installation offers."""

    settings: Settings
    engine: Engine

    @answering
    async def models(self, language: Language = "en") -> dict[str, Any]:
        """List the vision transformers that can be asked about, and the example images.

        Args:
            language: of what is said, en or zh

        Returns:
            models with name, title, family, what they are, megabytes of weights and where these come from; examples
        """
        return {
            "models": [self._model(entry, language) for entry in catalog()],
            "any_timm_model": self.settings.any_model,
            "examples": {key: example.title.in_(language) for key, example in examples().items()},
        }

    @answering
    async def views(self, language: Language = "en") -> list[dict[str, Any]]:
        """List the views: what can be asked of a model and an image, and which settings each takes.

        Args:
            language: of what is said, en or zh

        Returns:
            views with their question, how they mislead, what they need, and their settings with defaults
        """
        registered = await asyncio.to_thread(_views)
        return [_view(key, view, language) for key, view in registered.items()]

    def _model(self, entry: CatalogEntry, language: Language) -> dict[str, Any]:
        return {
            "name": entry.name,
            "title": entry.title.in_(language),
            "family": entry.family,
            "about": entry.sentence.in_(language),
            "megabytes": entry.megabytes,
            "weights": model_state(entry, self.settings).in_(language),
            "refused": _in_language(self._refusal(entry), language),
        }

    def _refusal(self, entry: CatalogEntry) -> Text | None:
        try:
            self.engine.check_allowed(Picture("", entry.name))
        except ExplainedError as error:
            return error.text
        return None


def _views() -> dict[str, View]:
    from vitexplorer.views import views  # loads torch: not on the event loop's thread

    return views()


NEEDS = {
    "nothing": Text("read off one forward pass", "由一次前向传播直接读出"),
    "once": Text("one more pass with gradients", "另需一次前向与反向传播"),
    "many": Text("many passes: seconds to minutes", "多次前向传播：数秒至数分钟"),
}
FAMILIES = {
    True: Text(
        "every model of the list and every family with attention maps",
        "列表中的所有模型，以及可显示注意力图的所有模型家族",
    ),
    False: Text(
        "families that support every view: ViT, DeiT, DINO, CLIP, SigLIP, BEiT, EVA, DINOv3, Swin",
        "支持所有视图的模型家族：ViT、DeiT、DINO、CLIP、SigLIP、BEiT、EVA、DINOv3、Swin",
    ),
}


def _view(key: str, view: View, language: Language) -> dict[str, Any]:
    return {
        "name": key,
        "title": view.title.in_(language),
        "question": view.question.in_(language),
        "misleads": view.misleads.in_(language),
        "needs": NEEDS[view.runs].in_(language),
        "models": FAMILIES[view.any_family].in_(language),
        "settings": [_setting(control, language) for control in view.controls],
        "paper": view.paper and view.paper.url,
    }


def _setting(control: Any, language: Language) -> dict[str, Any]:
    """Describe a control independently of the model; a default of None depends on the model and the image."""
    spec = control.spec()
    return {
        "name": spec.name,
        "label": spec.label.in_(language),
        "takes": _in_language(spec.takes, language),
        "default": spec.value or None,
        "options": {value: text.in_(language) for value, text in spec.options} or None,
    }


def _in_language(text: Text | None, language: Language) -> str | None:
    return text and text.in_(language)
