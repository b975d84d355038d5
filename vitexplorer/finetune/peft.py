"""Export and import of LoRA in the file format of Hugging Face's peft, which has one low-rank change per layer.

The change of queries and values in a fused projection is written as one change of twice the rank: A' = [A_q; A_v] and
B' = [[B_q, 0], [0, 0], [0, B_v]], r' = 2r, alpha' = 2 alpha, so that alpha' / r' = alpha / r. Import takes files of
any rank that leave the keys unchanged. The files are `adapter_model.safetensors` and `adapter_config.json`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor, nn

from vitexplorer.core.text import Text, UnsupportedError
from vitexplorer.finetune.attaching import TunedModel, attach, trained
from vitexplorer.finetune.methods import METHODS
from vitexplorer.finetune.parts.low_rank import LowRank, query_value_spans
from vitexplorer.finetune.trained_parts import below_prefix
from vitexplorer.models.checkpoints import WeightsError, check_classes
from vitexplorer.models.loading import LoadedModel
from vitexplorer.models.outline import classifiers, outline
from vitexplorer.storage.checked_reading import BrokenFileError, parsed, read_tensors

WEIGHTS, CONFIG = "adapter_model.safetensors", "adapter_config.json"
_METHOD = "lora"
"""Method that a file is imported as"""
_PREFIX = "base_model.model."
_PLAIN: dict[str, Any] = {
    "use_dora": False,
    "use_rslora": False,
    "rank_pattern": {},
    "alpha_pattern": {},
    "bias": "none",
    "fan_in_fan_out": False,
    "lora_bias": False,
}
"""Settings of peft for which the change is (alpha / r) B A and nothing else"""
_LEAVE_THE_BASE = (None, True, False, "gaussian", "orthogonal")
"""Accepted initialisations of A and B; peft's others (PiSSA, OLoRA, ...) also change the base's weights"""
_TAILS = (".lora_A.weight", ".lora_B.weight")


# ---------------------------------------------------------------------------------------------- out


def export_peft(tuned: TunedModel, folder: str | os.PathLike) -> None:
    """Write a LoRA in peft's format.

    `PeftModel.from_pretrained(module, folder)` gives the same logits, where `module` is timm's with the same number
    of classes and the base's weights.

    Raises UnsupportedError for another method, and for models whose attention peft cannot change: BEiT, EVA and
    Swin V2 read the weight of their projection without calling it.
    """
    layers = _exported(tuned)
    tensors: dict[str, Tensor] = {}
    for name, part in layers.items():
        tensors[f"{_PREFIX}{name}.lora_A.weight"] = part.down
        tensors[f"{_PREFIX}{name}.lora_B.weight"] = part.joined() / part.scale
    heads = classifiers(tuned.module) if tuned.num_classes else ()
    for head in heads:
        for own, tensor in tuned.module.get_submodule(head).state_dict().items():
            tensors[f"{_PREFIX}{head}.{own}"] = tensor
    first = next(iter(layers.values()))
    rank = len(first.down)
    config = {
        "peft_type": "LORA",
        "r": rank,
        "lora_alpha": _whole(rank * first.scale),
        "target_modules": sorted({name.rpartition(".")[2] for name in layers}),
        "modules_to_save": list(heads),
    }
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    saved = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    safetensors.torch.save_file(saved, folder / WEIGHTS, {"format": "pt"})
    (folder / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _whole(number: float) -> float | int:
    return round(number) if abs(number - round(number)) < 1e-9 else number


def _exported(tuned: TunedModel) -> Mapping[str, LowRank]:
    """Return the low-rank changes by layer. Raises UnsupportedError if peft's format cannot express all changes."""
    exports = METHODS[tuned.method].exports
    if exports is None:
        known = ", ".join(key for key, method in METHODS.items() if method.exports)
        raise UnsupportedError(
            Text(
                "peft has no {method} for models of timm: only {known} can be exported. save_tuned saves every method.",
                "peft 不支持 timm 模型的 {method}：只能导出 {known}。save_tuned 可保存所有方法。",
            ).format(method=tuned.method, known=known)
        )
    attentions = [getattr(tuned.module.get_submodule(name), "attn", None) for name in outline(tuned.module).blocks]
    if any(getattr(attention, "q_bias", None) is not None for attention in attentions):
        raise UnsupportedError(
            Text(
                "{model} reads the weight of its projection without calling it, so peft's LoRA has no effect there."
                " Merge the model, or save it with save_tuned.",
                "{model} 直接读取投影权重而不调用该层，peft 的 LoRA 在此不起作用。请合并模型，或用 save_tuned 保存。",
            ).format(model=tuned.name)
        )
    return exports(tuned.module)


# ---------------------------------------------------------------------------------------------- in


