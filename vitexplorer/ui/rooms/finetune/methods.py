"""The methods to compare, as a component: switches with counts and settings, epochs and seed, estimate and start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from vitexplorer.core.cache import BytesCache
from vitexplorer.core.text import ExplainedError, Language, Text
from vitexplorer.service.amounts import duration, memory, percentage
from vitexplorer.ui.controls import Field, field_of
from vitexplorer.ui.kit.widget import Widget
from vitexplorer.ui.rooms.finetune.choice import TrainingChoice, candidate, learning_rate, plan_specs
from vitexplorer.ui.rooms.finetune.words import say, words_with

if TYPE_CHECKING:
    from vitexplorer.finetune.preview import Preview
    from vitexplorer.finetune.results.records import Estimate
    from vitexplorer.models.loading import LoadedModel


class MethodItem(BaseModel):
    """One method."""

    key: str
    title: str
    sentence: str
    paper: str = ""
    paper_url: str = ""
    on: bool = False
    refused: str = ""
    """why it has no place in this model, or why a setting is not possible"""
    impossible: bool = False
    """whether it has no place in this model, whatever is set"""
    counts: str = ""
    estimate: str = ""
    settings: list[Field] = []
    """the method's own and its learning rate"""


class MethodsData(BaseModel):
    """All methods for one model and one number of classes."""

    backbone: str = ""
    """in words"""
    fields: list[Field] = []
    """of the plan, as it begins"""
    items: list[MethodItem] = []
    asked: bool = False
    """whether the counts are those of what is ticked and set, and not of the defaults"""
    ready: bool = False
    """whether there are images that can be trained on"""
    working: str = ""
    """while something is made ready; stands alone"""
    refused: str = ""
    """why the training did not start; stands alone"""
    plan: dict[str, str] = {}
    """what the fields are to say, as of the training that was opened, which `training` names, so that fields that were
    changed since are left alone; empty for none"""
    words: dict[str, str] = {}


class MethodsPicker(Widget):
    """The methods. Fires `count`, `estimate` and `start` with the whole choice, see `TrainingChoice`."""

    data_model = MethodsData
    stem = "methods"
    sends = ("count", "estimate", "start")


_previews: BytesCache[tuple, Preview] = BytesCache(2000, lambda preview: 1)
"""of (model, method, outputs, settings); so many of them"""


def _counted(model: LoadedModel, method: str, outputs: int, given: tuple[tuple[str, object], ...]) -> Preview:
    from vitexplorer.finetune.preview import preview

    key = (model.provenance, method, outputs, given)
    found = _previews.get(key)
    if found is None:
        found = preview(model, method, outputs, **dict(given))
        _previews.put(key, found)
    return found


def methods_data(
    model: LoadedModel,
    outputs: int,
    ready: bool,
    language: Language,
    choice: TrainingChoice | None = None,
    estimated: dict[str, Estimate | Text] | None = None,
) -> MethodsData:
    """Every method with its counts; fewest trained parameters first, those without a place in the model last.

    Args:
        model: the backbone; a tuned one refuses every method.
        outputs: classes, or 1.
        ready: whether there are images to train on.
        choice: what is ticked and set; the usual where None.
        estimated: by the keys of the candidates.
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
            item.refused, item.impossible = first.refused.in_(language), True
        else:
            _count(item, model, outputs, chosen, estimated or {}, language)
            rate = f"{record.recipe.learning_rate:g}"
            settings = [*(control.spec() for control in record.controls), learning_rate(rate)]
            item.settings = [field_of(spec, language) for spec in settings]
        items.append((first.refused is not None, first.trainable, item))
    return MethodsData(
        items=[item for _, _, item in sorted(items, key=lambda one: one[:2])],
        fields=[field_of(spec, language) for spec in plan_specs()],
        asked=choice is not None,
        ready=ready,
        words=words_with("methods_", language),
    )


def _count(
    item: MethodItem,
    model: LoadedModel,
    outputs: int,
    chosen: dict,
    estimated: dict[str, Estimate | Text],
    language: Language,
) -> None:
    """Counts and estimate of a method as it is set, or what is wrong with its settings."""
    given, name = {}, item.key
    if item.key in chosen:
        try:
            asked = candidate(model, chosen[item.key])
        except ExplainedError as error:
            item.refused = error.text.in_(language)
            return
        given, name = asked.settings, asked.key
    found = _counted(model, item.key, outputs, tuple(sorted(given.items())))
    if found.refused:
        item.refused = found.refused.in_(language)
        return
    item.counts = counts_text(found, language)
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


def counts_text(found: Preview, language: Language) -> str:
    """So many of so many parameters, and their share."""
    share = percentage(found.trainable / found.total)
    return say("methods_counts", language, trainable=f"{found.trainable:,}", total=f"{found.total:,}", share=share)
