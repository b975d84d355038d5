"""Model chip of the top bar; its sheet has the list of models and the choice of weights."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pydantic import BaseModel

from vitexplorer.core.settings import Settings
from vitexplorer.core.text import Language, Text
from vitexplorer.models.catalog import CatalogEntry, catalog, find
from vitexplorer.service.engine import Engine
from vitexplorer.service.uploaded_models import kinds
from vitexplorer.service.user_storage import MODEL, TunedChoice
from vitexplorer.ui.kit.language import word
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.kit.words import UI_WORDS
from vitexplorer.ui.shell.address import Address

if TYPE_CHECKING:
    from vitexplorer.models.loading import LoadedModel


class ModelItem(BaseModel):
    """One model of the list."""

    name: str
    title: str
    family: str
    """Heading of its group in the list"""
    state: str
    """State of its weights in words: bundled, on this machine, to download"""
    typed: str = ""
    """Name of the model in programs; empty for a visitor's own"""


class ModelChipData(BaseModel):
    """The chip and the list of its sheet."""

    name: str = ""
    title: str = ""
    note: str = ""
    sentence: str = ""
    """Description from the catalogue"""
    notes: list[str] = []
    """Notes on loading a model that is not in the catalogue: what was translated, guessed or left out"""
    weights: str = "trained"
    """`trained` or `random`; empty for a visitor's own model, which offers no choice"""
    models: list[ModelItem] = []
    any: bool = False
    """True if the visitor may request a name outside the list"""
    kinds: list[str] = []
    """Extensions of the files that may be opened"""
    named: bool = False
    """True if the visitor may type a path on the machine that serves the page"""
    most: int = 0
    """Largest upload in megabytes"""
    takes_drops: bool = True
    """True if the chip takes model files that are dropped anywhere on the page"""
    words: dict[str, str] = {}


class ModelChip(Widget):
    """Component that fires `choose` with a model or with weights.

    The event's `model` is the name of a model, or of a file that `/model` has stored; `weights` is trained or random.
    """

    data_model = ModelChipData
    sends = ("choose",)


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
    "file_open",
    "file_kinds_hosted",
    "file_kinds",
    "file_named",
    "file_unknown",
    "file_unsafe",
    "file_large",
    "file_lost",
    "file_sending",
    "file_opened",
    "file_check",
    "notice_close",
    "file_stop",
)


def model_state(entry: CatalogEntry, settings: Settings) -> Text:
    """Return the state of a model's weights: bundled, on this machine, megabytes to download, or not reachable.

    The cache of weights is checked only once timm is loaded; the page does not wait for that.
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
    """List a visitor's own models, those from files first, then every model of the catalogue, bundled ones first."""
    bundled = word("models_bundled", language)
    origin = {True: "file", False: "tuned"}
    return [
        ModelItem(
            name=choice.name,
            title=choice.label,
            family=word(f"models_{origin[choice.sent]}", language),
            state=word(f"state_{origin[choice.sent]}", language),
        )
        for choice in sorted(tuned, key=lambda choice: not choice.sent)
    ] + [
        ModelItem(
            name=entry.name,
            typed=entry.name,
            title=entry.title.in_(language),
            family=bundled if entry.bundled else entry.family,
            state=model_state(entry, settings).in_(language),
        )
        for entry in catalog()
    ]


def tuned_choices(engine: Engine, settings: Settings, visitor: str) -> tuple[TunedChoice, ...]:
    """Return the visitor's own models: fine-tuned ones, and those from files."""
    return tuple(engine.places.tuned(visitor)) if visitor or not settings.hosted else ()


def model_chip(
    address: Address, settings: Settings, tuned: Iterable[TunedChoice] = (), loaded: LoadedModel | None = None
) -> ModelChipData:
    """Return the chip of an address's model; `loaded` is that model if it is in memory, and contributes its notes."""
    language = address.language
    entry = find(address.model)
    items = model_items(language, settings, tuned)
    item = next((item for item in items if item.name == address.model), None)
    note = item.state if item else ""
    if entry and entry.purpose.en:
        note = entry.purpose.in_(language)
    is_own = address.model.startswith(MODEL)
    return ModelChipData(
        name=address.model,
        title=item.title if item else address.model,
        note=word("weights_random_note", language) if address.weights == "random" and not is_own else note,
        sentence=entry.sentence.in_(language) if entry else "",
        notes=[note.in_(language) for note in loaded.notes] if loaded and not entry else [],
        weights="" if is_own else address.weights,
        models=items,
        any=settings.any_model,
        kinds=list(kinds(settings)),
        named=not settings.hosted,
        most=settings.max_upload_megabytes,
        words={key: word(key, language) for key in _WORDS},
    )
