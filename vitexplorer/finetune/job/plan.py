"""What a training is asked to do: the plan that all methods of a comparison share, the methods, the data, the model.

Plain frozen records that go to JSON and back (`folder.CONFIG`), so that a run folder says exactly what was asked. A
wrong value is answered where it enters, with a sentence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal

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
    "augmentation": ("none", "crop_flip", "crop_flip_colour"),
    "precision": ("auto", "no", "bf16"),
    "loss": ("auto", "cross_entropy", "mse", "bce"),
    "class_weights": ("none", "balanced"),
    "head": ("baseline", "fresh"),
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
"""what the methods have their own of, where the plan has none"""
_MOST_KEY = 200
"""bytes of the name of a run, which is that of its folder"""


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
    """How to train; the same for every method of a comparison but for the learning rate, which is never shared."""

    epochs: int = 10
    batch_size: int = 0
    """images of one optimiser step, over all processes; 0: 64 on an accelerator, 16 on a processor"""
    accumulate: int = 1
    """pieces that a step's batch is computed in, one after the other: less memory, the same gradient"""
    weight_decay: float | None = None
    """of matrices, never of biases, gains and tokens; None: the method's own"""
    warmup: float = 0.1
    """share of all steps in which the rate rises linearly; then it falls as a cosine to 0"""
    drop_path: float | None = None
    """share of dropped branches in the last block, rising linearly from 0 in the first; None: the method's own"""
    augmentation: Augmentation = "crop_flip"
    """of live trainings: random resized crop and flip, and colour jitter where asked for"""
    views: int = 1
    """copies of each image that are cached where a method trains from a cache: the plain one, the others augmented"""
    loss: Loss = "auto"
    """cross_entropy for classes; mse, or bce (sigmoid between the bounds of the targets), for numbers"""
    class_weights: ClassWeights = "none"
    """"balanced": each class weighs images / (classes x its images) in the loss"""
    head: Head = "baseline"
    """what a new classifier begins as: the regression of the instant baseline, or timm's fresh one; after a linear
    probe a body changes less of what it knew (Kumar et al. 2022, arXiv 2202.10054)"""
    label_smoothing: float = 0.0
    patience: int = 0
    """epochs without a better validation metric after which a run ends; 0: never"""
    clip: float = 1.0
    """largest norm of the gradient; 0: any"""
    precision: Precision = "auto"
    """"auto": bfloat16 where it is measured to be faster"""
    validation: float = 0.2
    """share of the images that is held out"""
    seed: int = 0
    """of the split, the new head, the order of the images, their augmentation and dropout"""
    checkpoint_seconds: float = 30.0
    """time between checkpoints within an epoch; one is written after every epoch. 0: after every step"""

    def __post_init__(self):
        for name, options in _CHOICES.items():
            if getattr(self, name) not in options:
                raise unknown_name(name, getattr(self, name), options)
        for name, (low, high) in _BOUNDS.items():
            if getattr(self, name) is not None or name not in _OWN:
                _check_number(name, getattr(self, name), low, high, whole=type(getattr(Plan, name)) is int)


@dataclass(frozen=True)
class Candidate:
    """One method with its settings: one run of a job."""

    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    """controls of the method that are not at their defaults"""
    learning_rate: float | None = None
    """at the peak of the schedule; None: the method's own"""

    def __post_init__(self):
        if self.learning_rate is not None:
            _check_number("learning_rate", self.learning_rate, 0, 100)
        if self.key.startswith(".") or not 0 < len(self.key.encode()) <= _MOST_KEY:
            raise SettingError(
                Text("No method is called {name}.", "没有名为 {name} 的方法。").format(name=repr(self.key[:_MOST_KEY]))
            )

    @property
    def key(self) -> str:
        """Name of the run and of its folder: the method and what differs from its defaults, `lora-r=4`."""
        parts = [f"{name}={value}" for name, value in sorted(self.settings.items())]
        parts += [] if self.learning_rate is None else [f"lr={self.learning_rate:g}"]
        return "".join(c if c.isalnum() or c in "-_=.+" else "_" for c in "-".join([self.method, *parts]))


def _with_head(plan: Any) -> Any:
    """Plans from before it could be said how a head begins began fresh."""
    return {"head": "fresh", **plan} if isinstance(plan, dict) else plan


@dataclass(frozen=True)
class JobConfig:
    """Everything that decides the outcome of a job; written to `config.json` of its folder."""

    data: str
    """a folder, or a .zip or .csv, as `finetune.data` reads it"""
    model: str
    """a name for `load_model`"""
    candidates: tuple[Candidate, ...]
    plan: Annotated[Plan, BeforeValidator(_with_head)] = Plan()
    weights: str = "auto"
    """for `load_model`: "auto", "pretrained", "bundled", "random" or a path"""
    weights_seed: int = 0
    image_column: str | None = None
    """of the table, where there is one; None: the one that names most images"""
    target_column: str | None = None
    """the table's column to learn; None: the first that makes sense"""
    task: Task | None = None
    """what the column is; None: what it looks like"""

    def __post_init__(self):
        keys = [candidate.key for candidate in self.candidates]
        if not keys:
            raise SettingError(Text("Name at least one method.", "请至少指定一种方法。"))
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice:
            raise SettingError(Text("The run {key} was asked for twice.", "训练 {key} 被重复指定。").format(key=twice))

    def but_for_candidates(self) -> dict[str, Any]:
        """Everything without its methods: jobs that agree in this can be compared."""
        return {name: value for name, value in vars(self).items() if name != "candidates"}


def plan_of(**values: Any) -> Plan:
    """A plan from what a person wrote. Raises UnknownNameError for a field that is none, and what `Plan` raises."""
    known = [field.name for field in fields(Plan)]
    for name in values:
        if name not in known:
            raise unknown_name("setting", name, known)
    return Plan(**values)


def sort_controls(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(fields of the plan, the rest, which are settings of the method) of what was given in one list."""
    known = {field.name for field in fields(Plan)}
    return (
        {name: value for name, value in given.items() if name in known},
        {name: value for name, value in given.items() if name not in known},
    )
