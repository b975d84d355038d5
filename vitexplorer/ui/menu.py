"""The model menu: every model of the catalogue with its state."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from vitexplorer.models.catalog import CatalogEntry, catalog, find
from vitexplorer.settings import Settings
from vitexplorer.ui.places import TunedChoice
from vitexplorer.ui.words import UI_WORDS
from vitexplorer.words import Language, Text


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


def model_choices(language: Language, settings: Settings, tuned: Iterable[TunedChoice] = ()) -> list[tuple[str, str]]:
    """(label, name) of a visitor's tuned models and of every model of the catalogue, bundled ones first."""
    state = UI_WORDS["state_tuned"].in_(language)
    return [(f"{one.label} · {state}", one.name) for one in tuned] + [
        (f"{entry.title.in_(language)} · {model_state(entry, settings).in_(language)} · {entry.name}", entry.name)
        for entry in catalog()
    ]


def model_sentence(name: str, language: Language) -> str:
    """What the catalogue says of a model; nothing for one that it does not list."""
    entry = find(name)
    return entry.sentence.in_(language) if entry else ""
