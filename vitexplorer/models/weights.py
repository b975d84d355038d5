"""Loading of a weight file into a model: either every tensor fits, or the model is unchanged and an error says why.

timm's `checkpoint_filter_fn` of the architecture translates the names, so that files of the original releases (DeiT,
DINO, DINOv2, Swin, MAE, CLIP, BEiT) load as well as timm's. Only position embeddings and relative position tables are
resized: timm's filter resamples them to the model's grid, and a note says so. `checkpoints` reads files, `hub`
downloads them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import timm
import torch
from torch import Tensor, nn

from vitexplorer.core.text import COMMA, Text
from vitexplorer.models.checkpoints import WeightsError, read_state_dict

_OTHER_NAMES = Text(
    "The names in {source} are not those of {model}: it was written for another architecture.",
    "{source} 中的名称与 {model} 不符：它属于另一种结构。",
)
_OTHER_PATCHES = Text(
    "{source} has patches of {rows} x {cols} pixels and {model} of {here[0]} x {here[1]}.",
    "{source} 的图块大小为 {rows} x {cols} 像素，而 {model} 为 {here[0]} x {here[1]}。",
)
_RESAMPLED = Text(
    "The file's position embeddings belong to another patch grid and were resampled to this one.",
    "文件中的位置编码对应另一种图块网格，已重采样到当前网格。",
)
_NO_HEAD = Text("The file's classifier was left out: the model has none.", "模型没有分类头，文件中的分类头已略去。")
_PRETRAINING = Text("Parts of the pretraining task were left out: {parts}.", "已略去只用于预训练任务的部分：{parts}。")
_BACKBONE = Text(
    "{source} has no classifier for {model}: it is a backbone. Create the model with num_classes=0.",
    "{source} 中没有 {model} 所需的分类头：它只是骨干网络。请用 num_classes=0 创建模型。",
)
_NO_FIT = Text(
    "{source} does not fit {model}: {faults}. Of two values, the file's comes first.",
    "{source} 与 {model} 不符：{faults}。并列的两个值中，前一个来自文件。",
)
_NOT_FINITE = Text(
    "{source} was refused: {count} of its entries hold NaN or infinite values ({some}).",
    "已拒绝 {source}：其中 {count} 项含有 NaN 或无穷大（{some}）。",
)

_CLASSIFIER = re.compile(r"(head|head_dist|fc)\.")
_PATCH_KERNEL = re.compile(r"(patch_embed\.proj|patch_embed\.projection|patchifier\.proj|^(visual\.)?conv1)\.weight")
_POSITION_TABLE = re.compile(r"(^|\.)(pos_embed|relative_position_bias_table)$")
# Parts of a pretraining task that a plain timm model does not have: MAE's decoder, mask tokens.
_PRETRAINING_ONLY = re.compile(r"(decoder_|mask_token$|lm_head\.)")
# SigLIP's pooling is such a part too, unless the file has a classifier trained on its output.
_POOLING = re.compile(r"attn_pool\.")


def load_weights(module: nn.Module, path: str | Path) -> tuple[Text, ...]:
    """Load the file at `path` into a timm module.

    The classifier is never left random: a file without a classifier (DINO, MAE) loads only into a module created with
    `num_classes=0`; `count_classes` tells in advance. A module without a classifier ignores the file's. Parts of a
    pretraining task (MAE's decoder, a mask token) are ignored as well. Values are converted to the module's type, so
    half precision becomes float32.

    Returns:
        Notes for the figures: tensors that were left out or resampled.

    Raises:
        WeightsError: the file cannot be read, or a tensor is missing, unexpected, of another shape or kind, or not
            finite. The module is unchanged.
    """
    return apply_state_dict(module, read_state_dict(path), Path(path).name)


def apply_state_dict(module: nn.Module, state_dict: Mapping[str, Tensor], source: str) -> tuple[Text, ...]:
    """Load tensors into a timm module as `load_weights` does; `source` names them in messages."""
    names = {"source": source, "model": _architecture(module) or type(module).__name__}
    _check_patch_size(module, state_dict, names)
    try:
        tensors = _timm_filter(module)(dict(state_dict), module)
    except Exception as error:  # a filter fails on another architecture's file in any way
        raise WeightsError(_OTHER_NAMES.format(**names)) from error
    notes = _resampling_note(tensors, state_dict)
    tensors, left_out = _without_extras(module, tensors)
    check_fit(module, tensors, names)
    module.load_state_dict(tensors)
    return notes + left_out


def _architecture(module: nn.Module) -> str | None:
    return (getattr(module, "pretrained_cfg", None) or {}).get("architecture")


def _timm_filter(module: nn.Module) -> Callable[[dict[str, Tensor], nn.Module], dict[str, Tensor]]:
    """Return the filter that timm runs on a checkpoint of this architecture.

    timm passes it to its builder in a closure. It is the `checkpoint_filter_fn` of the file that registers the
    architecture, with timm's arguments for DeiT and FlexiViT.
    """
    architecture = _architecture(module)
    if architecture is None or not timm.is_model(architecture):
        return lambda state_dict, module: state_dict
    home = sys.modules[timm.model_entrypoint(architecture).__module__]
    timm_filter = getattr(home, "checkpoint_filter_fn", lambda state_dict, module: state_dict)
    if home.__name__ == "timm.models.deit":
        return partial(timm_filter, adapt_layer_scale=True)
    if "flexi" in architecture:
        return partial(timm_filter, interpolation="bilinear", antialias=False)
    return timm_filter


def _check_patch_size(module: nn.Module, state_dict: Mapping[str, Tensor], names: dict[str, str]) -> None:
    """Refuse another patch size, whose patch embedding timm's filters would resample into a different model."""
    kernel = getattr(getattr(module, "patch_embed", None), "proj", None)
    if not isinstance(kernel, nn.Conv2d):
        return
    for name, tensor in state_dict.items():
        if _PATCH_KERNEL.search(name) and tensor.ndim == 4 and tensor.shape[-2:] != kernel.weight.shape[-2:]:
            here = tuple(kernel.weight.shape[-2:])
            raise WeightsError(_OTHER_PATCHES.format(**names, rows=tensor.shape[-2], cols=tensor.shape[-1], here=here))


def _resampling_note(tensors: Mapping[str, Tensor], state_dict: Mapping[str, Tensor]) -> tuple[Text, ...]:
    """Return a note if a position table was resampled, that is, if its values are not stored in the file's tensors."""
    spans = [(tensor.data_ptr(), tensor.data_ptr() + tensor.nbytes) for tensor in state_dict.values()]
    for name, tensor in tensors.items():
        in_file = any(start <= tensor.data_ptr() < end for start, end in spans)
        if _POSITION_TABLE.search(name) and not in_file:
            return (_RESAMPLED,)
    return ()


def _without_extras(module: nn.Module, tensors: dict[str, Tensor]) -> tuple[dict[str, Tensor], tuple[Text, ...]]:
    """Drop the classifier if the module has none, and the parts of a pretraining task; note both."""
    expected = module.state_dict().keys()
    spare = [name for name in tensors if name not in expected]
    headless = getattr(module, "num_classes", None) == 0
    classifier = [name for name in spare if headless and _CLASSIFIER.match(name)]
    pretraining = [name for name in spare if _PRETRAINING_ONLY.match(name) or (headless and _POOLING.match(name))]
    notes = []
    if classifier:
        notes.append(_NO_HEAD)
    if pretraining:
        parts = ", ".join(sorted({name.split(".")[0] for name in pretraining}))
        notes.append(_PRETRAINING.format(parts=parts))
    left_out = {*classifier, *pretraining}
    return {name: tensor for name, tensor in tensors.items() if name not in left_out}, tuple(notes)


def check_fit(module: nn.Module, tensors: Mapping[str, Tensor], names: dict[str, str]) -> None:
    """Check that tensors are exactly those of a module, and finite; `names` of "source" and "model" are for messages.

    Raises:
        WeightsError: a tensor is missing, unexpected, of another shape or kind, or not finite.
    """
    expected = module.state_dict()
    missing = [name for name in expected if name not in tensors]
    if missing and all(_CLASSIFIER.match(name) for name in missing):
        raise WeightsError(_BACKBONE.format(**names))
    faults = [text.format(count=len(some), some=_first_few(some)) for text, some in _faults(expected, tensors) if some]
    if faults:
        raise WeightsError(_NO_FIT.format(**names, faults=COMMA.join(faults)))
    broken = [name for name, tensor in tensors.items() if not torch.isfinite(tensor.float()).all()]
    if broken:
        raise WeightsError(_NOT_FINITE.format(**names, count=len(broken), some=_first_few(broken)))


def _faults(expected: Mapping[str, Tensor], tensors: Mapping[str, Tensor]) -> Iterator[tuple[Text, list[str]]]:
    """Yield each kind of misfit with its entries."""
    pairs = {name: (tensor, expected[name]) for name, tensor in tensors.items() if name in expected}
    yield Text("{count} missing ({some})", "缺少 {count} 项（{some}）"), [n for n in expected if n not in tensors]
    yield Text("{count} unexpected ({some})", "多出 {count} 项（{some}）"), [n for n in tensors if n not in expected]
    yield (
        Text("{count} of another shape ({some})", "{count} 项形状不同（{some}）"),
        [f"{name}: {_shape(own)} / {_shape(ours)}" for name, (own, ours) in pairs.items() if own.shape != ours.shape],
    )
    yield (
        Text("{count} of another kind of number ({some})", "{count} 项数值类型不同（{some}）"),
        [
            f"{name}: {own.dtype} / {ours.dtype}"
            for name, (own, ours) in pairs.items()
            if ours.is_floating_point() and not own.is_floating_point()
        ],
    )


def _first_few(names: list[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def _shape(tensor: Tensor) -> str:
    return " x ".join(map(str, tensor.shape)) or "scalar"
