"""`wrap`: a live module of any library, shown as it runs and not translated into timm.

What must be known of it is found by running it a few times on noise, and tried; what cannot be found is asked for.
What needs timm's names for parts (cost, filters of the patch embedding, positions, fine-tuning) is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from vitexplorer.core.text import SettingError, Text, UnsupportedError
from vitexplorer.core.types import BlockSite, Provenance, Size
from vitexplorer.models.checkpoints.default_preprocessing import IMAGENET
from vitexplorer.models.checkpoints.hugging_face import class_names
from vitexplorer.models.families import families_of_class, family_of
from vitexplorer.models.input_size import by
from vitexplorer.models.loading import LoadedModel, Preprocessing, describe
from vitexplorer.models.seeding import seeded
from vitexplorer.models.wrapping.family import WrappedFamily
from vitexplorer.models.wrapping.flow import Flow
from vitexplorer.models.wrapping.module import Found, WrappedModule
from vitexplorer.models.wrapping.places import Places, places
from vitexplorer.models.wrapping.stated import (
    check_blocks,
    check_counts,
    colours_in,
    labels_in,
    module_in,
    size_in,
)

_CHANNELS = 3
_TRAINING = Text(
    "{name} is in training mode, in which it may answer otherwise each time: call its eval() first.",
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
    "{given} labels were stated, and {name} has {classes} outputs.",
    "给出了 {given} 个标签，而 {name} 有 {classes} 个输出。",
)
_WRAPPED = Text(
    "Wrapped as it is: {rows} × {cols} patches and prefix tokens {prefix} in number, found by running it; whether its "
    "weights were ever trained is not known here.",
    "直接包装的模块：前缀标记 {prefix} 个、图块 {rows} × {cols} 个，均由试运行得知；其权重是否经过训练在此不得而知。",
)
_GUESSED = Text(
    "How images are prepared was not stated; mean and standard deviation of ImageNet are taken.",
    "没有说明图像的预处理方式；此处采用 ImageNet 的均值与标准差。",
)


class WrappedModel(LoadedModel):
    """A `LoadedModel` whose module is of another library."""

    @property
    def embeds_pixels(self) -> bool:
        """Whether a token is made of its own patch of pixels alone."""
        return self.module.found.cuts_pixels


def wrap(
    module: nn.Module,
    *,
    name: str | None = None,
    image_size: int | Size | str | None = None,
    patch_size: int | None = None,
    num_prefix_tokens: int | None = None,
    blocks: str | Sequence[str] | None = None,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
    labels: Sequence[str] = (),
) -> LoadedModel:
    """A live vision transformer of any library as a model to `capture`: nothing is translated, copied or changed.

    A module of timm's whose family is known is taken as `load_model` takes it, with all views, unless it is stated
    where its patches or blocks are. For any other this is needed:

    Its attention must go through `F.scaled_dot_product_attention`, `nn.MultiheadAttention` or a softmax of queries
    times keys with the axes (batch, heads, queries, keys), among the same tokens in every block: prefix tokens first,
    then the patches row by row. What is not stated is found by running the module a few times on noise, and what is
    stated is tried as well. Views that need timm's names of parts are refused; so are those that read tokens out, where
    the module does that in an unusual way.

    Args:
        module: in eval mode, parameters float32, wherever it lies; of a compiled or averaged one, or one on several
            devices (DataParallel), what it holds is taken. Called with images, float32 (batch, 3, height,
            width), alone; answers with a tensor (batch, classes), or a tuple or dictionary whose first or `logits` it
            is. Without a classifier: pooled features (batch, dim), or tokens (batch, tokens, dim), of which the first
            is taken, or the mean where there is no prefix token.
        name: in figures; the name of its class when None.
        image_size: pixels, of a square or (height, width); what the module or its configuration says when None.
        patch_size: side in pixels; that of the convolution that cuts the image when None.
        num_prefix_tokens: class token, distillation token and registers; what is left of the tokens when None.
        blocks: the name of what holds the blocks, `encoder.layers`, or their names; where the names of the parameters
            first differ from call to call when None.
        mean, std: of the images, of red, green and blue in 0-1; ImageNet's when None, and figures say so.
        labels: a name for each output; those of a configuration of transformers when empty.

    Raises:
        SettingError: what is stated does not agree with the module; the message says with what it would.
        UnsupportedError: it cannot be run, no such attention was seen, or its tokens could not be placed.
    """
    module = module_in(module)
    name = name or type(module).__name__
    _check(module, name)
    mean, std, labels = colours_in(mean, "mean"), colours_in(std, "std", is_positive=True), labels_in(labels)
    check_blocks(blocks)
    is_stated = (image_size, patch_size, num_prefix_tokens, blocks) != (None,) * 4
    if not is_stated and any(kind in families_of_class() for kind in type(module).__mro__):
        return _of_timm(module, name, mean, std, labels)
    size = _size(module, name, image_size)
    check_counts(size, patch_size, num_prefix_tokens)
    device = next(module.parameters()).device
    with seeded(0):
        images = torch.randn(1, _CHANNELS, *size).to(device)
    found_at, own, flow = _run(module, name, size, images, patch_size, num_prefix_tokens, blocks)
    grid = found_at.grid
    prefix_tokens = prefix_names(grid.num_prefix_tokens, [parameter for parameter, _ in module.named_parameters()])
    ending = flow.ending(prefix_tokens)
    has_classes = flow.answer.ndim == 2 and bool(labels or flow.has_classifier)
    num_classes = flow.answer.shape[1] if has_classes else 0
    own.found = Found(
        sites=tuple(
            BlockSite(block, grid, stream=stream) for block, stream in zip(found_at.blocks, flow.streams, strict=True)
        ),
        input_size=size,
        prefix_tokens=prefix_tokens,
        width=flow.width,
        num_classes=num_classes,
        cuts_pixels=found_at.cuts_pixels,
        is_columnar=flow.is_columnar,
        gives_sums=flow.gives_sums,
        own_reading=ending.reading if ending else flow.own_reading(prefix_tokens),
        ending=ending,
    )
    said = _WRAPPED.format(prefix=grid.num_prefix_tokens, rows=grid.rows, cols=grid.cols)
    return WrappedModel(
        name=name,
        module=own.eval(),
        family=WrappedFamily(own.found),
        provenance=Provenance(name, "file", type(module).__name__),
        preprocessing=Preprocessing(size, mean or IMAGENET["mean"], std or IMAGENET["std"], "bicubic", 1.0, "center"),
        class_names=_labels(module, name, labels, num_classes),
        notes=(said,) if mean and std else (said, _GUESSED),
    )


def _of_timm(
    module: nn.Module, name: str, mean: Sequence[float] | None, std: Sequence[float] | None, labels: tuple[str, ...]
) -> LoadedModel:
    device = next(module.parameters()).device
    known = describe(name, module, family_of(module, name), "file", type(module).__name__, device, ())
    usual = known.preprocessing
    prepared = replace(usual, mean=tuple(mean or usual.mean), std=tuple(std or usual.std))
    return replace(known, preprocessing=prepared, class_names=_labels(module, name, labels, known.num_classes))


def prefix_names(count: int, parameters: Sequence[str]) -> tuple[str, ...]:
    """Names of so many prefix tokens, by what the parameters are called: class, distillation, registers."""
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
                said = getattr(holder, word, None)
                if isinstance(said, int) or (isinstance(said, tuple | list) and len(said) == 2):
                    return size_in(said if isinstance(said, int) else tuple(said))
    raise SettingError(_NO_SIZE.format(name=name))


def _run(
    module: nn.Module,
    name: str,
    size: Size,
    images: Tensor,
    patch_size: int | None,
    num_prefix_tokens: int | None,
    blocks: str | Sequence[str] | None,
) -> tuple[Places, WrappedModule, Flow]:
    try:
        found = places(module, name, images, patch_size, num_prefix_tokens, blocks)
        own = WrappedModule(module, found.grid.num_prefix_tokens)
        return found, own, Flow(own, images, found)
    except (SettingError, UnsupportedError):
        raise
    except Exception as error:  # a module of anybody's meets what it does not take with whatever breaks first
        why = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        raise UnsupportedError(_NOT_RUN.format(name=name, size=by(size), why=why)) from error


def _labels(module: nn.Module, name: str, stated: tuple[str, ...], classes: int) -> tuple[str, ...]:
    if stated:
        if len(stated) != classes:
            raise SettingError(_LABELS.format(given=len(stated), name=name, classes=classes))
        return stated
    config: Any = getattr(module, "config", None)
    said = getattr(config, "id2label", None)
    names = class_names(said) if isinstance(said, Mapping) else ()
    return names if len(names) == classes else ()
