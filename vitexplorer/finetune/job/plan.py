"""Configuration of a training: the plan that all methods of a comparison share, the methods, the data, the model.

Plain frozen records that are stored as JSON (`folder.CONFIG`), so that a run folder states exactly what was requested.
A wrong value raises an explained error on construction.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator

from vitexplorer.core.registry import unknown_name
from vitexplorer.core.text import SettingError, Text
from vitexplorer.storage.dataset import Task

Augmentation = Literal["none", "crop_flip", "crop_flip_colour"]
Precision = Literal["auto", "no", "bf16"]
Loss = Literal["auto", "cross_entropy", "mse", "bce"]
ClassWeights = Literal["none", "balanced"]
Head = Literal["baseline", "fresh"]

_CHOICES = {
    "augmentation": Augmentation,
    "precision": Precision,
    "loss": Loss,
    "class_weights": ClassWeights,
    "head": Head,
}
_BOUNDS: dict[str, tuple[float, float]] = {
    "epochs": (1, 100_000),
    "batch_size": (0, 65_536),
    "accumulate": (1, 65_536),
    "weight_decay": (0, 10),
    "warmup": (0, 1),
    "drop_path": (0, 0.9),
    "views": (1, 1000),
    "label_smoothing": (0, 0.9),
    "patience": (0, 100_000),
    "clip": (0, math.inf),
    "validation": (0.01, 0.9),
    "seed": (0, 2**32 - 1),
    "checkpoint_seconds": (0, math.inf),
}
_OWN = {"weight_decay", "drop_path"}
"""Fields that default to the method's own value"""
_MOST_KEY = 200
"""Most bytes of a run's name, which names its folder"""


def _check_number(name: str, value: Any, low: float, high: float, whole: bool = False) -> None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if is_number and low <= value <= high and (not whole or value == int(value)):
        return
    kind = Text("a whole number", "整数") if whole else Text("a number", "数字")
    rule = (
        Text("of at least {low:g}", "且不小于 {low:g}").format(low=low)
        if high == math.inf
        else Text("between {low:g} and {high:g}", "且在 {low:g} 与 {high:g} 之间").format(low=low, high=high)
    )
    raise SettingError(
        Text("{name} must be {kind} {rule}, not {value}.", "{name} 必须是{kind}{rule}，而不是 {value}。").format(
            name=name, kind=kind, rule=rule, value=repr(value)
        )
    )


@dataclass(frozen=True)
class Plan:
    """Training settings that all methods of a comparison share; the learning rate is never shared."""

    epochs: int = 10
    batch_size: int = 0
    """Images of one optimiser step, over all processes; 0: 64 on an accelerator, 16 on a CPU"""
    accumulate: int = 1
    """Pieces that a step's batch is computed in, one after the other: less memory, same gradient"""
    weight_decay: float | None = None
    """Weight decay of matrices, never of biases, gains and tokens; None: the method's own"""
    warmup: float = 0.1
    """Share of all steps in which the learning rate rises linearly; then it falls as a cosine to 0"""
    drop_path: float | None = None
    """Rate of dropped branches in the last block, rising linearly from 0 in the first; None: the method's own"""
    augmentation: Augmentation = "crop_flip"
    """Augmentation: random resized crop and flip, with "crop_flip_colour" also colour jitter"""
    views: int = 1
    """Copies of each image for methods that train from a cache: one plain, the others augmented"""
    loss: Loss = "auto"
    """Loss: cross_entropy for classes; mse, or bce (sigmoid between the bounds of the targets), for numbers"""
    class_weights: ClassWeights = "none"
    """"balanced": each class weighs images / (classes x its images) in the loss"""
    head: Head = "baseline"
    """Initial classifier: the regression of the instant baseline, or timm's fresh one; starting from a linear probe
    distorts the body's features less (Kumar et al. 2022, arXiv 2202.10054)"""
    label_smoothing: float = 0.0
    patience: int = 0
    """Epochs without a better validation metric after which a run ends; 0: never"""
    clip: float = 1.0
    """Largest norm of the gradient; 0: no limit"""
    precision: Precision = "auto"
    """Precision; "auto": bfloat16 if it is measured to be faster"""
    validation: float = 0.2
    """Share of the images that is held out"""
    seed: int = 0
    """Seed of the split, the new head, the order of the images, their augmentation and dropout"""
    checkpoint_seconds: float = 30.0
    """Seconds between checkpoints within an epoch (0: after every step); every epoch ends with a checkpoint"""

    def __post_init__(self):
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in get_args(choices):
                raise unknown_name(name, getattr(self, name), get_args(choices))
        for name, (low, high) in _BOUNDS.items():
            if getattr(self, name) is not None or name not in _OWN:
                _check_number(name, getattr(self, name), low, high, whole=type(getattr(Plan, name)) is int)


