"""Wrapping of a live module of any library, which runs as it is and is not translated into timm.

A few passes over noise find the blocks and the patch grid, and check what the caller states; what cannot be found must
be stated. Views and methods that need timm's names of parts (cost, filters of the patch embedding, positions,
fine-tuning) are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from vitexplorer.core.text import SettingError, Text, UnsupportedError
from vitexplorer.core.types import BlockSite, Provenance, Size
from vitexplorer.models.checkpoints.default_preprocessing import IMAGENET
from vitexplorer.models.checkpoints.hugging_face import class_names
from vitexplorer.models.families import families_of_class, family_of
from vitexplorer.models.input_size import by
from vitexplorer.models.loading import LoadedModel, Preprocessing, describe
from vitexplorer.models.seeding import seeded
from vitexplorer.models.wrapping.arguments import check_blocks, check_counts, colours_in, labels_in, module_in, size_in
from vitexplorer.models.wrapping.family import WrappedFamily
from vitexplorer.models.wrapping.flow import Flow
from vitexplorer.models.wrapping.module import ModuleFacts, WrappedModule
from vitexplorer.models.wrapping.probing import probe_module

Colours = Sequence[float] | np.ndarray | torch.Tensor
"""One number for each channel"""

_CHANNELS = 3
_TRAINING = Text(
    "{name} is in training mode, in which its answer may differ each time: call its eval() first.",
    "{name} 处于训练模式，每次输出可能不同：请先调用它的 eval()。",
)
_TYPE = Text(
    "{name} has parameters of {dtype}, and images are float32: call its float() first.",
    "{name} 的参数类型为 {dtype}，而图像是 float32：请先调用它的 float()。",
)
_NO_SIZE = Text(
    "Nothing in {name} says how large its images are: state image_size=, in pixels.",
    "{name} 中没有说明图像尺寸：请用 image_size= 指明（像素）。",
)
_NOT_RUN = Text(
    "{name} could not be run on images of {size} pixels ({why}). It must take (batch, 3, height, width) as its first "
    "argument and answer with a tensor, a tuple or an output with .logits; of a larger model wrap the vision part.",
    "{name} 无法在 {size} 像素的图像上运行（{why}）。它的第一个参数必须是一批图像（轴为批、3、高、宽），"
    "并返回张量、元组或带有 .logits 的输出；如果是更大的模型，请包装其视觉部分。",
)
_LABELS = Text(
    "{given:label was/labels were} given, but {name} has {classes:output}.",
    "给出了 {given} 个标签，而 {name} 有 {classes} 个输出。",
)
_WRAPPED = Text(
    "Wrapped as it is: {rows} × {cols} patches and prefix tokens {prefix} in number, found by running it; whether its "
    "weights were ever trained is not known here.",
    "直接包装的模块：前缀标记 {prefix} 个、图块 {rows} × {cols} 个，均由试运行得知；其权重是否经过训练在此不得而知。",
)
_GUESSED = Text(
    "The preprocessing of images was not stated; the mean and standard deviation of ImageNet are assumed.",
    "没有说明图像的预处理方式；此处采用 ImageNet 的均值与标准差。",
)


class WrappedModel(LoadedModel):
    """A `LoadedModel` whose module comes from another library."""

    @property
    def embeds_pixels(self) -> bool:
        """True if each token is computed from its own patch of pixels alone."""
        return self.module.facts.cuts_pixels


def wrap(
    module: nn.Module,
    *,
    name: str | None = None,
    image_size: int | Size | str | None = None,
    patch_size: int | None = None,
    num_prefix_tokens: int | None = None,
    blocks: str | Sequence[str] | None = None,
    mean: Colours | None = None,
    std: Colours | None = None,
    labels: Sequence[str] = (),
) -> LoadedModel:
    """Wrap a live vision transformer of any library as a model for `capture`; the module is not copied or changed.

    A timm module of a known family becomes the model that `load_model` would return, with all views, unless its patches
    or blocks are stated. Requirements for any other module:

    Its attention uses `F.scaled_dot_product_attention`, `nn.MultiheadAttention` or a softmax of queries times keys with
    the axes (batch, heads, queries, keys), among the same tokens in every block: prefix tokens first, then the patches
    row by row. A few passes over noise find whatever is not stated, and check whatever is. Views that need timm's names
    of parts are refused, and so are views of the read-out if the module pools in an unusual way.

    Args:
        module: in eval mode, with float32 parameters, on any device. A compiled, averaged or parallel module
            (DataParallel) is unwrapped first. It is called with images alone, float32 (batch, 3, height, width), and
            returns logits (batch, classes), or a tuple that begins with them or a dictionary with `logits`. Without a
            classifier it returns pooled features (batch, dim), or tokens (batch, tokens, dim), of which the first is
            used, or the mean if there is no prefix token.
        name: name in figures; the class name when None.
        image_size: pixels, of a square or (height, width); read from the module or its configuration when None.
        patch_size: side in pixels; that of the convolution that cuts the image when None.
        num_prefix_tokens: class token, distillation token and registers; all tokens that are not patches when None.
        blocks: the name of the module that holds the blocks, such as `encoder.layers`, or the names of the blocks; when
            None, the shortest prefixes of parameter names that distinguish the attention calls.
        mean: mean of red, green and blue in 0-1; ImageNet's when None, and figures say so.
        std: standard deviation of red, green and blue in 0-1; ImageNet's when None, and figures say so.
        labels: a name for each output; from a configuration of transformers when empty.

    Raises:
        SettingError: an argument does not agree with the module; the message names a value that would.
        UnsupportedError: the module cannot be run, has no such attention, or its tokens cannot be located.
    """
    module = module_in(module)
    name = name or type(module).__name__
    _check(module, name)
    mean = colours_in(mean, "mean")
    std = colours_in(std, "std", is_positive=True)
    labels = labels_in(labels)
    check_blocks(blocks)
    is_stated = (image_size, patch_size, num_prefix_tokens, blocks) != (None,) * 4
    if not is_stated and any(kind in families_of_class() for kind in type(module).__mro__):
        return _of_timm(module, name, mean, std, labels)
    size = _size(module, name, image_size)
    check_counts(size, patch_size, num_prefix_tokens)
    device = next(module.parameters()).device
    with seeded(0):
        images = torch.randn(1, _CHANNELS, *size).to(device)
    with _explained(name, size):
        probe = probe_module(module, name, images, patch_size, num_prefix_tokens, blocks)
        own = WrappedModule(module, probe.grid.num_prefix_tokens)
        flow = Flow(own, images, probe)
    grid = probe.grid
    prefix_tokens = prefix_names(grid.num_prefix_tokens, [parameter for parameter, _ in module.named_parameters()])
    ending = flow.ending(prefix_tokens)
    has_classes = flow.answer.ndim == 2 and bool(labels or flow.has_classifier)
    num_classes = flow.answer.shape[1] if has_classes else 0
    own.facts = ModuleFacts(
        sites=tuple(
            BlockSite(block, grid, stream=stream) for block, stream in zip(probe.blocks, flow.streams, strict=True)
        ),
        input_size=size,
        prefix_tokens=prefix_tokens,
        width=flow.width,
        num_classes=num_classes,
        cuts_pixels=probe.cuts_pixels,
        is_columnar=flow.is_columnar,
        gives_sums=flow.gives_sums,
        own_reading=ending.reading if ending else flow.own_reading(prefix_tokens),
        ending=ending,
    )
    note = _WRAPPED.format(prefix=grid.num_prefix_tokens, rows=grid.rows, cols=grid.cols)
    return WrappedModel(
        name=name,
        module=own.eval(),
        family=WrappedFamily(own.facts),
        provenance=Provenance(name, "file", type(module).__name__),
        preprocessing=Preprocessing(size, mean or IMAGENET["mean"], std or IMAGENET["std"], "bicubic", 1.0, "center"),
        class_names=_labels(module, name, labels, num_classes),
        notes=(note,) if mean and std else (note, _GUESSED),
    )


def _of_timm(
    module: nn.Module, name: str, mean: Colours | None, std: Colours | None, labels: tuple[str, ...]
) -> LoadedModel:
    device = next(module.parameters()).device
    model = describe(name, module, family_of(module, name), "file", type(module).__name__, device, ())
    default = model.preprocessing
    preprocessing = replace(default, mean=tuple(mean or default.mean), std=tuple(std or default.std))
    return replace(model, preprocessing=preprocessing, class_names=_labels(module, name, labels, model.num_classes))


def prefix_names(count: int, parameters: Sequence[str]) -> tuple[str, ...]:
    """Name `count` prefix tokens by the names of the parameters: class, distillation, registers."""
    tokens = [parameter.rpartition(".")[2].lower() for parameter in parameters]

    def has(*words: str) -> bool:
        return any(word in token for token in tokens for word in words)

    first = [] if has("reg_token", "register") and not has("cls", "class") else ["cls"]
    if has("distillation_token", "dist_token"):
        first.append("dist")
    first = first[:count]
    return (*first, *(f"reg{n}" for n in range(1, count - len(first) + 1)))


def _check(module: nn.Module, name: str) -> None:
    if module.training:
        raise SettingError(_TRAINING.format(name=name))
    other = next((p.dtype for p in module.parameters() if p.dtype != torch.float32), None)
    if other is not None:
        raise SettingError(_TYPE.format(name=name, dtype=str(other).removeprefix("torch.")))


def _size(module: nn.Module, name: str, stated: int | Size | str | None) -> Size:
    if stated is not None:
        return size_in(stated)
    for part in module.modules():
        for holder in (getattr(part, "config", None), part):
            for word in ("image_size", "img_size"):
                size = getattr(holder, word, None)
                if isinstance(size, int) or (isinstance(size, tuple | list) and len(size) == 2):
                    return size_in(size if isinstance(size, int) else tuple(size))
    raise SettingError(_NO_SIZE.format(name=name))


@contextmanager
def _explained(name: str, size: Size) -> Iterator[None]:
    """Refuse a module that fails on images: an unknown module may raise anything."""
    try:
        yield
    except (SettingError, UnsupportedError):
        raise
    except Exception as error:
        why = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        raise UnsupportedError(_NOT_RUN.format(name=name, size=by(size), why=why)) from error


def _labels(module: nn.Module, name: str, stated: tuple[str, ...], classes: int) -> tuple[str, ...]:
    if stated:
        if len(stated) != classes:
            raise SettingError(_LABELS.format(given=len(stated), name=name, classes=classes))
        return stated
    config: Any = getattr(module, "config", None)
    id2label = getattr(config, "id2label", None)
    names = class_names(id2label) if isinstance(id2label, Mapping) else ()
    return names if len(names) == classes else ()
