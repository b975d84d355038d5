"""`save_tuned` and `load_tuned`: a tuned model as one safetensors file, without its base model.

The file holds what was trained (the head included) and the statistics of the batch norms that trained. Its metadata,
one JSON text under `vitexplorer`, names the base model, the method, the classes, the preprocessing and the recipe.
Reading it runs no code. A fingerprint of every tensor that is not in the file detects a wrong base model.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from vitexplorer.core.text import Text
from vitexplorer.core.types import Provenance
from vitexplorer.finetune.attaching import TunedModel, attach, checked_settings, trained
from vitexplorer.finetune.methods import METHODS
from vitexplorer.finetune.trained_parts import learned, put_back
from vitexplorer.finetune.training.objective import Objective
from vitexplorer.models.about import About, about, metadata
from vitexplorer.models.checkpoints import WeightsError
from vitexplorer.models.input_size import at_size
from vitexplorer.models.loading import LoadedModel, Preprocessing, load_backbone
from vitexplorer.models.weightless import weightless
from vitexplorer.storage.atomic_writes import replace_file
from vitexplorer.storage.checked_reading import BrokenFileError, checked, read_header, read_tensors, save_tensors

T = TypeVar("T")


def save_tuned(tuned: TunedModel, path: str | os.PathLike, recipe: Mapping[str, Any] | None = None) -> None:
    """Write a tuned model to `path`; `recipe` describes its training, as JSON values.

    The file appears whole or not at all. Raises DiskFullError, or OSError if it cannot be written.
    """
    contents = facts(tuned) | {"fingerprint": fingerprint(tuned.module), "recipe": dict(recipe or {})}
    replace_file(Path(path), lambda beside: save_tensors(learned(tuned.module), beside, metadata(contents)))


def load_tuned(
    path: str | os.PathLike, base: LoadedModel | None = None, device: str | torch.device | None = None
) -> TunedModel:
    """Read a tuned model from a file written by `save_tuned`.

    Args:
        path: the file.
        base: the base model; loaded by the name in the file when None.
        device: device to load onto; None takes a GPU if there is one. Ignored if `base` is given.

    Raises:
        WeightsError: the file cannot be read, is not a tuned model, or does not fit the base model.
        UnknownNameError: the base model is unknown.
    """
    path = Path(path)
    about_file = _about(path)
    if about_file.merged:
        raise WeightsError(_WHOLE.format(file=path.name, model=about_file.base.model))
    if base is None:
        base = _base(about_file.base, path, device)
    base = at_size(base, preprocessing_in(path).input_size)
    shapes = weightless(base)  # check names and shapes before reading or allocating any tensor
    settings = checked_settings(about_file.method, about_file.settings)
    settings |= {"class_names": about_file.class_names, "seed": about_file.seed}
    expected = attach(shapes, about_file.method, about_file.num_classes or None, **settings)
    is_earlier = _is_earlier(expected.module, METHODS[about_file.method].absent(expected.module), path)
    tuned = attach(base, about_file.method, about_file.num_classes or None, **settings)
    _fill(tuned.module, path, METHODS[about_file.method].absent(tuned.module) if is_earlier else {})
    if tuned.class_names == base.class_names:
        tuned = replace(tuned, class_names_zh=base.class_names_zh)
    if fingerprint(tuned.module) != about_file.fingerprint:
        raise WeightsError(
            Text(
                "{file} was trained on other weights of {model} than these ({weights}).",
                "{file} 是在 {model} 的另一组权重上训练的，与当前权重（{weights}）不同。",
            ).format(file=path.name, model=base.name, weights=base.provenance.weights_text)
        )
    return trained(tuned)


_WHOLE = Text(
    '{file} is the whole model. Load it with load_model("{model}", weights="{file}").',
    '{file} 是完整的模型。请用 load_model("{model}", weights="{file}") 加载。',
)


def objective_in(path: str | os.PathLike) -> Objective:
    """Return the objective of the model in a file. Raises WeightsError if it was not written by a training."""
    return _part(Objective, _about(Path(path)).recipe.get("objective"), Path(path))


def preprocessing_in(path: str | os.PathLike) -> Preprocessing:
    """Return the preprocessing of the model in a file. Raises WeightsError if `save_tuned` did not write it."""
    return _part(Preprocessing, _about(Path(path)).preprocessing, Path(path))


def base_in(path: str | os.PathLike) -> Provenance:
    """Return the base model of the one in a file. Raises WeightsError if `save_tuned` did not write it."""
    return _about(Path(path)).base


def deleted_model_error() -> WeightsError:
    """Make the error for a model whose file was deleted."""
    return WeightsError(
        Text(
            "This model is no longer here. If it came from a file, open the file again.",
            "该模型已不在此处。如果它来自文件，请重新打开该文件。",
        )
    )


# ---------------------------------------------------------------------------------------------- contents


def facts(tuned: TunedModel) -> dict[str, Any]:
    """Return the metadata that every file of a tuned model carries."""
    return {
        "base": asdict(tuned.base) if tuned.base else {},
        "method": tuned.method,
        "settings": dict(tuned.settings),
        "seed": tuned.seed,
        "num_classes": tuned.num_classes,
        "class_names": list(tuned.class_names),
        "preprocessing": asdict(tuned.preprocessing),
    }


def fingerprint(module: nn.Module) -> str:
    """Compute the SHA-256 of the names and values of all tensors that are not in the file: the base model's."""
    own = learned(module)
    digest = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        if name not in own:
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
            digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return digest.hexdigest()


