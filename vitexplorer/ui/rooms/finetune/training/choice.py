"""Choice of a training by a visitor: its form fields, and the checked conversion to a job's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, get_args

from vitexplorer.controls import Spec
from vitexplorer.core.settings import settings
from vitexplorer.core.text import SettingError, Text
from vitexplorer.finetune.job.plan import Augmentation, Candidate, ClassWeights, Head, JobConfig, Plan
from vitexplorer.service.training_images import Chosen
from vitexplorer.storage.claims import JobError
from vitexplorer.ui.rooms.finetune.training.backbone import Backbone, backbones
from vitexplorer.ui.rooms.finetune.words import TRAINING_WORDS

PLANNED = ("epochs", "seed", "augmentation", "class_weights", "head")
"""Fields of `Plan` that the page offers"""


@dataclass(frozen=True)
class MethodChoice:
    """Method as a browser sends it; settings are text."""

    key: str
    settings: Mapping[str, str]
    rate: str = ""
    """Learning rate; empty for the method's own"""


@dataclass(frozen=True)
class TrainingChoice:
    """Choice of methods and plan; images and model are chosen elsewhere."""

    methods: tuple[MethodChoice, ...]
    epochs: str = "10"
    seed: str = "0"
    augmentation: str = "crop_flip"
    class_weights: str = "none"
    head: str = "baseline"
    backbone: str = ""
    """Name of a convolutional network; empty for the model on the screen"""

    @classmethod
    def read(cls, sent: Mapping[str, Any]) -> TrainingChoice:
        """Read the fields that a browser sent; unknown methods are left out."""
        methods = [_read_method(method) for method in sent.get("methods", ())]
        names = {field.name for field in fields(cls)} - {"methods"}
        plan = {name: str(sent[name]) for name in names if name in sent}
        return cls(tuple(method for method in methods if method is not None), **plan)


def _read_method(sent: Mapping[str, Any]) -> MethodChoice | None:
    from vitexplorer.finetune.methods import METHODS

    if sent["key"] not in list(METHODS):
        return None
    given = dict(sent["settings"])
    rate = given.pop("learning_rate", "")
    return MethodChoice(sent["key"], given, rate)


def learning_rate(usual: str) -> Spec:
    """Return the field of the learning rate, which is no setting of a method; `usual` is its default."""
    return Spec("text", "learning_rate", TRAINING_WORDS["methods_rate"], usual, more={"keyboard": "decimal"})


def plan_specs() -> tuple[Spec, ...]:
    """Return the fields of the plan, with the defaults of `TrainingChoice`."""
    usual = TrainingChoice(())
    words = TRAINING_WORDS
    kinds = (("augmentation", Augmentation), ("class_weights", ClassWeights), ("head", Head))
    return (
        Spec("number", "epochs", words["methods_epochs"], usual.epochs, low=1, high=settings().training_epochs, step=1),
        Spec("number", "seed", words["methods_seed"], usual.seed, low=0, high=2**32 - 1, step=1),
        *(
            Spec(
                "choice",
                name,
                words[f"methods_{name}"],
                getattr(usual, name),
                options=tuple((key, words[f"methods_{name}_{key}"]) for key in get_args(kind)),
            )
            for name, kind in kinds
        ),
        Spec("choice", "backbone", words["methods_base"], usual.backbone, options=backbones()),
    )


def candidate(method: MethodChoice) -> Candidate:
    """Return a method with the settings that differ from its defaults.

    Raises:
        SettingError: for a value that a setting cannot take.
        UnknownNameError: for a setting that the method does not have.
    """
    from vitexplorer.finetune.attaching import checked_settings

    usual = checked_settings(method.key, {})
    given = checked_settings(method.key, method.settings)
    different = {name: value for name, value in given.items() if value != usual[name]}
    return Candidate(method.key, different, _rate(method))


def _rate(method: MethodChoice) -> float | None:
    from vitexplorer.finetune.methods import METHODS

    if not method.rate.strip():
        return None
    rate = _number("learning_rate", method.rate, float)
    return None if rate == METHODS[method.key].recipe.learning_rate else rate


def _number(name: str, text: str, kind: type) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise SettingError(
            Text("{name} must be a number, not {value}.", "{name} 必须是数字，而不是 {value}。").format(
                name=name, value=repr(text)
            )
        ) from None


def job_of(choice: TrainingChoice, chosen: Chosen, backbone: Backbone) -> JobConfig:
    """Return the configuration of the chosen job on the chosen images.

    Raises:
        JobError: without a method, or for more epochs than the installation allows.
        SettingError: for a value that a setting cannot take.
        UnknownNameError: for a setting that the method does not have.
    """
    if not choice.methods:
        raise JobError(TRAINING_WORDS["methods_none"])
    epochs = _number("epochs", choice.epochs, int)
    if epochs > settings().training_epochs:
        raise JobError(TRAINING_WORDS["methods_too_long"].format(most=settings().training_epochs))
    chosen_plan = {name: getattr(choice, name) for name in PLANNED}
    plan = Plan(**{**chosen_plan, "epochs": epochs, "seed": _number("seed", choice.seed, int)})
    return JobConfig(
        data=chosen.folder,
        model=backbone.picture.model,
        candidates=tuple(candidate(method) for method in choice.methods),
        plan=plan,
        weights=backbone.weights,
        image_column=chosen.pick.image,
        target_column=chosen.pick.target,
        task=chosen.pick.task,
    )
