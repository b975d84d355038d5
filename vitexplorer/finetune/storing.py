"""`save_tuned` and `load_tuned`: a tuned model in one safetensors file, without the base model it was made from.

The file holds what was trained (the head included) and the statistics of batch norms that followed it. Its metadata,
one JSON text under `vitexplorer`, names the base model, the method, the classes, the preprocessing and the recipe.
Reading it runs no code. A fingerprint of everything that the file does not hold tells a wrong base model.
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
from vitexplorer.finetune.trained_parts import learned
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
    """Write a tuned model to `path`; `recipe` is how it was trained, in anything that JSON can say.

    The file appears whole or not at all. Raises DiskFullError, and OSError where it cannot be written.
    """
    said = facts(tuned) | {"fingerprint": fingerprint(tuned.module), "recipe": dict(recipe or {})}
    replace_file(Path(path), lambda beside: save_tensors(learned(tuned.module), beside, metadata(said)))


def load_tuned(
    path: str | os.PathLike, base: LoadedModel | None = None, device: str | torch.device | None = None
) -> TunedModel:
    """Read a tuned model from a file of `save_tuned`.

    Args:
        path: the file.
        base: the model it was made from; loaded by the name in the file when None.
        device: where to run; a GPU where there is one when None. Ignored where `base` is given.

    Raises:
        WeightsError: the file cannot be read, is none of these, or does not fit the base model.
        UnknownNameError, DownloadError: the base model is not known, or not to be had.
    """
    path = Path(path)
    said = _about(path)
    if said.merged:
        raise _is_whole(path, said)
    if base is None:
        base = _base(said.base, path, device)
    base = at_size(base, preprocessing_in(path).input_size)
    shapes = weightless(base)  # before a number is read, or memory taken for one
    settings = checked_settings(shapes, said.method, said.settings)
    settings |= {"class_names": said.class_names, "seed": said.seed}
    expected = attach(shapes, said.method, said.num_classes or None, **settings)
    is_earlier = _is_earlier(expected.module, METHODS[said.method].absent(expected.module), path)
    tuned = attach(base, said.method, said.num_classes or None, **settings)
    _fill(tuned.module, path, METHODS[said.method].absent(tuned.module) if is_earlier else {})
    if tuned.class_names == base.class_names:
        tuned = replace(tuned, class_names_zh=base.class_names_zh)
    if fingerprint(tuned.module) != said.fingerprint:
        raise WeightsError(
            Text(
                "{file} was trained on other weights of {model} than these ({weights}).",
                "{file} 是在 {model} 的另一组权重上训练的，与当前权重（{weights}）不同。",
            ).format(file=path.name, model=base.name, weights=base.provenance.weights_text)
        )
    return trained(tuned)


def objective_in(path: str | os.PathLike) -> Objective:
    """What the outputs of the model in a file mean. Raises WeightsError where it is no file of a training."""
    return _part(Objective, _about(Path(path)).recipe.get("objective"), Path(path))


def preprocessing_in(path: str | os.PathLike) -> Preprocessing:
    """What the model in a file wants of its images. Raises WeightsError where it is no file of `save_tuned`."""
    return _part(Preprocessing, _about(Path(path)).preprocessing, Path(path))


def base_in(path: str | os.PathLike) -> Provenance:
    """The model that the one in a file was made from. Raises WeightsError where it is no file of `save_tuned`."""
    return _about(Path(path)).base


def no_longer_there() -> WeightsError:
    """The error for a model whose file was deleted."""
    return WeightsError(
        Text(
            "This model is no longer here. If it came from a file, open the file again.",
            "该模型已不在此处。如果它来自文件，请重新打开该文件。",
        )
    )


# ---------------------------------------------------------------------------------------------- what is in it


def facts(tuned: TunedModel) -> dict[str, Any]:
    """What any file of a tuned model says of it."""
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
    """SHA-256 of the names and numbers of all that a file does not hold; the base model's share."""
    own = learned(module)
    digest = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        if name not in own:
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
            digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return digest.hexdigest()


# ---------------------------------------------------------------------------------------------- reading


def _about(path: Path) -> About:
    """What the file says of itself; its tensors are not read. Raises WeightsError where it says nothing."""
    said = about(path)
    if said is None:
        raise _not_ours(path)
    return said


def _part(kind: type[T], said: Any, path: Path) -> T:
    try:
        return checked(kind, said, path)
    except BrokenFileError as error:
        raise _not_ours(path) from error


def _not_ours(path: Path) -> WeightsError:
    return WeightsError(
        Text(
            "{file} is not a tuned model of this program, or is damaged.",
            "{file} 不是本程序保存的微调模型，或文件已损坏。",
        ).format(file=path.name)
    )


def _is_whole(path: Path, said: About) -> WeightsError:
    return WeightsError(
        Text(
            '{file} is the whole model. Load it with load_model("{model}", weights="{file}").',
            '{file} 是完整的模型。请用 load_model("{model}", weights="{file}") 加载。',
        ).format(file=path.name, model=said.base.model)
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
    """Whether the file is of a version that did not train what is `absent` of it.

    Raises WeightsError where it holds other tensors than the module learns, or learned then.
    """
    shapes, held = {name: tuple(tensor.shape) for name, tensor in learned(module).items()}, read_header(path).shapes
    if held == shapes:
        return False
    if held != {name: shape for name, shape in shapes.items() if name not in absent}:
        raise _does_not_fit(path)
    return True


@torch.no_grad()
def _fill(module: nn.Module, path: Path, absent: Mapping[str, Tensor]) -> None:
    """Everything fits, or nothing is written; `absent` is not in the file."""
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
    for name, tensor in {**absent, **tensors}.items():
        own[name].copy_(tensor)


def _does_not_fit(path: Path) -> WeightsError:
    return WeightsError(
        Text(
            "What {file} holds does not fit the model it names, or is not finite.",
            "{file} 中的内容与其所述模型不符，或含有非有限数值。",
        ).format(file=path.name)
    )
