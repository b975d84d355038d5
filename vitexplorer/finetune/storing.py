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
from typing import Any

import safetensors.torch
import torch
from torch import Tensor, nn

from vitexplorer.finetune.attaching import TunedModel, attach, trained
from vitexplorer.finetune.trained_parts import learned
from vitexplorer.models.about import about, metadata
from vitexplorer.models.checkpoints import WeightsError
from vitexplorer.models.input_size import at_size
from vitexplorer.models.loading import LoadedModel, Preprocessing, load_backbone
from vitexplorer.types import Provenance
from vitexplorer.words import Text


def save_tuned(tuned: TunedModel, path: str | os.PathLike, recipe: Mapping[str, Any] | None = None) -> None:
    """Write a tuned model to `path`; `recipe` is how it was trained, in anything that JSON can say.

    The file appears whole or not at all. Raises OSError where it cannot be written.
    """
    said = facts(tuned) | {"fingerprint": fingerprint(tuned.module), "recipe": dict(recipe or {})}
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in learned(tuned.module).items()}
    path = Path(path)
    unfinished = path.with_name(path.name + ".tmp")
    try:
        safetensors.torch.save_file(tensors, unfinished, metadata(said))
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


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
    said = _about(Path(path))
    if is_merged(path):
        raise _is_whole(Path(path), said)
    tensors = safetensors.torch.load_file(path)
    try:
        if base is None:
            base = _base(said["base"], Path(path), device)
        base = at_size(base, tuple(said["preprocessing"]["input_size"]))
        tuned = attach(
            base,
            str(said["method"]),
            int(said["num_classes"]) or None,
            class_names=tuple(map(str, said["class_names"])),
            seed=int(said["seed"]),
            **said["settings"],
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise _not_ours(Path(path)) from error
    _fill(tuned.module, tensors, Path(path))
    if tuned.class_names == base.class_names:
        tuned = replace(tuned, class_names_zh=base.class_names_zh)
    if fingerprint(tuned.module) != said.get("fingerprint"):
        raise WeightsError(
            Text(
                "{file} was trained on other weights of {model} than these ({weights}).",
                "{file} 是在 {model} 的另一组权重上训练的，与当前权重（{weights}）不同。",
            ).format(file=Path(path).name, model=base.name, weights=base.provenance.weights_text)
        )
    return trained(tuned)


def recipe_in(path: str | os.PathLike) -> dict[str, Any]:
    """How the model in a file was trained. Raises WeightsError where it is no file of `save_tuned`."""
    return dict(_about(Path(path)).get("recipe", {}))


def preprocessing_in(path: str | os.PathLike) -> Preprocessing:
    """What the model in a file wants of its images. Raises WeightsError where it is no file of `save_tuned`."""
    try:
        facts = _about(Path(path))["preprocessing"].items()
        return Preprocessing(**{name: tuple(value) if isinstance(value, list) else value for name, value in facts})
    except (KeyError, TypeError, AttributeError) as error:
        raise _not_ours(Path(path)) from error


def base_in(path: str | os.PathLike) -> Provenance:
    """The model that the one in a file was made from. Raises WeightsError where it is no file of `save_tuned`."""
    said = _about(Path(path))
    try:
        base = said["base"]
        return Provenance(str(base["model"]), base["weights"], str(base["weights_source"]))
    except (KeyError, TypeError) as error:
        raise _not_ours(Path(path)) from error


def is_merged(path: str | os.PathLike) -> bool:
    """Whether a file holds the whole model, as `merged_checkpoint` makes it; `load_model` reads those."""
    return bool((about(path) or {}).get("merged"))


def no_longer_there() -> WeightsError:
    """The error for a tuned model whose file was deleted."""
    return WeightsError(Text("This tuned model is no longer here.", "该微调模型已不存在。"))


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


def _about(path: Path) -> dict[str, Any]:
    """What the file says of itself; its tensors are not read. Raises WeightsError where it says nothing."""
    said = about(path)
    if said is None:
        raise _not_ours(path)
    return said


def _not_ours(path: Path) -> WeightsError:
    return WeightsError(
        Text(
            "{file} is not a tuned model of this program, or is damaged.",
            "{file} 不是本程序保存的微调模型，或文件已损坏。",
        ).format(file=path.name)
    )


def _is_whole(path: Path, said: Mapping[str, Any]) -> WeightsError:
    return WeightsError(
        Text(
            '{file} is the whole model. Load it with load_model("{model}", weights="{file}").',
            '{file} 是完整的模型。请用 load_model("{model}", weights="{file}") 加载。',
        ).format(file=path.name, model=said.get("base", {}).get("model", ""))
    )


def _base(said: Mapping[str, Any], path: Path, device: str | torch.device | None) -> LoadedModel:
    base = Provenance(str(said["model"]), said["weights"], str(said["weights_source"]))
    if base.weights == "random":
        return load_backbone(base.model, "random", seed=int(base.weights_source.removeprefix("seed ")), device=device)
    if base.weights in ("bundled", "pretrained"):
        return load_backbone(base.model, base.weights, device=device)
    raise WeightsError(
        Text(
            "{file} was trained on {model} with weights of a file of its own ({source}). Load that first and give it"
            " as base.",
            "{file} 是在 {model} 的自有权重文件（{source}）上训练的。请先加载该模型，再以 base 传入。",
        ).format(file=path.name, model=base.model, source=base.weights_source)
    )


@torch.no_grad()
def _fill(module: nn.Module, tensors: Mapping[str, Tensor], path: Path) -> None:
    """Everything fits, or nothing is written."""
    own = learned(module)
    fits = own.keys() == tensors.keys() and all(
        tensor.shape == own[name].shape and tensor.is_floating_point() == own[name].is_floating_point()
        for name, tensor in tensors.items()
    )
    if not fits or not all(torch.isfinite(tensor).all() for tensor in tensors.values()):
        raise WeightsError(
            Text(
                "What {file} holds does not fit the model it names, or is not finite.",
                "{file} 中的内容与其所述模型不符，或含有非有限数值。",
            ).format(file=path.name)
        )
    for name, tensor in tensors.items():
        own[name].copy_(tensor)
