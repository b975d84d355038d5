"""Component to choose methods: switches with counts and settings, epochs and seed, estimate and start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from vitexplorer.core.cache import BytesCache
from vitexplorer.core.text import ExplainedError, Language, Text, in_language
from vitexplorer.service.amounts import duration, memory, percentage
from vitexplorer.ui.controls.field import Field, field_of
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.rooms.finetune.training.choice import TrainingChoice, candidate, learning_rate, plan_specs
from vitexplorer.ui.rooms.finetune.words import TRAINING_WORDS, say

if TYPE_CHECKING:
    from vitexplorer.finetune.preview import Preview
    from vitexplorer.finetune.results.records import Estimate
    from vitexplorer.models.loading import LoadedModel


class MethodItem(BaseModel):
    """Method of the list."""

    key: str
    title: str
    sentence: str
    paper: str = ""
    paper_url: str = ""
    on: bool = False
    refused: str = ""
    """Reason why the method does not fit the model, or why a setting is impossible"""
    impossible: bool = False
    """True where the method does not fit the model with any settings"""
    counts: str = ""
    estimate: str = ""
    settings: list[Field] = []
    """Settings of the method and its learning rate"""


class MethodsData(BaseModel):
    """All methods for one model and one number of classes."""

    backbone: str = ""
    """Backbone in words"""
    fields: list[Field] = []
    """Fields of the plan with their defaults"""
    items: list[MethodItem] = []
    asked: bool = False
    """True where the counts belong to the visitor's settings, False for the defaults"""
    ready: bool = False
    """True where there are images that can be trained on"""
    working: str = ""
    """Progress of an estimate; the other fields are then empty"""
    refused: str = ""
    """Reason why the training did not start; the other fields are then empty"""
    plan: dict[str, str] = {}
    """Values for the fields, from an opened training; `training` holds its name, so that the browser applies them once
    and keeps later edits; empty for none"""
    words: dict[str, str] = {}


class MethodsPicker(Widget):
    """Component of the methods. Events: `count`, `estimate`, `start`, each with the fields of `TrainingChoice`."""

    data_model = MethodsData
    sends = ("count", "estimate", "start")


_previews: BytesCache[tuple, Preview] = BytesCache(2000, lambda preview: 1)
"""Counts by model, method, outputs and settings"""


def _counted(model: LoadedModel, method: str, outputs: int, given: tuple[tuple[str, object], ...]) -> Preview:
    from vitexplorer.finetune.preview import preview

    key = (model.provenance, method, outputs, given)
    counts = _previews.get(key)
    if counts is None:
        counts = preview(model, method, outputs, **dict(given))
        _previews.put(key, counts)
    return counts


def methods_data(
    model: LoadedModel,
    outputs: int,
    ready: bool,
    language: Language,
    choice: TrainingChoice | None = None,
    estimated: dict[str, Estimate | Text] | None = None,
) -> MethodsData:
    """Return every method with its counts, fewest trained parameters first, methods that do not fit the model last.

    A tuned model refuses every method. `outputs` is the number of classes, or 1 for regression. `choice` is None for
    the defaults. `estimated` has estimates, or reasons why there are none, by the keys of the candidates.
    """
    from vitexplorer.finetune.methods import METHODS

    chosen = {method.key: method for method in choice.methods} if choice else {}
    items = []
    for key, record in METHODS.items():
        first = _counted(model, key, outputs, ())
        item = MethodItem(
            key=key,
            title=record.title.in_(language),
            sentence=record.sentence.in_(language),
            paper=record.paper.in_(language) if record.paper else "",
            paper_url=record.paper.url if record.paper else "",
            on=(key in chosen if choice else record.is_usual) and first.refused is None,
        )
        if first.refused:
            item.refused = first.refused.in_(language)
            item.impossible = True
        else:
            _count(item, model, outputs, chosen, estimated or {}, language)
            rate = f"{record.recipe.learning_rate:g}"
            settings = [*(control.spec() for control in record.controls), learning_rate(rate)]
            item.settings = [field_of(spec, language) for spec in settings]
        items.append((first.refused is not None, first.trainable, item))
    return MethodsData(
        items=[item for _, _, item in sorted(items, key=lambda entry: entry[:2])],
        fields=[field_of(spec, language) for spec in plan_specs()],
        asked=choice is not None,
        ready=ready,
        words=in_language(TRAINING_WORDS, language, "methods_"),
    )


def _count(
    item: MethodItem,
    model: LoadedModel,
    outputs: int,
    chosen: dict,
    estimated: dict[str, Estimate | Text],
    language: Language,
) -> None:
    """Fill in the counts and the estimate of a method under its settings, or the error in its settings."""
    given = {}
    name = item.key
    if item.key in chosen:
        try:
            chosen_candidate = candidate(chosen[item.key])
        except ExplainedError as error:
            item.refused = error.text.in_(language)
            return
        given = chosen_candidate.settings
        name = chosen_candidate.key
    counts = _counted(model, item.key, outputs, tuple(sorted(given.items())))
    if counts.refused:
        item.refused = counts.refused.in_(language)
        return
    item.counts = say(
        "methods_counts",
        language,
        trainable=f"{counts.trainable:,}",
        total=f"{counts.total:,}",
        share=percentage(counts.trainable / counts.total),
    )
    estimate = estimated.get(name)
    if isinstance(estimate, Text):
        item.refused = estimate.in_(language)
    elif estimate is not None:
        item.estimate = say(
            "methods_estimated",
            language,
            time=duration(estimate.seconds, language),
            memory=memory(estimate.memory_bytes),
        )
