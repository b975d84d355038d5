"""Options that describe a run: model, weights, image, fit, size and interventions."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import vitexplorer as vx
from vitexplorer.cli.text import ProgressBar
from vitexplorer.core.capture_protocol import PARTS, Keep
from vitexplorer.core.settings import settings
from vitexplorer.core.text import SettingError, Text
from vitexplorer.core.types import Fit
from vitexplorer.models.examples import examples

if TYPE_CHECKING:
    from vitexplorer.capturing.capture import Capture
    from vitexplorer.models.loading import LoadedModel

_TWO_IMAGES = Text(
    "Expected one picture, and {image} and --image {option} are two.",
    "只能指定一幅图像，而 {image} 与 --image {option} 是两幅。",
)


@dataclass(frozen=True)
class Run:
    """Options of a run; None for an option that is left out."""

    image: Path | None
    model: str | None
    """Name, or path of a file or folder; None takes the model of the weight file or, without one, of the settings"""
    weights: str
    weights_seed: int
    fit: Fit
    size: str | None
    change: str | None

    @classmethod
    def taken_from(cls, given: dict[str, Any]) -> Run:
        """Remove the run's options from `given` and return them as a run. Raises SettingError for two images."""
        option = given.pop("image_option")
        if option and given["image"]:
            raise SettingError(_TWO_IMAGES.format(image=given["image"], option=option))
        given["image"] = given["image"] or option
        return cls(**{field.name: given.pop(field.name) for field in fields(cls)})

    def load(self) -> LoadedModel:
        """Load the model, with a progress bar for downloads.

        Raises:
            UnknownNameError: the model is unknown.
            WeightsError: the weights cannot be read or do not fit.
            DownloadError: the weights cannot be downloaded.
            SettingError: the file was tuned from another model than the one named.
        """
        file = Path(os.path.expanduser(self.weights))
        if (tuned := _tuned(self.model, file) or self._tuned_named()) is not None:
            return tuned
        model = self.model or (None if os.path.exists(file) else settings().model)
        with ProgressBar(unit="B", unit_scale=True, unit_divisor=1024, delay=0.1, leave=False) as bar:
            return vx.load_model(model, weights=self.weights, seed=self.weights_seed, progress=bar.report)

    def _tuned_named(self) -> LoadedModel | None:
        """Load the tuned model if the option `model` is the path of one."""
        if self.model is None or self.weights != "auto":
            return None
        from vitexplorer.models.loading import path_named

        path = path_named(self.model)
        return None if path is None else _tuned(None, path)

    def capture(self, model: LoadedModel, differentiable: bool = False, keep: Keep = PARTS) -> Capture:
        """Capture the run of `model`, with the interventions of `change`. Raises the errors of both.

        `differentiable` and `keep` as for `vx.capture`; a run with interventions keeps all parts, and no graph.
        """
        image = self.image or next(iter(examples().values())).path
        if not self.change:
            return vx.capture(model, image, self.fit, self.size, differentiable=differentiable, keep=keep)
        return vx.intervene(vx.capture(model, image, self.fit, self.size), self.change)


def _tuned(model: str | None, file: Path) -> LoadedModel | None:
    """Load the tuned model of a file that `save_tuned` wrote; None for any other file."""
    if not file.is_file():
        return None
    from vitexplorer.finetune.storing import load_tuned
    from vitexplorer.models.about import about

    about_file = about(file)
    if about_file is None or about_file.merged:
        return None
    if model is not None and about_file.base.model != model:
        raise SettingError(
            Text(
                "{file} was tuned from {base}, not from {model}: name that model.",
                "{file} 由 {base} 微调而来，而不是 {model}：请指定该模型。",
            ).format(file=file.name, base=about_file.base.model, model=model)
        )
    return load_tuned(file)
