"""Attaching a fine-tuning method to a private copy of a model; the result is again a `LoadedModel`.

`merge` folds what was learned into the weights, where the method allows it, and returns a plain model.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from numbers import Integral
from typing import Any

from torch import nn

from vitexplorer.controls import checked
from vitexplorer.core.capture_protocol import OTHER_NAMES
from vitexplorer.core.format import counted, fine_percent
from vitexplorer.core.summaries import Summary, described
from vitexplorer.core.text import ITEMS, SettingError, Text, UnsupportedError
from vitexplorer.core.types import Provenance
from vitexplorer.finetune.method import Method
from vitexplorer.finetune.methods import METHODS
from vitexplorer.finetune.parts.heads import new_head, output_layers
from vitexplorer.models.about import tuned_source
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.outline import classifiers
from vitexplorer.models.seeding import seeded

_TEXTS_STAY = Text(
    "The text half was not fine-tuned with the image half: a text may no longer mean the patches that it meant.",
    "文字部分没有随图像部分一起微调：同一段文字可能不再指向原来的图块。",
)


@dataclass(frozen=True)
class TunedModel(LoadedModel):
    """A model with a method attached. Its `module` is still the timm class, with parts added to it."""

    method: str = ""
    """Key of the method in `methods()`"""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Values of the method's controls"""
    base: Provenance | None = None
    """Provenance of the base model"""
    seed: int = 0
    """Seed of the values drawn when the method was attached"""

    def _summary(self) -> Summary:
        model = super()._summary()
        counts = count_parameters(self)
        settings = f" ({described(self.settings)})" if self.settings else ""
        share = fine_percent(counts.trainable / counts.total)
        trained = f"trains {counted(counts.trainable)} parameters ({share}), {counted(counts.head)} of them the head"
        return model._replace(rows=(("method", f"{self.method}{settings}, {trained}"), *model.rows))


@dataclass(frozen=True)
class Counts:
    """Parameters of a tuned model."""

    total: int
    """All parameters, the base model's included"""
    trainable: int
    """Trained parameters, the head's included"""
    head: int
    """Parameters of the layers that compute the logits"""


def methods() -> dict[str, Method]:
    """Return every fine-tuning method by key, with its controls, paper and recipe."""
    return dict(METHODS)