# ---------------------------------------------------------------------------------------------- reading


def _about(path: Path) -> About:
    """Read the metadata of a file, without its tensors. Raises WeightsError if there is none."""
    about_file = about(path)
    if about_file is None:
        raise _not_ours(path)
    return about_file


def _part(kind: type[T], value: Any, path: Path) -> T:
    try:
        return checked(kind, value, path)
    except BrokenFileError as error:
        raise _not_ours(path) from error


def _not_ours(path: Path) -> WeightsError:
    return WeightsError(
        Text(
            "{file} is not a tuned model of this program, or is damaged.",
            "{file} 不是本程序保存的微调模型，或文件已损坏。",
        ).format(file=path.name)
    )


def _base(base: Provenance, path: Path, device: str | torch.device | None) -> LoadedModel:
    if base.weights == "random":
        seed = base.weights_source.removeprefix("seed ")
        return load_backbone(base.model, "random", seed=_part(int, seed, path), device=device)
    if base.weights in ("bundled", "pretrained"):
        return load_backbone(base.model, base.weights, device=device)
    raise WeightsError(
        Text(
            "{file} was trained on {model} with weights of a file of its own ({source}). Load that first and give it"
            " as base.",
            "{file} 是在 {model} 的自有权重文件（{source}）上训练的。请先加载该模型，再以 base 传入。",
        ).format(file=path.name, model=base.model, source=base.weights_source)
    )


def _is_earlier(module: nn.Module, absent: Mapping[str, Tensor], path: Path) -> bool:
    """Return True if an earlier version wrote the file, which did not train the `absent` tensors.

    Raises WeightsError if its tensors match neither what the module learns now nor what it learned then.
    """
    shapes = {name: tuple(tensor.shape) for name, tensor in learned(module).items()}
    in_file = read_header(path).shapes
    if in_file == shapes:
        return False
    if in_file != {name: shape for name, shape in shapes.items() if name not in absent}:
        raise _does_not_fit(path)
    return True


def _fill(module: nn.Module, path: Path, absent: Mapping[str, Tensor]) -> None:
    """Copy the file's tensors and `absent` into the module; write nothing unless everything fits."""
    own = learned(module)
    try:
        tensors, _ = read_tensors(path)
    except BrokenFileError as error:
        raise _not_ours(path) from error
    if not all(
        tensor.is_floating_point() == own[name].is_floating_point() and torch.isfinite(tensor).all()
        for name, tensor in tensors.items()
    ):
        raise _does_not_fit(path)
    put_back(module, {**absent, **tensors})


def _does_not_fit(path: Path) -> WeightsError:
    return WeightsError(
        Text(
            "What {file} holds does not fit the model it names, or is not finite.",
            "{file} 中的内容与其所述模型不符，或含有非有限数值。",
        ).format(file=path.name)
    )
