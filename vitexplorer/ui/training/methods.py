"""The methods to compare, as a component: switches with counts and settings, epochs and seed, estimate and start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gradio.data_classes import GradioModel

from vitexplorer.cache import BytesCache
from vitexplorer.ui.controls import Field, Option, field_of
from vitexplorer.ui.parts.widget import Widget
from vitexplorer.ui.training.amounts import duration, memory, percentage
from vitexplorer.ui.training.choice import TrainingChoice, candidate
from vitexplorer.ui.training.words import say, words_with
from vitexplorer.words import ExplainedError, Language, Text

if TYPE_CHECKING:
    from vitexplorer.finetune.preview import Preview
    from vitexplorer.finetune.results.records import Estimate
    from vitexplorer.models.loading import LoadedModel


class MethodItem(GradioModel):
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
    rate: str = ""
    """the method's own learning rate"""
    settings: list[Field] = []


class PlanChoice(GradioModel):
    """What the fields of the plan are to say, as of the training that was opened."""

    training: str
    """so that fields that were changed since are left alone"""
    epochs: str
    seed: str
    augmentation: str
    class_weights: str
    head: str
    backbone: str
    """a convolutional network; empty for the model on the screen"""


class MethodsData(GradioModel):
    """All methods for one model and one number of classes."""

    backbone: str = ""
    """in words"""
    backbones: list[Option] = []
    """the menu"""
    items: list[MethodItem] = []
    asked: bool = False
    """whether the counts are those of what is ticked and set, and not of the defaults"""
    ready: bool = False
    """whether there are images that can be trained on"""
    working: str = ""
    """while something is made ready; stands alone"""
    refused: str = ""
    """why the training did not start; stands alone"""
    plan: PlanChoice | None = None
    """None leaves the fields as they are"""
    words: dict[str, str] = {}


class MethodsPicker(Widget):
    """The methods. Fires `count`, `estimate` and `start` with the whole choice, see `TrainingChoice`."""

    data_model = MethodsData
    stem = "methods"
    sends = ("count", "estimate", "start")
    folder = Path(__file__).parent


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
            paper=record.paper.citation if record.paper else "",
            paper_url=record.paper.url if record.paper else "",
            on=(key in chosen if choice else record.is_usual) and first.refused is None,
            rate=f"{record.recipe.learning_rate:g}",
        )
        if first.refused:
            item.refused, item.impossible = first.refused.in_(language), True
        else:
            _count(item, model, outputs, chosen, estimated or {}, language)
            item.settings = [field_of(control.spec(), language) for control in record.controls]
        items.append((first.refused is not None, first.trainable, item))
    return MethodsData(
        items=[item for _, _, item in sorted(items, key=lambda one: one[:2])],
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