def checked_settings(method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Check the settings that were given and return all settings of the method, defaults for the rest.

    Raises:
        UnknownNameError: the method or a setting does not exist.
        SettingError: a value that its control cannot take.
    """
    return checked(METHODS[method].controls, None, given)


def attach(
    model: LoadedModel,
    method: str,
    num_classes: int | None = None,
    *,
    class_names: tuple[str, ...] = (),
    seed: int = 0,
    **settings: Any,
) -> TunedModel:
    """Return a private copy of `model`, in eval mode, with a method and a new head; `model` is unchanged.

    Only what the method trains requires gradients. Before training, the copy's features equal the model's,
    bit for bit or within rounding, unless the method `changes_output`. The head is the same for every method.

    Args:
        model: from `load_model` or `load_backbone`.
        method: a key of `methods()`.
        num_classes: classes of the new classifier, 1 for a regression; None keeps the model's classifier.
        class_names: one name for each class, if known.
        seed: seed of everything that is drawn: head, low-rank matrices, prompts.
        settings: values of the method's controls; defaults for the rest.

    Raises:
        UnknownNameError: the method or a setting does not exist; the message names the nearest.
        SettingError: a value that its control cannot take, neither a classifier nor `num_classes`, or a wrong number
            of class names.
        UnsupportedError: the method has no place in this architecture; the message says why.
    """
    record = METHODS[method]
    _check(model, record)
    _check_classes(model, num_classes, class_names)
    chosen = checked_settings(method, settings)
    module = copy.deepcopy(model.module).requires_grad_(False)
    keeps_classifier = num_classes is None and not class_names
    names = (model.class_names, model.class_names_zh) if keeps_classifier else (class_names, ())
    notes = () if model.provenance.weights == "bundled" else model.notes  # bundled notes state its own accuracy
    named = replace(model, module=module, class_names=names[0], class_names_zh=names[1], notes=notes)
    named = replace(named, decoder=None, unsized=None)  # both belong to the original module
    if model.projects and num_classes is not None:
        named = replace(named, projects=False, text=None)  # the new head takes the place of the projection
    with seeded(seed):
        new_head(module, num_classes)
        injected = record.inject(named, **chosen)
    module.to(model.device).eval()
    if injected.text is not None and _trains_features(module):
        injected = replace(injected, notes=(*injected.notes, _TEXTS_STAY))
    return TunedModel(
        **{f.name: getattr(injected, f.name) for f in fields(LoadedModel)},
        method=method,
        settings=chosen,
        base=model.provenance,
        seed=seed,
    )


def _trains_features(module: nn.Module) -> bool:
    heads = tuple(f"{head}." for head in classifiers(module))
    return any(each.requires_grad and not name.startswith(heads) for name, each in module.named_parameters())


def trained(tuned: TunedModel) -> TunedModel:
    """Return the same model with the provenance "fine-tuned", for captions; call it when training ends."""
    return replace(tuned, provenance=Provenance(tuned.name, "fine-tuned", tuned_source(tuned.method, tuned.base)))


def _check(model: LoadedModel, record: Method) -> None:
    if isinstance(model, TunedModel):
        raise UnsupportedError(
            Text(
                "{model} already carries {method}: merge it first, or begin with the model it was made from.",
                "{model} 已带有 {method}：请先合并，或从原模型开始。",
            ).format(model=model.name, method=METHODS[model.method].title)
        )
    if not model.family.names_of_timm:
        raise UnsupportedError(OTHER_NAMES.format(model=model.name))
    if record.families is not None and model.family.key not in record.families:
        known = [other.title for other in METHODS.values() if other.families is None]
        raise UnsupportedError(
            Text(
                "{method} is not made for {model} (family: {family}). Methods for it: {known}.",
                "{method} 不适用于 {model}（家族：{family}）。可用的方法：{known}。",
            ).format(method=record.title, model=model.name, family=model.family.title, known=ITEMS.join(known))
        )


def _check_classes(model: LoadedModel, num_classes: int | None, class_names: tuple[str, ...]) -> None:
    is_count = num_classes is None or (isinstance(num_classes, Integral) and num_classes >= 1)
    outputs = model.num_classes if num_classes is None else num_classes
    if not is_count or isinstance(num_classes, bool) or (class_names and len(class_names) != outputs):
        raise SettingError(
            Text(
                "num_classes must be a whole number of at least 1, and class_names must have as many names, not "
                "{count} and {names}.",
                "num_classes 应为不小于 1 的整数，class_names 的个数应与之相同，而不是 {count} 和 {names} 个。",
            ).format(count=repr(num_classes), names=len(class_names))
        )


def count_parameters(model: LoadedModel) -> Counts:
    """Count all parameters, those that train, and those of the layers that compute the logits."""
    module = model.module
    return Counts(
        total=sum(parameter.numel() for parameter in module.parameters()),
        trainable=sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad),
        head=sum(parameter.numel() for layer in output_layers(module) for parameter in layer.parameters()),
    )


def merge(tuned: TunedModel) -> LoadedModel:
    """Return a plain model with the same logits and what was learned in its weights; `tuned` is unchanged.

    Raises UnsupportedError for methods whose parts cannot be folded into a weight: adapters, prompts, a deeper head.
    """
    record = METHODS[tuned.method]
    if record.merge is None:
        raise UnsupportedError(
            Text(
                "{method} does not merge into the weights. Save it with save_tuned.",
                "{method} 无法合并进权重。请用 save_tuned 保存。",
            ).format(method=record.title)
        )
    module: nn.Module = copy.deepcopy(tuned.module)
    record.merge(module)
    plain = {f.name: getattr(tuned, f.name) for f in fields(LoadedModel)}
    return LoadedModel(**{**plain, "module": module.requires_grad_(False).eval()})