_FIELDS = [field.name for field in fields(Plan)]


@dataclass(frozen=True)
class Candidate:
    """One method with its settings: one run of a job."""

    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Controls of the method that differ from their defaults"""
    learning_rate: float | None = None
    """Peak learning rate of the schedule; None: the method's own"""

    def __post_init__(self):
        if self.learning_rate is not None:
            _check_number("learning_rate", self.learning_rate, 0, 100)
        if self.key.startswith(".") or not 0 < len(self.key.encode()) <= _MOST_KEY:
            raise SettingError(
                Text("No method is called {name}.", "没有名为 {name} 的方法。").format(name=repr(self.key[:_MOST_KEY]))
            )

    @property
    def key(self) -> str:
        """Name of the run and of its folder: the method and its settings, as `lora-r=4`."""
        parts = [f"{name}={value}" for name, value in sorted(self.settings.items())]
        parts += [] if self.learning_rate is None else [f"lr={self.learning_rate:g}"]
        return "".join(c if c.isalnum() or c in "-_=.+" else "_" for c in "-".join([self.method, *parts]))


def _with_head(plan: Any) -> Any:
    """Set "fresh" in plans from earlier versions, which had no setting `head`."""
    return {"head": "fresh", **plan} if isinstance(plan, dict) else plan


@dataclass(frozen=True)
class JobConfig:
    """Everything that decides the outcome of a job; stored in `config.json` of its folder."""

    data: str
    """Path of a folder, .zip or .csv, as `finetune.data` reads it"""
    model: str
    """Model name for `load_model`"""
    candidates: tuple[Candidate, ...]
    plan: Annotated[Plan, BeforeValidator(_with_head)] = Plan()
    weights: str = "auto"
    """Weights for `load_model`: "auto", "pretrained", "bundled", "random" or a path"""
    weights_seed: int = 0
    image_column: str | None = None
    """Image column of a table; None: the column that names most images"""
    target_column: str | None = None
    """Target column of a table; None: chosen by its name, else the last"""
    task: Task | None = None
    """Task of a table's target; None: guessed from its values"""

    def __post_init__(self):
        keys = [candidate.key for candidate in self.candidates]
        if not keys:
            raise SettingError(Text("Name at least one method.", "请至少指定一种方法。"))
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice:
            raise SettingError(Text("The run {key} was asked for twice.", "训练 {key} 被重复指定。").format(key=twice))

    def but_for_candidates(self) -> dict[str, Any]:
        """Return all fields but the methods; jobs that agree in them can be compared."""
        return {name: value for name, value in vars(self).items() if name != "candidates"}


def plan_of(**values: Any) -> Plan:
    """Make a plan from user input. Raises UnknownNameError for an unknown field or option, SettingError for a value."""
    for name in values:
        if name not in _FIELDS:
            raise unknown_name("setting", name, _FIELDS)
    return Plan(**values)


def sort_controls(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Separate mixed keyword arguments into fields of the plan and settings of the method."""
    return (
        {name: value for name, value in given.items() if name in _FIELDS},
        {name: value for name, value in given.items() if name not in _FIELDS},
    )