def import_peft(model: LoadedModel, folder: str | os.PathLike) -> TunedModel:
    """Return a copy of `model` with the LoRA that peft saved in `folder`, and its classifier if one was saved.

    Raises:
        WeightsError: the folder holds no readable peft LoRA.
        UnsupportedError: the LoRA changes more than queries and values, or is not a plain one (DoRA, PiSSA, different
            ranks, trained biases, other saved layers).
    """
    folder = Path(folder)
    config, tensors = _read(folder)
    if config.get("peft_type") != "LORA" or any(config.get(key, plain) != plain for key, plain in _PLAIN.items()):
        raise _not_plain(folder)
    if config.get("init_lora_weights") not in _LEAVE_THE_BASE:
        raise _not_plain(folder)
    try:
        scale = float(config["lora_alpha"]) / int(config["r"])
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        raise _not_plain(folder) from None
    heads = {head: below_prefix(tensors, f"{_PREFIX}{head}.") for head in classifiers(model.module)}
    ours = (*_TAILS, *(f"{_PREFIX}{head}.{own}" for head, saved in heads.items() for own in saved))
    if not all(name.endswith(ours) for name in tensors):
        raise _not_plain(folder)
    num_classes = next((len(own["weight"]) for own in heads.values() if "weight" in own and own["weight"].ndim), None)
    check_classes(num_classes or 0, tensors, folder / WEIGHTS)
    changes = _changes(tensors)
    spans = query_value_spans(model.module)
    matrices = all(part.ndim == 2 for pair in changes.values() for part in pair)
    if not changes or not matrices or not changes.keys() <= spans.keys():
        raise _not_plain(folder)
    rank = max(len(down) // len(_columns(up, spans[name])) for name, (down, up) in changes.items())
    tuned = attach(model, _METHOD, num_classes, r=rank, alpha=scale * rank)
    layers = METHODS[_METHOD].exports(tuned.module)
    with torch.no_grad():
        for name, (down, up) in changes.items():
            _fill(layers[name], down, up, folder)
        for head, own in heads.items():
            if own:
                _fill_head(tuned.module.get_submodule(head), own, folder)
    return trained(tuned)


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    try:
        config = parsed(dict, (folder / CONFIG).read_bytes(), folder / CONFIG)
        return config, read_tensors(folder / WEIGHTS)[0]
    except (OSError, BrokenFileError) as error:
        raise WeightsError(
            Text(
                "{folder} holds no LoRA of peft: {weights} and {config} are needed.",
                "{folder} 中没有 peft 的 LoRA：需要 {weights} 和 {config}。",
            ).format(folder=folder.name, weights=WEIGHTS, config=CONFIG)
        ) from error


def _changes(tensors: Mapping[str, Tensor]) -> dict[str, tuple[Tensor, Tensor]]:
    """Return A and B of each changed layer by name; empty if an A or a B is missing."""
    names, others = ({name.removesuffix(tail) for name in tensors if name.endswith(tail)} for tail in _TAILS)
    if names != others:
        return {}
    return {name.removeprefix(_PREFIX): tuple(tensors[name + tail] for tail in _TAILS) for name in names}


Spans = tuple[tuple[int, int], ...]


def _columns(up: Tensor, spans: Spans) -> list[slice]:
    """Return each span's own columns of B'; all columns for every span if they are shared, as peft trains them."""
    width = up.shape[1] // len(spans)
    own = [slice(i * width, (i + 1) * width) for i in range(len(spans))]
    foreign = [up[start:stop, other] for i, (start, stop) in enumerate(spans) for other in (*own[:i], *own[i + 1 :])]
    apart = up.shape[1] % len(spans) == 0 and not any(part.any() for part in foreign)
    return own if apart else [slice(None)]


def _fill(part: LowRank, down: Tensor, up: Tensor, folder: Path) -> None:
    """Copy A' and B' of a whole layer into the spans of `part`, padded with zeros to its rank."""
    outside = torch.ones(part.out, dtype=torch.bool)
    for start, stop in part.spans:
        outside[start:stop] = False
    fits = up.shape == (part.out, len(down)) and down.shape[1] == part.down.shape[1]
    if not fits or up[outside].any() or not (down.isfinite().all() and up.isfinite().all()):
        raise _not_plain(folder)
    columns = _columns(up, part.spans)
    part.down.zero_()
    for i, ((start, stop), own) in enumerate(zip(part.spans, part.up, strict=True)):
        own_columns = columns[i % len(columns)]
        rank = len(down[own_columns])
        part.down[i * part.r : i * part.r + rank] = down[own_columns]
        own[:, :rank] = up[start:stop, own_columns]


def _fill_head(head: nn.Module, tensors: Mapping[str, Tensor], folder: Path) -> None:
    own = head.state_dict()
    if {name: tensor.shape for name, tensor in own.items()} != {name: tensor.shape for name, tensor in tensors.items()}:
        raise _not_plain(folder)
    head.load_state_dict(tensors)


def _not_plain(folder: Path) -> UnsupportedError:
    return UnsupportedError(
        Text(
            "The LoRA in {folder} does not change exactly the queries and values of this model.",
            "{folder} 中的 LoRA 所修改的并不恰好是该模型的查询与值。",
        ).format(folder=folder.name)
    )
