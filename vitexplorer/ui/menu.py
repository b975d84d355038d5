"""The model chip: the model in use, and every model of the catalogue with its state."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from vitexplorer.models.catalog import CatalogEntry, catalog, find
from vitexplorer.settings import Settings
from vitexplorer.ui.address import Address
from vitexplorer.ui.engine import Engine
from vitexplorer.ui.language import word
from vitexplorer.ui.parts.model_chip import ModelChipData, ModelItem
from vitexplorer.ui.places import TunedChoice
from vitexplorer.ui.words import UI_WORDS
from vitexplorer.words import Language, Text

_WORDS = (
    "model",
    "model_search",
    "model_typed",
    "model_not_found",
    "model_info",
    "model_info_closed",
    "weights",
    "weights_trained",
    "weights_random",
)


def model_state(entry: CatalogEntry, settings: Settings) -> Text:
    """Bundled, on this machine, so many megabytes to download, or not reachable.

    The cache is looked at only once timm is loaded: the page does not wait for that.
    """
    if entry.bundled:
        return UI_WORDS["state_bundled"]
    if "timm" in sys.modules:
        from vitexplorer.models.hub import pretrained_state

        if pretrained_state(entry.name).kind == "cached":
            return UI_WORDS["state_cached"]
    if not settings.downloads or os.environ.get("HF_HUB_OFFLINE") == "1":
        return UI_WORDS["state_offline"]
    return UI_WORDS["state_download"].format(megabytes=entry.megabytes)


def model_items(language: Language, settings: Settings, tuned: Iterable[TunedChoice] = ()) -> list[ModelItem]:
    """A visitor's tuned models and every model of the catalogue, bundled ones first."""
    bundled, state = word("models_bundled", language), word("state_tuned", language)
    return [
        ModelItem(name=one.name, title=one.label, family=word("models_tuned", language), state=state) for one in tuned
    ] + [
        ModelItem(
            name=entry.name,
            title=entry.title.in_(language),
            family=bundled if entry.bundled else entry.family,
            state=model_state(entry, settings).in_(language),
        )
        for entry in catalog()
    ]


def tuned_choices(engine: Engine, settings: Settings, visitor: str) -> tuple[TunedChoice, ...]:
    """The tuned models of a visitor."""
    mine = settings.trainings and (visitor or not settings.hosted)
    return tuple(engine.places.tuned(visitor)) if mine else ()


def model_chip(
    address: Address, language: Language, settings: Settings, tuned: Iterable[TunedChoice] = ()
) -> ModelChipData:
    """The chip for the model of an address."""
    entry = find(address.model)
    items = model_items(language, settings, tuned)
    item = next((item for item in items if item.name == address.model), None)
    state = item.state if item else ""
    return ModelChipData(
        name=address.model,
        title=item.title if item else address.model,
        note=word("weights_random_note", language) if address.weights == "random" else state,
        sentence=entry.sentence.in_(language) if entry else "",
        weights=address.weights,
        models=items,
        any=settings.any_model,
        words={key: word(key, language) for key in _WORDS},
    )
