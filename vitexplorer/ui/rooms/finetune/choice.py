"""A visitor's plan of a training: its fields, and what a browser sent of them, checked and made into a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, get_args

from vitexplorer.controls import Spec
from vitexplorer.core.settings import settings
from vitexplorer.core.text import SettingError, Text
from vitexplorer.finetune.job.plan import Augmentation, Candidate, ClassWeights, Head, JobConfig, Plan
from vitexplorer.service.training_images import Chosen
from vitexplorer.storage.claims import JobError
from vitexplorer.ui.rooms.finetune.backbone import backbones
from vitexplorer.ui.rooms.finetune.words import TRAINING_WORDS

if TYPE_CHECKING:
    from vitexplorer.models.loading import LoadedModel


PLANNED = ("epochs", "seed", "augmentation", "class_weights", "head")
"""fields of `Plan` that the page asks for"""


@dataclass(frozen=True)
class MethodChoice:
    """One method as a browser sends it; the settings are text."""

    key: str
    settings: Mapping[str, str]
    rate: str = ""
    """learning rate; empty for the method's own"""


@dataclass(frozen=True)
class TrainingChoice:
    """Everything that is asked for but the images and the model."""

    methods: tuple[MethodChoice, ...]
    epochs: str = "10"
    seed: str = "0"
    augmentation: str = "crop_flip"
    class_weights: str = "none"
    head: str = "baseline"
    backbone: str = ""
    """a convolutional network; empty for the model on the screen"""

    @classmethod
    def read(cls, sent: Mapping[str, Any]) -> TrainingChoice:
        """Read what a browser sent; methods that do not exist are left out."""
        methods = [_read_method(one) for one in sent.get("methods", ())]
        known = {one.name: str(sent[one.name]) for one in fields(cls) if one.name != "methods" and one.name in sent}
        return cls(tuple(method for method in methods if method is not None), **known)


def _read_method(sent: Mapping[str, Any]) -> MethodChoice | None:
    from vitexplorer.finetune.methods import METHODS

    if sent["key"] not in list(METHODS):
        return None
    given = dict(sent["settings"])
    rate = given.pop("learning_rate", "")
    return MethodChoice(sent["key"], given, rate)


def learning_rate(usual: str) -> Spec:
    """The field of a method that is no setting of its own."""
    return Spec("text", "learning_rate", TRAINING_WORDS["methods_rate"], usual, more={"keyboard": "decimal"})


def plan_specs() -> tuple[Spec, ...]:
    """The fields of the plan, with what `TrainingChoice` begins with."""
    usual, words = TrainingChoice(()), TRAINING_WORDS
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


def candidate(model: LoadedModel, method: MethodChoice) -> Candidate:
    """One method with what differs from its defaults. Raises SettingError, UnknownNameError."""
    from vitexplorer.finetune.attaching import checked_settings

    usual = checked_settings(model, method.key, {})
    given = checked_settings(model, method.key, method.settings)
    different = {name: value for name, value in given.items() if value != usual[name]}
    return Candidate(method.key, different, _rate(method))


def _rate(method: MethodChoice) -> float | None:
    from vitexplorer.finetune.methods import METHODS

    if not method.rate.strip():
        return None
    rate = _number("learning_rate", method.rate, float)
    return None if rate == METHODS[method.key].recipe.learning_rate else rate


def _number(name: str, written: str, kind: type) -> Any:
    try:
        return kind(written)
    except ValueError:
        raise SettingError(
            Text("{name} must be a number, not {value}.", "{name} 必须是数字，而不是 {value}。").format(
                name=name, value=repr(written)
            )
        ) from None


def job_of(choice: TrainingChoice, chosen: Chosen, model: LoadedModel, name: str, weights: str) -> JobConfig:
    """The job that was asked for. Raises JobError, SettingError, UnknownNameError with a sentence."""
    if not choice.methods:
        raise JobError(TRAINING_WORDS["methods_none"])
    epochs = _number("epochs", choice.epochs, int)
    if epochs > settings().training_epochs:
        raise JobError(TRAINING_WORDS["methods_too_long"].format(most=settings().training_epochs))
    chosen_plan = {name: getattr(choice, name) for name in PLANNED}
    plan = Plan(**{**chosen_plan, "epochs": epochs, "seed": _number("seed", choice.seed, int)})
    return JobConfig(
        data=chosen.folder,
        model=name,
        candidates=tuple(candidate(model, method) for method in choice.methods),
        plan=plan,
        weights=weights,
        image_column=chosen.pick.image,
        target_column=chosen.pick.target,
        task=chosen.pick.task,
    )
